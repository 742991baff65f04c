import ArgumentParser
import NorrisTerminal
import NorrisText

/// What `--help` prints, in the order of gh(1): what the command does, how it is used, the commands in groups, options,
/// examples and exit statuses.
///
/// Names, arguments and options come from ArgumentParser (``CommandGrammar``); prose and examples from the
/// `discussion` of the command's configuration, which ends with a line `Examples:` and lines of examples.
struct HelpPage {
    private let command: any SessionCommand.Type
    private let grammar: CommandGrammar
    private let width: Int
    private var screen: Screen

    init(_ command: any SessionCommand.Type, layout: Layout) {
        self.command = command
        grammar = CommandGrammar(command)
        // Longer lines are hard to read.
        width = min(layout.width ?? 80, 100)
        screen = Screen(layout: Layout(width: width, usesEscapes: layout.usesEscapes))
        let configuration = command.configuration
        let lines = configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let prose = lines.prefix { $0 != "Examples:" }

        screen.paragraph(configuration.abstract)
        addProse(prose)
        addUsage()
        section("ALIASES", configuration.aliases.map { "  \(parent)\($0)" })
        addCommands()
        section("ARGUMENTS", rows: grammar.positionals.map { ($0.label, $0.summary) })
        let isProgram = command == Norrisctl.self
        section("OPTIONS", rows: grammar.options.filter { isProgram || !$0.isGlobal }.map { ($0.label, $0.summary) })
        if !isProgram {
            let rows = grammar.options.filter(\.isGlobal).map { ($0.label, $0.summary) }
            section("OPTIONS OF EVERY COMMAND", rows: rows)
        }
        // As they are, however long: they are to be copied.
        section("EXAMPLES", Array(lines.dropFirst(prose.count + 1)))
        section("EXIT STATUS", rows: command.statuses.map { ("\($0.rawValue)", $0.meaning) })
        if isProgram {
            screen.line()
            screen.paragraph("More about a command: norrisctl <command> --help. The manual: man norrisctl")
        }
    }

    var text: String { screen.text }

    /// What stands before the name of the command, with a space behind it.
    private var parent: String { command.configuration._superCommandName.map { "\($0) " } ?? "" }

    private mutating func section(_ title: String, _ lines: [String]) {
        guard !lines.isEmpty else { return }
        screen.line()
        screen.line(title, .bold)
        lines.forEach { screen.line($0) }
    }

    /// A section of labels with a text beside each; below it where the label is long or the terminal narrow.
    private mutating func section(_ title: String, rows: [(label: String, text: String)]) {
        let column = 4 + (rows.map { displayWidth(of: $0.label) }.filter { $0 <= 26 }.max() ?? 0)
        let isNarrow = width < column + 24
        section(title, rows.flatMap { label, text in
            let lines = wrapped(text, width: max(1, width - (isNarrow ? 6 : column)))
            let isBeside = !isNarrow && displayWidth(of: label) + 4 <= column
            let first = isBeside ? padded("  \(label)", toColumns: column) + (lines.first ?? "")
                : "  \(isNarrow ? label.drop { $0 == " " } : label[...])"
            let indentation = String(repeating: " ", count: isNarrow ? 6 : column)
            return [first] + lines.dropFirst(isBeside ? 1 : 0).map { indentation + $0 }
        })
    }

    /// Paragraphs, which are wrapped, each with the indented lines below it as they are.
    private mutating func addProse(_ lines: ArraySlice<String>) {
        for block in lines.split(separator: "") {
            let paragraph = block.prefix { !$0.hasPrefix(" ") }
            screen.line()
            screen.paragraph(paragraph.joined(separator: " "))
            block.dropFirst(paragraph.count).forEach { screen.line($0) }
        }
    }

    private mutating func addUsage() {
        let arguments = grammar.positionals.map(\.usage) + (command.subcommands.isEmpty ? [] : ["<command>"])
        let name = parent + command.word
        let usage = command.configuration.usage ?? ([name] + arguments + ["[options]"]).joined(separator: " ")
        section("USAGE", usage.split(separator: "\n").flatMap { wrapped("  \($0)", width: width) })
    }

    private mutating func addCommands() {
        let groups = command == Norrisctl.self ? Norrisctl.groups : [("COMMANDS", command.subcommands)]
        for (title, commands) in groups {
            section(title, rows: commands.map { ($0.word, $0.configuration.abstract) })
        }
    }
}

extension CommandGrammar.Positional {
    fileprivate var label: String { "<\(name)>" }

    fileprivate var usage: String {
        let text = label + (isRepeating ? "..." : "")
        return isOptional ? "[\(text)]" : text
    }
}

extension CommandGrammar.Option {
    /// `-n, --count <n>`, or with room for the short name.
    fileprivate var label: String {
        // ``Invocation`` knows that one, ArgumentParser does not.
        let short = names.first { !$0.hasPrefix("--") } ?? (name == "--version" ? "-V" : nil)
        return (short.map { "\($0), " } ?? "    ") + name + (takesValue ? " <\(valueName)>" : "")
    }
}

extension ExitStatus {
    /// What a help page says of it.
    fileprivate var meaning: String {
        switch self {
        case .done: "done"
        case .nothing: "nothing matched"
        case .usage: "wrong usage"
        case .unavailable: "norrisd or another program is not available"
        case .internalError: "internal error"
        case .inputOutput: "a file cannot be read or written"
        case .temporary: "try again later"
        case .notPermitted: "not permitted"
        case .configuration: "the configuration has a fault or lacks a key"
        }
    }
}
