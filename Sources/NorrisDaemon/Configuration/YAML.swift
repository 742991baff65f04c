import CYAML

/// A value of a YAML text. In place of an alias stands its target, with the position and path of the alias.
struct YAMLNode: Sendable {
    /// A position in the text, counted from 1.
    struct Mark: Sendable, Comparable {
        var line = 1
        var column = 1

        static func < (first: Self, second: Self) -> Bool {
            (first.line, first.column) < (second.line, second.column)
        }
    }

    enum Content: Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        /// A key that is no scalar has no name, and itself for a value.
        case mapping([(name: String?, value: YAMLNode)])
        /// An alias without a target, and why.
        case broken(String)
    }

    var content: Content
    /// As libyaml resolves it, such as `tag:yaml.org,2002:str`; nil where there is none.
    var tag: String?
    /// The dotted path, such as `facts.queries[1]`, safe to print; empty for the whole text.
    var path: String
    /// Where it begins; for an alias and all below it, where the alias is.
    var mark: Mark
    /// Where its key begins.
    var keyMark: Mark
    /// How many nodes it is with all below it, aliases followed.
    fileprivate var count = 1

    /// nil for a sequence or a mapping.
    var scalar: YAMLScalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    /// Whether there is nothing at all behind the key.
    var isEmpty: Bool { scalar?.isEmpty == true }

    /// Whether it is `null`, `~` or empty.
    var isNull: Bool { scalar?.kind == .null }

    /// The value as a message names it.
    var found: String {
        switch content {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar): scalar.found
        case .broken: "an alias"
        }
    }

    /// A tag that means more than the core schema's types, such as `!!binary`; nil for any other.
    var foreignTag: String? {
        let core = "tag:yaml.org,2002:"
        guard let tag, tag != "!" else { return nil }
        guard tag.hasPrefix(core) else { return tag }
        let name = String(tag.dropFirst(core.count))
        return ["str", "bool", "int", "null", "seq", "map"].contains(name) ? nil : "!!" + name
    }

    /// The path of an entry of this mapping.
    fileprivate static func path(of key: YAMLScalar, below path: String) -> String {
        path.isEmpty ? key.shownAsKey : "\(path).\(key.shownAsKey)"
    }

    /// The target of an alias as if it stood there.
    fileprivate func moved(to path: String, keyMark: Mark, mark: Mark) -> YAMLNode {
        var node = self
        (node.path, node.keyMark, node.mark) = (path, keyMark, mark)
        switch content {
        case .sequence(let items):
            node.content = .sequence(
                items.enumerated().map { $1.moved(to: "\(path)[\($0)]", keyMark: mark, mark: mark) }
            )
        case .mapping(let entries):
            node.content = .mapping(entries.map { name, value in
                let key = name.map { YAMLNode.path(of: YAMLScalar(text: $0, isPlain: true), below: path) } ?? path
                return (name, value.moved(to: key, keyMark: mark, mark: mark))
            })
        case .scalar, .broken: break
        }
        return node
    }
}

/// What is wrong with a text, as a sentence about it.
struct YAMLProblem: Error {
    var mark: YAMLNode.Mark
    var message: String
}

/// The only document of a YAML text, read with libyaml's event parser (yaml.h).
struct YAMLDocument {
    /// nil if there is nothing in the text, or nothing that could be read.
    private(set) var root: YAMLNode?
    private(set) var problem: YAMLProblem?

    init(_ text: [UInt8]) {
        if text.isEmpty { return }
        // In memory of its own, because libyaml keeps a pointer to it in itself.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            problem = YAMLProblem(mark: .init(), message: "cannot be parsed: out of memory")
            return
        }
        defer { yaml_parser_delete(parser) }
        // libyaml reads the bytes where they are: the parser is not used past the end of this closure.
        text.withUnsafeBufferPointer { bytes in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            // Not guessed from a byte order mark.
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            var composer = YAMLComposer(parser: parser, bytes: bytes)
            do throws(YAMLProblem) {
                (root, problem) = try composer.document()
            } catch {
                // What comes before it may be read wrongly for the same reason.
                problem = error
            }
        }
    }
}

/// Makes nodes of libyaml's events.
private struct YAMLComposer {
    /// More than any configuration has; aliases that multiply end here.
    private static let maximumNodes = 100_000
    private static let maximumDepth = 32

