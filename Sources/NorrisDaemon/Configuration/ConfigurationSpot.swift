import Yams

/// A value in the file, and where it stands.
struct ConfigurationSpot {
    var node: Node
    /// Counted from 1.
    var line: Int
    /// The dotted path, such as `facts.queries[1]`; empty for the whole file.
    var path: String

    /// - Parameter line: where the key or the list stands. An alias has the line of its anchor, which is further up in
    ///   the file, and an empty value that of what comes next: for both the key's own line is the one to look at.
    init(_ node: Node, line: Int, path: String) {
        self.node = node
        self.path = path
        self.line = line
        if let mark = node.mark, !isEmpty { self.line = max(line, mark.line) }
    }

    /// Whether nothing at all stands behind the key.
    var isEmpty: Bool {
        scalar.map { $0.isPlain && $0.text.isEmpty } ?? false
    }

    /// Whether it is `null`, `~` or empty.
    var isNull: Bool {
        scalar?.plainKind == .null
    }

    /// Nil for a list or a mapping.
    var scalar: ConfigurationScalar? {
        guard case .scalar(let scalar) = node else { return nil }
        // A quoted scalar has the tag of a string, and so has a plain one behind `!!str`.
        return ConfigurationScalar(text: scalar.string, isPlain: scalar.style == .plain && scalar.tag.rawValue.isEmpty)
    }

    /// The dotted path of a key in this mapping, safe to print whatever the key is.
    func path(ofKey name: String) -> String {
        let isHarmless = name.utf8.count <= 60 && !name.isEmpty && name.unicodeScalars.allSatisfy(YAMLText.isVisible)
        let shown = isHarmless ? name : ConfigurationScalar(text: name, isPlain: false).found
        return path.isEmpty ? shown : path + "." + shown
    }

    /// The value as a message names it.
    var found: String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        case .scalar: scalar?.found ?? ""
        }
    }

    /// A tag that means more than the core schema's types, such as `!!binary`; nil if there is none.
    var foreignTag: String? {
        let core = "tag:yaml.org,2002:"
        let tag =
            switch node {
            case .scalar(let scalar): scalar.tag.rawValue
            case .mapping(let mapping): mapping.tag.rawValue
            case .sequence(let sequence): sequence.tag.rawValue
            case .alias: ""
            }
        if tag.isEmpty || tag == "!" { return nil }
        guard tag.hasPrefix(core) else { return tag }
        let name = String(tag.dropFirst(core.count))
        return ["str", "bool", "int", "null", "seq", "map"].contains(name) ? nil : "!!" + name
    }
}

/// The text of a scalar, and whether it stands there without quotes or a tag.
struct ConfigurationScalar {
    var text: String
    var isPlain: Bool

    /// Nil if the scalar is quoted, which makes it a string whatever its text.
    var plainKind: PlainScalarKind? {
        isPlain ? PlainScalarKind(text) : nil
    }

    /// As a message names it: cut at 60 characters, and safe to print.
    var found: String {
        var shown = String(text.prefix(60))
        if shown.utf8.count < text.utf8.count { shown += "…" }
        switch plainKind {
        case .null where text.isEmpty: return "nothing"
        case .null, .boolean, .number: return shown
        case .text, nil: return YAMLText.quoted(shown)
        }
    }
}
