import NorrisText

/// The texts of a help page that do not follow from declarations.
package struct CommandHelp {
    /// One sentence.
    package let abstract: String
    /// The words behind the command in the usage; nil for its arguments and `[options]`.
    package let usage: String?
    /// Paragraphs, each with the indented lines below it as they are.
    package let prose: [Substring]
    /// Command lines, indented.
    package let examples: [Substring]

    /// - Parameter text: prose, and behind a line `Examples:` the examples.
    package init(_ abstract: String, usage: String? = nil, _ text: String) {
        (self.abstract, self.usage) = (abstract, usage)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        prose = Array(lines.prefix { $0 != "Examples:" })
        examples = Array(lines.dropFirst(prose.count + 1))
    }
}

/// A help page in the order of gh(1): what the command does, its usage, the commands in groups, arguments, options,
/// examples and exit statuses. Built only when it is shown.
package struct HelpPage {
    package private(set) var lines: [(text: String, isHeading: Bool)] = []
    private let width: Int

    /// Rows of a section: labels with a text beside each.
    package typealias Rows = [(label: String, text: String)]

    /// - Parameters:
    ///   - command: its full name.
    ///   - groups: the commands behind it.
    ///   - closing: the last line.
    ///   - width: in columns.
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
            block.dropFirst(paragraph.count).forEach { add(String($0)) }
        }
        let arguments = items.filter { !$0.isOption }
        let usage = help.usage ?? (arguments.map(\.usage) + [groups.isEmpty ? "[options]" : "<command> [options]"])
            .joined(separator: " ")
        section("USAGE", wrapped("  \(command) \(usage)", width: width))
        section("ALIASES", aliases.map { "  \($0)" })
        for group in groups { section(group.title, rows: group.rows) }
        section("ARGUMENTS", rows: arguments.map { ($0.label, $0.summary) })
        section("OPTIONS", rows: items.filter(\.isOption).map { item in
            ((item.short.map { "-\($0), " } ?? "    ") + item.label, item.summary)
        })
        // Examples are not wrapped, because users copy them.
        section("EXAMPLES", help.examples.map { String($0) })
        section("EXIT STATUS", rows: statuses)
        guard !closing.isEmpty else { return }
        add("")
        paragraph(closing)
    }

    /// The page without styles.
    package var text: String { lines.map { $0.text + "\n" }.joined() }

    private mutating func add(_ text: String) { lines.append((text, false)) }

    private mutating func paragraph(_ text: String) { wrapped(text, width: width).forEach { add($0) } }

    private mutating func section(_ title: String, _ body: [String]) {
        guard !body.isEmpty else { return }
        lines += [("", false), (title, true)]
        body.forEach { add($0) }
    }

    /// The text stands below its label if the label is long or the terminal narrow.
    private mutating func section(_ title: String, rows: Rows) {
        let column = 4 + (rows.map { displayWidth(of: $0.label) }.filter { $0 <= 26 }.max() ?? 0)
        let isNarrow = width < column + 24
        let indentation = String(repeating: " ", count: isNarrow ? 6 : column)
        section(title, rows.flatMap { label, text in
            let lines = wrapped(text, width: max(1, width - indentation.count))
            let isBeside = !isNarrow && displayWidth(of: label) + 4 <= column
            let first = isBeside ? padded("  \(label)", toColumns: column) + (lines.first ?? "")
                : "  \(isNarrow ? label.drop { $0 == " " } : label[...])"
            return [first] + lines.dropFirst(isBeside ? 1 : 0).map { indentation + $0 }
        })
    }
}

extension Description {
    /// `<query>...`, in brackets if it may be left out.
    fileprivate var usage: String {
        let text = label + (isRepeating ? "..." : "")
        return isOptional ? "[\(text)]" : text
    }
}
