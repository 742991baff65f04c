import CYAML

/// A value of a YAML text. In place of an alias stands its target.
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
        /// A key that is no scalar has no name.
        case mapping([(name: String?, value: YAMLNode)])
        /// An alias of what it stands in.
        case endless
    }

    let content: Content
    /// As libyaml resolves it, such as `tag:yaml.org,2002:str`.
    let tag: String
    /// The dotted path, such as `facts.queries[1]`, safe to print; empty for the whole text.
    let path: String
    /// Where it begins; for an alias and all below it, where the alias is.
    let mark: Mark
    /// Where its key begins.
    let keyMark: Mark

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
        case .endless: "an alias"
        }
    }

    /// A tag that means more than the core schema's types, such as `!!binary`; nil for any other.
    var foreignTag: String? {
        let core = "tag:yaml.org,2002:"
        guard tag.hasPrefix(core) else { return tag }
        let name = String(tag.dropFirst(core.count))
        return ["str", "bool", "int", "null", "seq", "map"].contains(name) ? nil : "!!" + name
    }
}

/// What is wrong with a text, as a sentence about it.
struct YAMLProblem: Error {
    var mark: YAMLNode.Mark
    var message: String
}

/// The only document of a YAML text, read with libyaml (yaml.h).
struct YAMLDocument {
    /// nil if there is nothing in the text, or nothing that could be read.
    private(set) var root: YAMLNode?
    private(set) var problem: YAMLProblem?

    init(_ text: [UInt8]) {
        if text.isEmpty { return }
        do throws(YAMLProblem) {
            try YAMLDocument.parse(text, YAMLDocument.checkDepth)
            try YAMLDocument.parse(text) { parser, bytes throws(YAMLProblem) in
                root = try YAMLDocument.next(parser, bytes)
                if root != nil, let second = try YAMLDocument.next(parser, bytes) {
                    let message = "holds a second document; keep one and remove the line --- between them"
                    problem = YAMLProblem(mark: second.mark, message: message)
                }
            }
        } catch {
            // What comes before it may be read wrongly for the same reason.
            (root, problem) = (nil, error)
        }
    }

    private typealias Parser = UnsafeMutablePointer<yaml_parser_t>
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static func parse(
        _ text: [UInt8], _ body: (Parser, Bytes) throws(YAMLProblem) -> Void
    ) throws(YAMLProblem) {
        // In memory of its own, because libyaml keeps a pointer to it in itself.
        let parser = Parser.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw YAMLProblem(mark: .init(), message: "cannot be parsed: out of memory")
        }
        defer { yaml_parser_delete(parser) }
        // libyaml reads the bytes where they are: the parser is not used past the end of this closure.
        try text.withUnsafeBufferPointer { bytes throws(YAMLProblem) in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            // Not guessed from a byte order mark.
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            try body(parser, bytes)
        }
    }

    /// Refuses deep nesting before the document is loaded: that would take a time that grows with the depth's square.
    private static func checkDepth(_ parser: Parser, _ bytes: Bytes) throws(YAMLProblem) {
        var depth = 0
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLProblem(parser.pointee, in: bytes) }
            defer { yaml_event_delete(&event) }
            switch event.type {
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT: depth += 1
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
            case YAML_STREAM_END_EVENT: return
            default: break
            }
            if depth > YAMLNodeReader.maximumDepth { throw YAMLNodeReader.tooDeep(YAMLNode.Mark(event.start_mark)) }
        }
    }

    /// nil at the end of the text.
    private static func next(_ parser: Parser, _ bytes: Bytes) throws(YAMLProblem) -> YAMLNode? {
        var document = yaml_document_t()
        guard yaml_parser_load(parser, &document) == 1 else { throw YAMLProblem(parser.pointee, in: bytes) }
        defer { yaml_document_delete(&document) }
        guard document.nodes.top > document.nodes.start else { return nil }
        var reader = YAMLNodeReader(nodes: document.nodes.start)
        return try reader.node(1)
    }
}

/// Makes nodes of libyaml's, which aliases refer to by number.
private struct YAMLNodeReader {
    /// More than any configuration has; aliases that multiply end here.
    private static let maximumNodes = 100_000
    static let maximumDepth = 32

    static func tooDeep(_ mark: YAMLNode.Mark) -> YAMLProblem {
        YAMLProblem(mark: mark, message: "is nested deeper than any key; check the brackets")
    }

    /// Of a document that lasts longer than this.
    let nodes: UnsafeMutablePointer<yaml_node_t>
    var count = 0
    /// The numbers of the nodes around the one that is read.
    var open: [CInt] = []

    /// - Parameter number: counted from 1.
    mutating func node(
        _ number: CInt, path: String = "", keyMark: YAMLNode.Mark? = nil
    ) throws(YAMLProblem) -> YAMLNode {
        let source = nodes[Int(number) - 1]
        let keyMark = keyMark ?? YAMLNode.Mark(source.start_mark)
        // The target of an alias is further up.
        var mark = max(keyMark, YAMLNode.Mark(source.start_mark))
        count += 1
        guard count <= YAMLNodeReader.maximumNodes else {
            let message = "holds more than \(YAMLNodeReader.maximumNodes) values, aliases followed; remove some"
            throw YAMLProblem(mark: mark, message: message)
        }
        guard open.count < YAMLNodeReader.maximumDepth else { throw YAMLNodeReader.tooDeep(mark) }
        let isEndless = open.contains(number)
        open.append(number)
        defer { open.removeLast() }
        let content: YAMLNode.Content
        // Only the member of the union that belongs to the type is read.
        switch source.type {
        case _ where isEndless: content = .endless
        case YAML_SEQUENCE_NODE:
            var items: [YAMLNode] = []
            let list = source.data.sequence.items
            for (index, item) in UnsafeBufferPointer(start: list.start, count: list.top - list.start).enumerated() {
                items.append(try node(item, path: "\(path)[\(index)]", keyMark: mark))
            }
            content = .sequence(items)
        case YAML_MAPPING_NODE:
            var entries: [(name: String?, value: YAMLNode)] = []
            let list = source.data.mapping.pairs
            for pair in UnsafeBufferPointer(start: list.start, count: list.top - list.start) {
                let key = try node(pair.key, keyMark: mark)
                let shown = key.scalar?.shownAsKey ?? ""
                let path = path.isEmpty || shown.isEmpty ? path + shown : "\(path).\(shown)"
                entries.append((key.scalar?.text, try node(pair.value, path: path, keyMark: key.mark)))
            }
            content = .mapping(entries)
        default:
            let data = source.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: data.value, count: data.length), as: UTF8.self)
            let scalar = YAMLScalar(text: text, isPlain: data.style == YAML_PLAIN_SCALAR_STYLE)
            // libyaml gives an empty value the position of what follows.
            if scalar.isEmpty { mark = keyMark }
            content = .scalar(scalar)
        }
        let tag = source.tag.map { String(cString: $0) } ?? ""
        return YAMLNode(content: content, tag: tag, path: path, mark: mark, keyMark: keyMark)
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
        case YAML_COMPOSER_ERROR where text.contains("alias"):
            message = "is an alias of nothing that stands above it; put a text that begins with * in quotes"
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

/// The text of a scalar, and whether it has no quotes.
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
