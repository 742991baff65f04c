import CYAML
import NorrisProtocol
import NorrisSystem
import NorrisText

/// A value of a YAML text.
struct YAMLNode: Sendable {
    /// A position in the text, counted from 1.
    struct Mark: Sendable, Comparable {
        var line = 1
        var column = 1

        static func < (first: Self, second: Self) -> Bool { (first.line, first.column) < (second.line, second.column) }
    }

    enum Content: Sendable {
        /// `null`, `~` or nothing.
        case null
        /// Any other scalar, quoted or not.
        case text(String)
        case sequence([YAMLNode])
        /// A key that is not a scalar has no name, and is its own value.
        case mapping([(name: String?, value: YAMLNode)])
        /// An alias, or a value with an anchor or a tag, with the sentence that refuses it.
        case refused(String)
    }

    var content: Content
    /// The dotted path, such as `facts.queries[1]`, without control characters; empty for the whole text.
    var path: String
    /// The beginning of the value.
    var mark: Mark
    /// The beginning of the value's key.
    var keyMark: Mark

    var isNull: Bool {
        if case .null = content { true } else { false }
    }
}

extension YAMLNode {
    /// A value of the protocol as a value of a file.
    init(_ json: JSON, path: String = "") {
        let content: Content =
            switch json {
            case .null: .null
            case .bool(let value): .text("\(value)")
            case .integer(let value): .text("\(value)")
            case .double(let value): .text("\(value)")
            case .string(let text): .text(text)
            case .array(let items): .sequence(items.enumerated().map { Self($1, path: "\(path)[\($0)]") })
            case .object(let object): .mapping(object.members.map { ($0.key, Self($0.value, path: $0.key)) })
            }
        self.init(content: content, path: path, mark: Mark(), keyMark: Mark())
    }
}

/// A fault of a text, as a sentence.
struct YAMLProblem: Error {
    var mark: YAMLNode.Mark
    var message: String
}

extension YAMLNode {
    /// The only document of a text, read with libyaml's event parser (yaml.h); nil for a text without a document.
    init?(document text: [UInt8]) throws(YAMLProblem) {
        if text.isEmpty { return nil }
        // Allocated separately, because libyaml stores a pointer to the parser in the parser.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw YAMLProblem(mark: .init(), message: "cannot be parsed: out of memory")
        }
        defer { yaml_parser_delete(parser) }
        // libyaml reads the bytes in place, so the parser must not be used after this closure.
        let root = try text.withUnsafeBufferPointer { bytes throws(YAMLProblem) in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            // Set explicitly, because libyaml would otherwise derive the encoding from a byte order mark.
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            var composer = YAMLComposer(parser: parser, bytes: bytes)
            return try composer.document()
        }
        guard let root else { return nil }
        self = root
    }
}

/// Builds nodes from libyaml's events.
private struct YAMLComposer {
    /// More nodes than any real configuration has.
    private static let maximumNodes = 100_000
    private static let maximumDepth = 32

    /// A node is without path and children, and the refusal is the reason why the value is not accepted.
    private typealias Event = (type: yaml_event_type_t, node: YAMLNode, refusal: String?)

    /// The pointers are valid during the composer's lifetime.
    let parser: UnsafeMutablePointer<yaml_parser_t>
    let bytes: UnsafeBufferPointer<UInt8>
    var count = 0