    private struct Event {
        let type: yaml_event_type_t
        let mark: YAMLNode.Mark
        /// nil for anything else.
        var scalar: YAMLScalar?
        var tag, anchor: String?
    }

    /// Both are valid as long as this is.
    let parser: UnsafeMutablePointer<yaml_parser_t>
    let bytes: UnsafeBufferPointer<UInt8>
    var count = 0
    /// nil while the node is still being read: an alias to it would have no end.
    var anchors: [String: YAMLNode?] = [:]

    /// - Throws: where the text cannot be read any further.
    mutating func document() throws(YAMLProblem) -> (root: YAMLNode?, problem: YAMLProblem?) {
        var root: YAMLNode?
        while true {
            let event = try next()
            if event.type == YAML_STREAM_END_EVENT { return (root, nil) }
            guard event.type == YAML_DOCUMENT_START_EVENT else { continue }
            let first = try next()
            if root != nil {
                let message = "holds a second document; keep one and remove the line --- between them"
                return (root, YAMLProblem(mark: first.mark, message: message))
            }
            root = try node(first, path: "", keyMark: first.mark, depth: 1)
        }
    }

    private mutating func node(
        _ event: Event, path: String, keyMark: YAMLNode.Mark, depth: Int
    ) throws(YAMLProblem) -> YAMLNode {
        let before = count
        // libyaml gives an empty value the position of what follows.
        let mark = event.scalar?.isEmpty == true ? keyMark : event.mark
        let content = event.scalar.map(YAMLNode.Content.scalar) ?? .sequence([])
        var node = YAMLNode(content: content, tag: event.tag, path: path, mark: mark, keyMark: keyMark)
        if event.type == YAML_ALIAS_EVENT {
            node = target(of: event.anchor ?? "").moved(to: path, keyMark: keyMark, mark: mark)
        } else if let anchor = event.anchor {
            anchors[anchor] = .some(nil)
        }
        count += node.count
        guard count <= Self.maximumNodes else {
            let message = "holds more than \(Self.maximumNodes) values, aliases followed; remove some"
            throw YAMLProblem(mark: mark, message: message)
        }
        guard depth <= Self.maximumDepth else {
            throw YAMLProblem(mark: mark, message: "is nested deeper than any key; check the brackets")
        }
        if event.type == YAML_SEQUENCE_START_EVENT {
            var items: [YAMLNode] = []
            while case let item = try next(), item.type != YAML_SEQUENCE_END_EVENT {
                let path = "\(path)[\(items.count)]"
                items.append(try self.node(item, path: path, keyMark: item.mark, depth: depth + 1))
            }
            node.content = .sequence(items)
        } else if event.type == YAML_MAPPING_START_EVENT {
            var entries: [(name: String?, value: YAMLNode)] = []
            while case let item = try next(), item.type != YAML_MAPPING_END_EVENT {
                let key = try self.node(item, path: path, keyMark: item.mark, depth: depth + 1)
                let below = key.scalar.map { YAMLNode.path(of: $0, below: path) } ?? path
                let value = try self.node(try next(), path: below, keyMark: key.mark, depth: depth + 1)
                entries.append((key.scalar?.text, key.scalar == nil ? key : value))
            }
            node.content = .mapping(entries)
        }
        node.count = count - before
        if event.type != YAML_ALIAS_EVENT, let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private func target(of alias: String) -> YAMLNode {
        if case .some(.some(let node)) = anchors[alias] { return node }
        let message =
            anchors[alias] == nil
            ? "is an alias of nothing that stands above it; put a text that begins with * in quotes"
            : "is an alias of what it stands in, which has no end; write the values out"
        return YAMLNode(content: .broken(message), path: "", mark: .init(), keyMark: .init())
    }

    private func next() throws(YAMLProblem) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLProblem(parser.pointee, in: bytes) }
        defer { yaml_event_delete(&event) }
        var scalar: YAMLScalar?
        var tag, anchor: UnsafeMutablePointer<yaml_char_t>?
        // Only the member of the union that belongs to the type is read.
        switch event.type {
        case YAML_SCALAR_EVENT:
            let data = event.data.scalar
            (tag, anchor) = (data.tag, data.anchor)
            let text = String(decoding: UnsafeBufferPointer(start: data.value, count: data.length), as: UTF8.self)
            scalar = YAMLScalar(text: text, isPlain: data.style == YAML_PLAIN_SCALAR_STYLE && tag == nil)
        case YAML_SEQUENCE_START_EVENT:
            (tag, anchor) = (event.data.sequence_start.tag, event.data.sequence_start.anchor)
        case YAML_MAPPING_START_EVENT:
            (tag, anchor) = (event.data.mapping_start.tag, event.data.mapping_start.anchor)
        case YAML_ALIAS_EVENT:
            anchor = event.data.alias.anchor
        default: break
        }
        return Event(
            type: event.type, mark: YAMLNode.Mark(event.start_mark), scalar: scalar,
            tag: tag.map { String(cString: $0) }, anchor: anchor.map { String(cString: $0) }
        )
    }
}

