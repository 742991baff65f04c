import Glibc
import NorrisProtocol

/// Reads the nodes of a file by the keys of the schema, and collects all faults.
struct ConfigurationReader {
    /// The folder of relative paths, and whether named groups and files are looked up.
    struct Context: Sendable {
        /// The absolute folder of the configuration file.
        var folder: String
        /// The home directory, for `~/`; nil if unknown.
        var home: String?
        /// Whether a missing group or file is a warning.
        var checksSystem: Bool
        /// Whether the URL of a source may have a user and a password, which every reader of a configuration sees.
        var allowsUser = false

        /// The warning about a file that the system's unit hides (ProtectHome=, systemd.exec(5)); nil for other files.
        func warning(ofHidden path: String) -> String? {
            let isHidden = ["/home/", "/root/", "/run/user/"].contains { "\(path)/".hasPrefix($0) }
            guard folder == "/etc/norrisd", isHidden else { return nil }
            return "the system's norrisd cannot see \(YAMLText.scalar(path)) (ProtectHome=); keep it elsewhere"
        }
    }

    /// The name of the file in messages.
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

    /// Reads the keys of a mapping in the schema's order, and refuses unknown keys.
    mutating func read<Root>(_ keys: [ConfigurationKey<Root>], in node: YAMLNode, into root: inout Root) {
        let names = keys.map(\.name)
        let expected = "a mapping with the keys " + names.joined(separator: ", ")
        guard let entries = entries(of: node, expected: expected) else { return }
        for key in keys {
            for (name, entry) in entries where name == key.name {
                guard entry.isNull else {
                    key.read(entry, &root, &self)
                    continue
                }
                if !key.acceptsNull {
                    let advice = key.isRequired ? "" : ", or remove the line for the default"
                    refuse(entry, "has no value; write \(key.accepts)\(advice)")
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

    /// Reads a value of a kind. Returns nil and adds a fault if the node has no such value.
    mutating func read<Value>(_ kind: ConfigurationKind<Value>, _ node: YAMLNode) -> Value? {
        guard case .text(let text) = node.content else {
            refuse(node, expected: kind.expectation)
            return nil
        }
        do throws(ConfigurationRefusal) {
            let value = try kind.value(of: text, context)
            if let warning = kind.warn(value, context) { report(warning, at: node.mark, node, isWarning: true) }
            return value
        } catch {
            refuse(node, error.sentence)
            return nil
        }
    }

    /// The keys and values of a mapping. Returns nil and adds a fault for any other node.
    ///
    /// `null` counts as an empty mapping, because a section whose lines are all comments has no value.
    mutating func entries(of node: YAMLNode, expected: String) -> [(name: String, node: YAMLNode)]? {
        if node.isNull { return [] }
        guard case .mapping(let pairs) = node.content else {
            if case .text = node.content {
                // Not quoted, because without the space after a colon the text may be a proxy with a password.
                refuse(node, "expected \(expected), found a text; write KEY: VALUE with a space after the colon")
            } else {
                refuse(node, expected: expected)
            }
            return nil
        }
        var entries: [(name: String, node: YAMLNode)] = []
        var lines: [String: Int] = [:]
        for (name, entry) in pairs {
            guard let name else {
                var sentence = "has no text for a key; write KEY: VALUE"
                if case .refused(let reason) = entry.content { sentence = reason }
                refuseKey(entry, sentence)
                continue
            }
            if let line = lines[name] {
                refuseKey(entry, "is already set in line \(line); keep one of the two")
            } else {
                lines[name] = entry.keyMark.line
            }
            entries.append((name, entry))
        }
        return entries
    }

    /// Adds a fault about a value of another type, or about one that no key accepts.
    mutating func refuse(_ node: YAMLNode, expected: String) {
        var found = "nothing"
        switch node.content {
        case .null: break
        case .text(let text): found = YAMLText.excerpt(text)
        case .sequence: found = "a list"
        case .mapping: found = "a mapping"
        case .refused(let sentence): return refuse(node, sentence)
        }
        refuse(node, "expected \(expected), found \(found)")
    }

    /// Adds a fault about a value.
    mutating func refuse(_ node: YAMLNode, _ sentence: String) { report(sentence, at: node.mark, node) }

    /// Adds a fault about the key of a value.
    mutating func refuseKey(_ node: YAMLNode, _ sentence: String) { report(sentence, at: node.keyMark, node) }

    mutating func refuse(_ problem: YAMLProblem) { report(problem.message, at: problem.mark, nil) }

    private mutating func report(
        _ sentence: String, at mark: YAMLNode.Mark, _ node: YAMLNode?, isWarning: Bool = false
    ) {
        let key = node.flatMap { $0.path.isEmpty ? nil : $0.path }
        let fault = ConfigurationFault(file: file, line: mark.line, key: key, message: sentence)
        found.append((mark, isWarning, fault))
    }
}

extension ConfigurationReader {
    /// Reads one entry of `posts.sources`. A result with a fault is not used.
    mutating func readSource(
        _ name: String, _ node: YAMLNode, inheriting posts: Configuration.Posts
    ) -> Configuration.PostSource {
        if let refusal = SourceName.refusal(of: name) { refuseKey(node, refusal) }
        let faultsBefore = faultCount
        var source = Configuration.PostSource(
            name: name, kind: .feed, url: "", refresh: posts.refresh, keep: posts.keep
        )
        read(ConfigurationSchema.sourceKeys, in: node, into: &source)
        // After another fault in the source, a missing value is probably the value already reported.
        var given: [String] = []
        if case .mapping(let entries) = node.content { given = entries.compactMap(\.name) }
        guard faultCount == faultsBefore else { return source }
        let isProgram = source.kind == .exec
        if !given.contains("kind") || (isProgram ? source.command.isEmpty : source.url.isEmpty) {
            let missing = !given.contains("kind") ? "kind" : isProgram ? "command" : "url"
            refuseKey(node, "has no \(missing); every source needs kind and url, or kind: exec and command")
        } else if !source.command.isEmpty, !source.url.isEmpty || !isProgram {
            refuseKey(node, "has a command; only kind: exec has one, and no url")
        } else if isProgram, source.command.first?.hasPrefix("/") != true {
            refuseKey(node, "has no absolute path of a program; write command: [/path, ARGUMENT]")
        } else if context.checksSystem, let program = source.command.first,
            access(program, X_OK) != 0 || access(program + "/.", F_OK) == 0
        {
            let advice = "is no program that may be executed here; install it, or correct its path"
            report("\(YAMLText.scalar(program)) \(advice)", at: node.mark, node, isWarning: true)
        } else if context.checksSystem, let warning = source.command.first.flatMap(context.warning) {
            report(warning, at: node.mark, node, isWarning: true)
        }
        return source
    }
}

extension SourceName {
    /// The reason why a text cannot be the name of a source of posts; nil if it can.
    static func refusal(of text: String) -> String? {
        if SourceStatus.builtInNames.contains(text) {
            return "is the name of a built-in source; choose another name"
        }
        return isValid(text) ? nil : "is not a valid source name; use \(rule)"
    }
}