    mutating func document() throws(YAMLProblem) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try next()
            if event.type == YAML_STREAM_END_EVENT { return root }
            guard event.type == YAML_DOCUMENT_START_EVENT else { continue }
            let first = try next()
            if root != nil {
                let message = "holds a second document; keep one and remove the line --- between them"
                throw YAMLProblem(mark: first.node.mark, message: message)
            }
            root = try node(first, path: "", depth: 1)
        }
    }

    private mutating func node(
        _ event: Event, path: String, keyMark: YAMLNode.Mark? = nil, depth: Int
    ) throws(YAMLProblem) -> YAMLNode {
        var node = event.node
        (node.path, node.keyMark) = (path, keyMark ?? node.mark)
        // libyaml reports an empty value at the position of the following token.
        if node.isNull { node.mark = node.keyMark }
        count += 1
        guard count <= Self.maximumNodes else {
            throw YAMLProblem(mark: node.mark, message: "holds more than \(Self.maximumNodes) values; remove some")
        }
        guard depth <= Self.maximumDepth else {
            throw YAMLProblem(mark: node.mark, message: "is nested deeper than any key; check the brackets")
        }
        if event.type == YAML_SEQUENCE_START_EVENT {
            var items: [YAMLNode] = []
            while case let item = try next(), item.type != YAML_SEQUENCE_END_EVENT {
                items.append(try self.node(item, path: "\(path)[\(items.count)]", depth: depth + 1))
            }
            node.content = .sequence(items)
        } else if event.type == YAML_MAPPING_START_EVENT {
            var entries: [(name: String?, value: YAMLNode)] = []
            while case let item = try next(), item.type != YAML_MAPPING_END_EVENT {
                let key = try self.node(item, path: path, depth: depth + 1)
                var name: String?
                var below = path
                if case .text(let text) = key.content {
                    name = text
                    below += (path.isEmpty ? "" : ".") + YAMLText.shownAsKey(text)
                }
                let value = try self.node(try next(), path: below, keyMark: key.mark, depth: depth + 1)
                entries.append((name, name == nil ? key : value))
            }
            node.content = .mapping(entries)
        }
        if let refusal = event.refusal { node.content = .refused(refusal) }
        return node
    }

    private func next() throws(YAMLProblem) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLProblem(parser.pointee, in: bytes) }
        defer { yaml_event_delete(&event) }
        let mark = YAMLNode.Mark(event.start_mark)
        var node = YAMLNode(content: .sequence([]), path: "", mark: mark, keyMark: mark)
        var tag, anchor: UnsafeMutablePointer<yaml_char_t>?
        // Reads only the union member of this event type.
        switch event.type {
        case YAML_SCALAR_EVENT:
            let data = event.data.scalar
            (tag, anchor) = (data.tag, data.anchor)
            let text = String(decoding: UnsafeBufferPointer(start: data.value, count: data.length), as: UTF8.self)
            let isNull = data.style == YAML_PLAIN_SCALAR_STYLE && ["", "~", "null", "Null", "NULL"].contains(text)
            node.content = isNull ? .null : .text(text)
        case YAML_SEQUENCE_START_EVENT:
            (tag, anchor) = (event.data.sequence_start.tag, event.data.sequence_start.anchor)
        case YAML_MAPPING_START_EVENT: (tag, anchor) = (event.data.mapping_start.tag, event.data.mapping_start.anchor)
        default: break
        }
        var refusal: String?
        if event.type == YAML_ALIAS_EVENT {
            refusal = "is an alias; write the value out, or put a text that begins with * in quotes"
        } else if anchor != nil {
            refusal = "has an anchor; remove it, or put a text that begins with & in quotes"
        } else if tag != nil {
            refusal = "has a tag; remove it, or put a text that begins with ! in quotes"
        }
        return (event.type, node, refusal)
    }
}

extension YAMLProblem {
    /// The reason why a parser stopped.
    fileprivate init(_ parser: yaml_parser_t, in bytes: UnsafeBufferPointer<UInt8>) {
        let text = parser.problem.map { String(cString: $0) } ?? "out of memory"
        mark = YAMLNode.Mark(parser.problem_mark)
        switch parser.error {
        case YAML_READER_ERROR:
            mark = .init(line: 1 + bytes.prefix(parser.problem_offset).count { $0 == UInt8(ascii: "\n") })
            message = "is not YAML here: \(text); save the file as UTF-8 without control characters"
        default:
            let line = YAMLNode.Mark(parser.context_mark).line
            let context = parser.context.map { " (\(String(cString: $0)) that begins in line \(line))" } ?? ""
            let advice = "check the space after each colon, the indentation (spaces, no tabs), quotes and brackets"
            message = "is not YAML here: \(text)\(context); \(advice)"
        }
    }
}

extension YAMLNode.Mark {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}

/// Writing strings as YAML.
enum YAMLText {
    /// The string as a plain scalar if every YAML reader reads the same string, else in double quotes.
    static func scalar(_ text: String) -> String { isSafePlain(text) ? text : quoted(text) }

    /// The string in double quotes. Escapes all characters that are invisible or change the order of text.
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

    /// The first 60 characters in double quotes, for messages.
    static func excerpt(_ text: String) -> String {
        let shown = String(text.prefix(60))
        return quoted(shown.utf8.count < text.utf8.count ? shown + "…" : shown)
    }

    /// A key as a part of a path. A text that may contain a password, such as a proxy, is left out.
    static func shownAsKey(_ text: String) -> String {
        if text.contains("@") || text.hasPart("://") { return "…" }
        let isHarmless = text.utf8.count <= 60 && !text.isEmpty && text.unicodeScalars.allSatisfy(isVisible)
        return isHarmless ? text : excerpt(text)
    }

    /// Whether a character is visible or a space: no control, format, separator, private or unassigned code point.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)" + scalar.value.digits(radix: 16, width: width).uppercased()
    }

    /// Stricter than YAML: quotes any text that some reader could read as a number, a date or a YAML 1.1 boolean.
    private static func isSafePlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || first == 0x2F,
            text.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || " /._+-:".utf8.contains($0) }),
            text.utf8.last != 0x20, text.utf8.last != 0x3A
        else { return false }
        let words: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        return !text.hasPart(": ") && !words.contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}