extension YAMLProblem {
    /// Why a parser has stopped.
    fileprivate init(_ parser: yaml_parser_t, in bytes: UnsafeBufferPointer<UInt8>) {
        let text = parser.problem.map { String(cString: $0) } ?? "out of memory"
        mark = YAMLNode.Mark(parser.problem_mark)
        switch parser.error {
        case YAML_READER_ERROR:
            mark = .init(line: 1 + bytes.prefix(parser.problem_offset).count { $0 == UInt8(ascii: "\n") })
            message =
                text.hasPrefix("control characters")
                ? "is not YAML here: \(text); remove the character" : "is not UTF-8; save the file in that encoding"
        default:
            let line = YAMLNode.Mark(parser.context_mark).line
            let context = parser.context.map { " (\(String(cString: $0)) that begins in line \(line))" } ?? ""
            let advice = "check the indentation (spaces, no tabs), quotes and brackets"
            message = "is not YAML here: \(text)\(context); \(advice)"
        }
    }
}

extension YAMLNode.Mark {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}

/// The text of a scalar, and whether it has neither quotes nor a tag.
struct YAMLScalar: Sendable {
    var text: String
    var isPlain: Bool

    enum Kind { case null, boolean, number, string }

    var isEmpty: Bool { isPlain && text.isEmpty }

    /// By the core schema of YAML 1.2.2, section 10.3.2; what is quoted is a string.
    ///
    /// Decided here, because in YAML 1.1 `yes`, `on` and `1:30` are no texts either.
    var kind: Kind {
        switch text {
        case _ where !isPlain: .string
        case "", "~", "null", "Null", "NULL": .null
        case "true", "True", "TRUE", "false", "False", "FALSE": .boolean
        default: isNumber ? .number : .string
        }
    }

    /// As a message names it: cut at 60 characters, and safe to print.
    var found: String {
        if isEmpty { return "nothing" }
        var shown = String(text.prefix(60))
        if shown.utf8.count < text.utf8.count { shown += "…" }
        return kind == .string ? YAMLText.quoted(shown) : shown
    }

    /// As a part of a path.
    var shownAsKey: String {
        let isHarmless = text.utf8.count <= 60 && !text.isEmpty && text.unicodeScalars.allSatisfy(YAMLText.isVisible)
        return isHarmless ? text : YAMLScalar(text: text, isPlain: false).found
    }

    private var isNumber: Bool {
        var digits = text[...]
        if digits.first == "-" || digits.first == "+" { digits.removeFirst() }
        if [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(digits) { return true }
        if digits.hasPrefix("0o") { return Int64(digits.dropFirst(2), radix: 8) != nil }
        // `Double` also reads "inf" and "nan", which are text in YAML.
        guard let first = digits.utf8.first, first == 0x2E || (0x30...0x39).contains(first) else { return false }
        return Double(digits) != nil
    }
}

/// Writing strings as YAML.
enum YAMLText {
    /// The string as a plain scalar where every YAML reader takes that for this string, else in double quotes.
    static func scalar(_ text: String) -> String {
        isSafePlain(text) ? text : quoted(text)
    }

    /// The string in double quotes, everything escaped that is not visible or could reorder what is.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where isVisible(scalar): result.unicodeScalars.append(scalar)
            default: result += escape(scalar)
            }
        }
        return result + "\""
    }

    /// Visible, or a space: no control, format, separator, private or unassigned code point.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)" + String(repeating: "0", count: width - digits.count) + digits
    }

    /// Stricter than it need be: what may be a number, a date or a YAML 1.1 boolean anywhere is quoted.
    private static func isSafePlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || first == 0x2F,
            text.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || " /._+-:".utf8.contains($0) }),
            text.utf8.last != 0x20, text.utf8.last != 0x3A
        else { return false }
        let words: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        return !text.contains(": ") && !words.contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
