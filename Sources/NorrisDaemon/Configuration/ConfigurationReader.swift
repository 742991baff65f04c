/// A value in the file, and its position.
struct ConfigurationNode {
    let value: YAMLNode
    /// The dotted path, such as `facts.queries[1]`; empty for the whole file.
    let path: String
    /// Where it begins; for an alias and all below it, where the alias is.
    let mark: YAMLNode.Mark
    /// Where its key begins; the same as `mark` where it has none.
    let keyMark: YAMLNode.Mark

    /// The whole file.
    init(_ root: YAMLNode) {
        (value, path, mark, keyMark) = (root, "", root.mark, root.mark)
    }

    /// A value in another node.
    private init(_ value: YAMLNode, path: String, key: YAMLNode.Mark, in parent: ConfigurationNode) {
        (self.value, self.path) = (value, path)
        // The target of an alias is further up, and libyaml gives an empty value the position of what follows.
        keyMark = max(parent.mark, key)
        mark = value.isEmpty ? keyMark : max(keyMark, value.mark)
    }

    func item(_ index: Int, _ value: YAMLNode) -> ConfigurationNode {
        ConfigurationNode(value, path: "\(path)[\(index)]", key: value.mark, in: self)
    }

    /// The value of a key in this mapping. Its path is safe to print whatever the key is.
    func entry(_ name: String, _ value: YAMLNode, key: YAMLNode.Mark) -> ConfigurationNode {
        let isHarmless = name.utf8.count <= 60 && !name.isEmpty && name.unicodeScalars.allSatisfy(YAMLText.isVisible)
        let shown = isHarmless ? name : YAMLScalar(text: name, isPlain: false).found
        return ConfigurationNode(value, path: path.isEmpty ? shown : "\(path).\(shown)", key: key, in: self)
    }

    var scalar: YAMLScalar? { value.scalar }

    /// Whether it is `null`, `~` or empty.
    var isNull: Bool { scalar?.kind == .null }

    /// The value as a message names it.
    var found: String {
        switch value.content {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar): scalar.found
        case .broken: "an alias"
        }
    }

    /// A tag that means more than the core schema's types, such as `!!binary`; nil if there is none.
    var foreignTag: String? {
        let core = "tag:yaml.org,2002:"
        guard let tag = value.tag, tag != "!" else { return nil }
        guard tag.hasPrefix(core) else { return tag }
        let name = String(tag.dropFirst(core.count))
        return ["str", "bool", "int", "null", "seq", "map"].contains(name) ? nil : "!!" + name
    }
}

/// Reads the nodes of a file by the keys of the schema, and collects everything that is wrong with it.
struct ConfigurationReader {
    /// What the texts of a file are relative to, and whether what they name is looked for.
    struct Context: Sendable {
        /// The configuration file's folder, absolute.
        var folder: String
        /// For `~/`; nil if it is unknown.
        var home: String?
        /// Whether groups and files that this machine does not have are warnings.
        var checksSystem: Bool
    }

    /// As the messages name it.
    let file: String
    let context: Context
    private var found: [(mark: YAMLNode.Mark, isWarning: Bool, fault: ConfigurationFault)] = []

    init(file: String, context: Context) {
        self.file = file
        self.context = context
    }

    /// In the order of the file.
    var faults: [ConfigurationFault] { inOrder(warnings: false) }
    var warnings: [ConfigurationFault] { inOrder(warnings: true) }
    var faultCount: Int { found.count { !$0.isWarning } }

    private func inOrder(warnings: Bool) -> [ConfigurationFault] {
        // The sort is stable.
        found.filter { $0.isWarning == warnings }.sorted { $0.mark < $1.mark }.map(\.fault)
    }

