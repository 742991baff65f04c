import CYAML
import NorrisSystem

/// A value of a YAML text.
struct YAMLNode: Sendable {
    /// A position in the text, counted from 1.
    struct Mark: Sendable, Comparable {
        var line = 1
        var column = 1

        static func < (first: Self, second: Self) -> Bool { (first.line, first.column) < (second.line, second.column) }
    }

    enum Content: Sendable {
        case scalar(YAMLScalar)
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

    /// nil for a sequence or a mapping.
    var scalar: YAMLScalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    /// Whether the key has no value.
    var isEmpty: Bool { scalar?.isEmpty == true }

    /// Whether the value is `null`, `~` or empty.
    var isNull: Bool { scalar?.kind == .null }

    /// The value as quoted in messages.
    var found: String {
        switch content {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar): scalar.found
        case .refused: "an alias, an anchor or a tag"
        }
    }

    /// The path of an entry of this mapping.
    fileprivate static func path(of key: YAMLScalar, below path: String) -> String {
        path.isEmpty ? key.shownAsKey : "\(path).\(key.shownAsKey)"
    }
}

/// A fault of a text, as a sentence.
struct YAMLProblem: Error {
    var mark: YAMLNode.Mark
    var message: String
}

/// The only document of a YAML text, read with libyaml's event parser (yaml.h).
struct YAMLDocument {
    /// nil for a text without a document or with a syntax error.
    private(set) var root: YAMLNode?
    private(set) var problem: YAMLProblem?

    init(_ text: [UInt8]) {
        if text.isEmpty { return }
        // Allocated separately, because libyaml stores a pointer to the parser in the parser.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            problem = YAMLProblem(mark: .init(), message: "cannot be parsed: out of memory")
            return
        }
        defer { yaml_parser_delete(parser) }
        // libyaml reads the bytes in place, so the parser must not be used after this closure.
        text.withUnsafeBufferPointer { bytes in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            // Set explicitly, because libyaml would otherwise derive the encoding from a byte order mark.
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            var composer = YAMLComposer(parser: parser, bytes: bytes)
            do throws(YAMLProblem) { (root, problem) = try composer.document() } catch {
                // A syntax error can also make earlier nodes wrong.
                problem = error
            }
        }
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

    /// - Throws: if the text cannot be parsed any further.
    mutating func document() throws(YAMLProblem) -> (root: YAMLNode?, problem: YAMLProblem?) {
        var root: YAMLNode?
        while true {
            let event = try next()
            if event.type == YAML_STREAM_END_EVENT { return (root, nil) }
            guard event.type == YAML_DOCUMENT_START_EVENT else { continue }
            let first = try next()
            if root != nil {
                let message = "holds a second document; keep one and remove the line --- between them"
                return (root, YAMLProblem(mark: first.node.mark, message: message))
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
        if node.isEmpty { node.mark = node.keyMark }
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
                let below = key.scalar.map { YAMLNode.path(of: $0, below: path) } ?? path
                let value = try self.node(try next(), path: below, keyMark: key.mark, depth: depth + 1)
                entries.append((key.scalar?.text, key.scalar == nil ? key : value))
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
            node.content = .scalar(YAMLScalar(text: text, isPlain: data.style == YAML_PLAIN_SCALAR_STYLE))
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
            message =
                text.hasPrefix("control characters")
                ? "is not YAML here: \(text); remove the character" : "is not UTF-8; save the file in that encoding"
        default:
            let line = YAMLNode.Mark(parser.context_mark).line
            if let line = Self.lineWithoutSpace(in: bytes, before: mark.line, isFirst: line), parser.problem != nil,
                ["mapping values are not allowed", "could not find expected ':'", "did not find expected key"]
                    .contains(where: text.hasPrefix)
            {
                mark = .init(line: line)
                message = "is not YAML here: put a space after the first colon"
                return
            }
            let context = parser.context.map { " (\(String(cString: $0)) that begins in line \(line))" } ?? ""
            let advice = "check the indentation (spaces, no tabs), quotes and brackets"
            message = "is not YAML here: \(text)\(context); \(advice)"
        }
    }
}

extension YAMLProblem {
    /// The line with a key and a value without a space between them, which libyaml joins with the next line to one
    /// text: the line in which the text begins, or the last line with content before another line.
    private static func lineWithoutSpace(
        in bytes: UnsafeBufferPointer<UInt8>, before line: Int, isFirst first: Int
    ) -> Int? {
        // The lines after the fault are not needed.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: line, omittingEmptySubsequences: false)
        func text(_ number: Int) -> Substring {
            guard number > 0, number <= lines.count else { return "" }
            // A list item is a value as well.
            return Substring(decoding: lines[number - 1].drop { [0x20, 0x09, 0x2D].contains($0) }, as: UTF8.self)
        }
        var previous = line - 1
        while previous > 0, text(previous).utf8.first.map({ $0 == UInt8(ascii: "#") || $0 == 0x0D }) ?? true {
            previous -= 1
        }
        return [previous, first].first { YAMLText.lacksSpaceAfterColon(text($0)) }
    }
}

extension YAMLNode.Mark {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}

/// The text of a scalar, and whether the scalar is plain.
struct YAMLScalar: Sendable {
    var text: String
    var isPlain: Bool

    enum Kind { case null, boolean, number, string }

    var isEmpty: Bool { isPlain && text.isEmpty }

    /// The kind in the core schema of YAML 1.2.2, section 10.3.2; a quoted scalar is a string.
    ///
    /// Decided here, because YAML 1.1 also treats `yes`, `on` and `1:30` as other kinds.
    var kind: Kind {
        switch text {
        case _ where !isPlain: .string
        case "", "~", "null", "Null", "NULL": .null
        case "true", "True", "TRUE", "false", "False", "FALSE": .boolean
        default: isNumber ? .number : .string
        }
    }

    /// The text as quoted in messages: at most 60 characters, without control characters.
    var found: String {
        if isEmpty { return "nothing" }
        var shown = String(text.prefix(60))
        if shown.utf8.count < text.utf8.count { shown += "…" }
        return kind == .string ? YAMLText.quoted(shown) : shown
    }

    /// The text as a part of a path. A text that may contain a password, such as a proxy, is left out.
    var shownAsKey: String {
        if text.contains("@") || text.contains("://") { return "…" }
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

    /// Whether a character is visible or a space: no control, format, separator, private or unassigned code point.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    /// Whether a text is a key and a value without a space between them, such as `kind:feed`, and no URL.
    static func lacksSpaceAfterColon(_ text: some StringProtocol) -> Bool {
        let rest = text.utf8.drop { isLetter($0) || (0x30...0x39).contains($0) || "-_".utf8.contains($0) }
        guard rest.first == 0x3A, rest.startIndex != text.utf8.startIndex else { return false }
        let value = rest.dropFirst()
        return !value.starts(with: "//".utf8) && value.first.map { ![0x20, 0x09, 0x0D].contains($0) } ?? false
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
        return !text.contains(": ") && !words.contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}
