import NorrisProtocol
import NorrisText

/// The layout of the output.
package struct Layout: Equatable, Sendable {
    /// The columns of the terminal; nil for a pipe, which gets one item a line without wrapping.
    package var width: Int?
    /// Whether escape sequences may be written, for colors, dim text and links.
    package var usesEscapes: Bool

    package init(width: Int?, usesEscapes: Bool) {
        self.width = width
        self.usesEscapes = usesEscapes
    }
}

/// The text for standard output, built line by line.
///
/// All texts are spans, which are sanitized, so the only escape sequences are created here.
package struct Screen: Sendable {
    package private(set) var layout: Layout
    package private(set) var text = ""
    /// The words of a search, whose matches are highlighted in normal and bold text.
    private var searchedWords: [String] = []

    package init(layout: Layout) { self.layout = layout }

    package mutating func line(_ spans: [Span]) {
        spans.forEach { add($0) }
        text += "\n"
    }

    package mutating func line(_ text: String = "", _ style: Style = .normal) { line([Span(text, style)]) }

    /// One line of fields separated by tabs, for programs.
    package mutating func fields(_ spans: [Span]) {
        for (index, span) in spans.enumerated() {
            text += index > 0 ? "\t" : ""
            add(span)
        }
        text += "\n"
    }

    /// A text of any length, wrapped for a terminal, else one line.
    package mutating func paragraph(_ text: String, _ style: Style = .normal) {
        guard let width = layout.width else { return line(text, style) }
        wrapped(sanitizedText(text), width: width).forEach { line($0, style) }
    }

    /// Highlights the matches of a search from now on. A match within one line is highlighted.
    package mutating func highlight(_ query: String) {
        searchedWords = layout.usesEscapes ? searchWords(of: query) : []
    }

    private mutating func add(_ span: Span) {
        guard !searchedWords.isEmpty, span.style == .normal || span.style == .bold else { return addPlain(span) }
        let matches = searchMatches(of: searchedWords, in: span.text)
        var parts: [(text: String, isMatch: Bool)] = []
        for (character, isMatch) in zip(span.text, matches) {
            if parts.last?.isMatch != isMatch { parts.append(("", isMatch)) }
            parts[parts.count - 1].text.append(character)
        }
        for part in parts { addPlain(Span(part.text, part.isMatch ? .match : span.style, link: span.link)) }
    }

    private mutating func addPlain(_ span: Span) {
        guard layout.usesEscapes, !span.text.isEmpty else {
            text += span.text
            return
        }
        let styled = span.style.parameter.map { "\u{1B}[\($0)m\(span.text)\u{1B}[0m" } ?? span.text
        if let link = span.link, layout.width != nil {
            text += "\u{1B}]8;;\(link)\u{1B}\\\(styled)\u{1B}]8;;\u{1B}\\"
        } else {
            text += styled
        }
    }
}

// MARK: Lists

extension Screen {
    /// The highest number of an item, because the daemon stores as many items of a list.
    private static let maximumNumber = RecentServed.maximumIndex

    /// Items, separated by empty lines on a terminal.
    ///
    /// - Parameters:
    ///   - first: the number of the first item, which is shown before the first line of the item; the other lines are
    ///     indented by as many columns. Nil for a list without numbers.
    ///   - isDense: whether there are no empty lines.
    ///   - write: writes one item with its number, by which later commands name the item; without a number, the id.
    package mutating func items<Item>(
        _ items: [Item], numberedFrom first: Int? = nil, isDense: Bool = false,
        write: (inout Screen, Item, _ number: Int?) -> Void
    ) {
        let last = first.map { min($0 + items.count - 1, Self.maximumNumber) } ?? 0
        let columns = String(last).count
        for (index, item) in items.enumerated() {
            if index > 0, layout.width != nil, !isDense { line() }
            guard let width = layout.width, let first else {
                write(&self, item, nil)
                continue
            }
            let number = first + index <= Self.maximumNumber ? first + index : nil
            var inner = self
            inner.text = ""
            inner.layout.width = max(1, width - columns - 2)
            write(&inner, item, number)
            let digits = number.map(String.init) ?? ""
            let head = String(repeating: " ", count: columns - digits.count) + digits
            for (row, text) in inner.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .enumerated()
            {
                if row == 0 {
                    addPlain(Span(head, .dim))
                    self.text += "  "
                } else if !text.isEmpty {
                    addPlain(.spaces(columns + 2))
                }
                self.text += text + "\n"
            }
        }
    }
}

// MARK: Lines of several spans

extension Screen {
    /// The minimum columns for a text beside labels.
    private static let leastTextColumns = 16
    /// The columns of a label of ``labelled(_:_:width:)`` and the space after it.
    private static let labelColumns = 13