    /// Reads the keys that a mapping has, in the schema's order, and refuses those that it should not have.
    mutating func read<Root>(_ keys: [ConfigurationKey<Root>], in node: ConfigurationNode, into root: inout Root) {
        let names = keys.map(\.name)
        let expected = "a mapping with the keys " + names.joined(separator: ", ")
        guard let entries = entries(of: node, expected: expected) else { return }
        for key in keys {
            for (name, entry) in entries where name == key.name {
                if entry.isNull, !key.acceptsNull {
                    let advice = key.isRequired ? "" : ", or remove the line for the default"
                    refuse(entry, "has no value; write \(key.accepts)\(advice)")
                } else {
                    key.read(entry, &root, &self)
                }
            }
        }
        for (name, entry) in entries where !names.contains(name) {
            if name == "<<" {
                refuseKey(entry, "merge keys are not supported; write the keys out")
            } else {
                let advice = ConfigurationSchema.advice(for: name, in: node.path, among: names)
                refuseKey(entry, "unknown key; " + advice)
            }
        }
    }

    /// Reads a value of a kind; nil, and a fault, if it is none.
    mutating func read<Value>(_ kind: ConfigurationKind<Value>, _ node: ConfigurationNode) -> Value? {
        do throws(ConfigurationRefusal) {
            guard let scalar = node.scalar else { throw .mismatch() }
            let value = try kind.read(scalar, context)
            if let warning = kind.warn(value, context) { report(warning, at: node.mark, node, isWarning: true) }
            return value
        } catch {
            switch error {
            case .mismatch(let hint): refuse(node, expected: kind.expectation, hint: hint)
            case .sentence(let sentence): refuse(node, sentence)
            }
            return nil
        }
    }

    /// The keys and values of a mapping; nil, and a fault, if it is something else.
    ///
    /// An empty value counts as an empty mapping: that is what is left of a section whose lines are all comments.
    mutating func entries(of node: ConfigurationNode, expected: String) -> [(name: String, node: ConfigurationNode)]? {
        if node.value.isEmpty { return [] }
        guard case .mapping(let pairs) = node.value.content else {
            // A text is not quoted: where a space after a colon is missing, it may be a proxy with its password.
            if let text = node.scalar?.text, !node.isNull {
                let hint = text.contains(":") ? "put a space after the colon" : "put the keys below it, indented"
                refuse(node, "expected \(expected), found a text; \(hint)")
            } else {
                refuse(node, expected: expected)
            }
            return nil
        }
        var entries: [(name: String, node: ConfigurationNode)] = []
        var lines: [String: Int] = [:]
        for (key, value) in pairs {
            guard let name = key.scalar?.text else {
                var sentence = "has a list or a mapping for a key; write KEY: VALUE"
                if case .broken(let reason) = key.content { sentence = reason }
                report(sentence, at: max(node.mark, key.mark), node)
                continue
            }
            let entry = node.entry(name, value, key: key.mark)
            if let line = lines[name] {
                refuseKey(entry, "stands in line \(line) already, in the same mapping; keep one of the two")
            } else {
                lines[name] = entry.keyMark.line
            }
            if isReadable(entry) { entries.append((name, entry)) }
        }
        return entries
    }

    /// False, and a fault, for an alias without a target and for a tag that has no meaning here.
    mutating func isReadable(_ node: ConfigurationNode) -> Bool {
        if case .broken(let sentence) = node.value.content {
            refuse(node, sentence)
        } else if let tag = node.foreignTag {
            refuse(node, "has the tag \(YAMLText.quoted(tag)), which means nothing here; remove it")
        } else {
            return true
        }
        return false
    }

    mutating func refuse(_ node: ConfigurationNode, expected: String, hint: String? = nil) {
        refuse(node, "expected \(expected), found \(node.found)" + (hint.map { "; \($0)" } ?? ""))
    }

    /// Refuses a value.
    mutating func refuse(_ node: ConfigurationNode, _ sentence: String) { report(sentence, at: node.mark, node) }

    /// Refuses a value for its key.
    mutating func refuseKey(_ node: ConfigurationNode, _ sentence: String) { report(sentence, at: node.keyMark, node) }

    mutating func refuse(_ problem: YAMLProblem) { report(problem.message, at: problem.mark, nil) }

    private mutating func report(
        _ sentence: String, at mark: YAMLNode.Mark, _ node: ConfigurationNode?, isWarning: Bool = false
    ) {
        let key = node.flatMap { $0.path.isEmpty ? nil : $0.path }
        let fault = ConfigurationFault(file: file, line: mark.line, key: key, message: sentence)
        found.append((mark, isWarning, fault))
    }
}
