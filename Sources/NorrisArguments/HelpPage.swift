import NorrisText

/// The texts of a help page that do not follow from declarations.
package struct CommandHelp {
    /// The summary of the command, in one sentence.
    package let abstract: String
    /// The words after the command in the usage; nil for its arguments and `[options]`.
    package let usage: String?
    private let text: String

    /// - Parameter text: prose, and after a line `Examples:` the examples.
    package init(_ abstract: String, usage: String? = nil, _ text: String) {
        (self.abstract, self.usage, self.text) = (abstract, usage, text)
    }

    private var lines: [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    /// Paragraphs; the indented lines below a paragraph are unchanged.
    package var prose: [String] { Array(lines.prefix { $0 != "Examples:" }) }
    /// Command lines, indented.
    package var examples: [String] { Array(lines.drop { $0 != "Examples:" }.dropFirst()) }
}

/// A help page in the order of gh(1). Built only when it is shown.
package struct HelpPage {
    package private(set) var lines: [(text: String, isHeading: Bool)] = []
    private let width: Int
    /// Pairs of a label and its text.
    package typealias Rows = [(label: String, text: String)]

    /// - Parameters:
    ///   - groups: the subcommands, with a title for each group.
    ///   - closing: the last line.
    package init(
        _ command: String, _ help: CommandHelp, _ items: [Description], aliases: [String] = [],
        groups: [(title: String, rows: Rows)] = [], statuses: Rows = [], closing: String = "", width: Int = 80
    ) {
        self.width = width
        paragraph(help.abstract)
        for block in help.prose.split(separator: "") {
            let paragraph = block.prefix { !$0.hasPrefix(" ") }
            add("")
            self.paragraph(paragraph.joined(separator: " "))
            block.dropFirst(paragraph.count).forEach { add($0) }
        }
        let arguments = items.filter { !$0.isOption }
        let usage =
            arguments.map { item in
                let text = item.label + (item.isRepeating ? "..." : "")
                return item.isOptional ? "[\(text)]" : text
            } + [groups.isEmpty ? "[options]" : "<command> [options]"]
        section("USAGE", wrapped("  \(command) \(help.usage ?? usage.joined(separator: " "))", width: width))
        section("ALIASES", aliases.map { "  \($0)" })
        for group in groups { section(group.title, rows: group.rows) }
        section("ARGUMENTS", rows: arguments.map { ($0.label, $0.summary) })
        section(
            "OPTIONS",
            rows: items.filter(\.isOption).map { item in
                ((item.short.map { "-\($0), " } ?? "    ") + item.label, item.summary)
            })
        // Examples are not wrapped, because users copy them.
        section("EXAMPLES", help.examples)
        section("EXIT STATUS", rows: statuses)
        if !closing.isEmpty {
            add("")
            paragraph(closing)
        }
    }

    /// The page without styles.
    package var text: String { lines.map { $0.text + "\n" }.joined() }

    private mutating func add(_ text: String) { lines.append((text, false)) }
    private mutating func paragraph(_ text: String) { wrapped(text, width: width).forEach { add($0) } }

    private mutating func section(_ title: String, _ body: [String]) {
        guard !body.isEmpty else { return }
        lines += [("", false), (title, true)] + body.map { ($0, false) }
    }

    /// Adds labels and texts. A text is below its label if the label is wider than 26 columns or the terminal narrow.
    private mutating func section(_ title: String, rows: Rows) {
        let column = 4 + (rows.map { displayWidth(of: $0.label) }.filter { $0 <= 26 }.max() ?? 0)
        let isNarrow = width < column + 24
        let indentation = String(repeating: " ", count: isNarrow ? 6 : column)
        section(
            title,
            rows.flatMap { label, text in
                let lines = wrapped(text, width: max(1, width - indentation.count))
                let isBeside = !isNarrow && displayWidth(of: label) + 4 <= column
                let first =
                    isBeside
                    ? padded("  \(label)", toColumns: column) + (lines.first ?? "")
                    : "  \(isNarrow ? label.drop { $0 == " " } : label[...])"
                return [first] + lines.dropFirst(isBeside ? 1 : 0).map { indentation + $0 }
            })
    }
}