    /// Labels in columns of fixed widths, two spaces apart, and a text after them. A longer text continues below
    /// itself; on a narrow terminal the text is below the labels.
    ///
    /// - Parameter wraps: whether to wrap the text; false for a text that users copy.
    package mutating func entry(_ labels: [(label: Span, columns: Int)], _ text: Span, wraps: Bool = true) {
        let width = layout.width ?? .max
        var head: [Span] = []
        var indentation = 0
        for (label, columns) in labels {
            head += [label, .spaces(max(0, columns - label.width) + 2)]
            indentation += max(columns, label.width) + 2
        }
        if width - indentation < Self.leastTextColumns {
            flow(labels.map(\.label), width: width)
            indentation = 2
            head = [.spaces(2)]
        }
        let lines = wraps ? wrapped(text.text, width: max(1, width - indentation)) : [text.text]
        for (index, line) in lines.enumerated() {
            self.line((index == 0 ? head : [.spaces(indentation)]) + [Span(line, text.style)])
        }
        if lines.isEmpty { line(head) }
    }

    /// A dim label of at most 11 columns, and beside it parts separated by dots, as many on each line as fit; below it
    /// on a narrow terminal.
    mutating func labelled(_ label: String, _ parts: [Span], width: Int) {
        let isNarrow = width < 2 * Self.labelColumns
        if isNarrow { line(label, .dim) }
        let rows = flowed(parts.map { (.dot, $0) }, width: isNarrow ? width : width - Self.labelColumns)
        for (index, row) in rows.enumerated() {
            let start = Span(padded(index == 0 ? label : "", toColumns: Self.labelColumns), .dim)
            line(isNarrow ? row : [start] + row)
        }
    }

    /// Spans with two spaces or another separator between them, as many on each line as fit.
    mutating func flow(_ spans: [Span], separator: Span = .spaces(2), width: Int) {
        flowed(spans.map { (separator, $0) }, width: width).forEach { line($0) }
    }
}

/// Spans in lines, as many on each line as fit. The gap of a span is omitted at the beginning of a line.
///
/// No span is divided, so a span wider than the line exceeds the width. Empty spans are omitted. A right-to-left span
/// ends its line and follows only spans without letters and digits, because terminals would move other text.
func flowed(_ spans: [(gap: Span, span: Span)], width: Int) -> [[Span]] {
    var lines: [[Span]] = []
    var row: [Span] = []
    var column = 0
    for (gap, span) in spans where !span.text.isEmpty {
        let isApart =
            row.contains { containsRightToLeft($0.text) }
            || containsRightToLeft(span.text) && row.contains { $0.text.contains { $0.isLetter || $0.isNumber } }
        if !row.isEmpty, isApart || column + gap.width + span.width > width {
            lines.append(row)
            (row, column) = ([], 0)
        }
        if !row.isEmpty {
            row.append(gap)
            column += gap.width
        }
        row.append(span)
        column += span.width
    }
    return row.isEmpty ? lines : lines + [row]
}

// MARK: Spans

/// The style of a part of a line.
package enum Style: Equatable, Sendable {
    case normal, dim, bold, good, warning, bad
    /// A match of a search, in grep's style.
    case match
    /// Code inside a text.
    case code
    /// Several styles at once: parameters of SGR with a semicolon between them.
    case combined(String)

    /// The parameter of SGR (ECMA-48, 8.3.117); nil for plain text.
    var parameter: String? {
        switch self {
        case .normal: nil
        case .dim: "2"
        case .bold: "1"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .match: "1;31"
        case .code: "36"
        case .combined(let parameters): parameters
        }
    }
}

/// A part of a line: text in one style, possibly with a link.
///
/// The text is always sanitized, and a link is only kept if it is safe. Therefore only `Screen` writes escape
/// sequences.
package struct Span: Equatable, Sendable {
    /// Without newlines and tabs; a run of white space that contains one becomes one space.
    package let text: String
    package let style: Style
    /// An http or https address of visible ASCII with at most 2,083 bytes.
    ///
    /// Source: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, "Encoding" and "Length limits".
    package let link: String?

    package init(_ text: String, _ style: Style = .normal, link: String? = nil) {
        let clean = sanitizedText(text)
        // Spaces at the ends of a line stay, because they indent wrapped text. Several lines are joined.
        self.text = clean.utf8.contains { $0 < 0x20 } ? sanitizedLine(clean) : clean
        self.style = style
        self.link = link.flatMap { $0.utf8.count <= 2_083 && isWebAddress($0) ? $0 : nil }
    }

    /// In columns.
    package var width: Int { displayWidth(of: text) }

    /// The separator between parts of a line.
    static let dot = Span(" · ", .dim)

    static func spaces(_ count: Int) -> Span { Span(String(repeating: " ", count: count)) }
}
