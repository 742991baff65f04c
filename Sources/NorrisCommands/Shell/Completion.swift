import ArgumentParser

/// What a shell's completion script asks for: the words that may stand at the cursor.
///
/// The script runs `norrisctl ---complete norrisctl WORD...` with the words of the line up to the cursor. The last one
/// stands at the cursor, and may be empty or a beginning. The answer is a word a line, with a tab and a summary where
/// there is one, or the one line `/` for the names of files. Words that do not begin like the one at the cursor are
/// among them, for shells have ways of their own to match. In `--category=d` the words are those behind the `=`.
struct Completion {
    /// The first argument of such a call, which is no option of any command.
    static let request = "---complete"

    private let line: TypedLine
    /// The word at the cursor.
    private let current: String
    private let session: Session

    /// - Parameter words: with the program's name.
    init(words: [String], system: System) {
        line = TypedLine(Array(words.dropFirst().dropLast()))
        current = words.count > 1 ? words[words.count - 1] : ""
        var settings = Settings()
        settings.socket = line.socket
        settings.timeout = .completion
        session = Session(settings: settings, system: system)
    }

    /// Never an error, nor a word about one: while a line is being typed is no time for that.
    func report() -> Report {
        var report = Report()
        if let argument {
            let words = ArgumentWords(argument, of: line.command, positionals: line.positionals)
            report.output = words == .files ? Array("/\n".utf8) : Self.lines(words.map(session.words) ?? [])
        } else if isOption || line.commands.isEmpty {
            report.output = Self.lines(options)
        } else {
            report.output = Self.lines(commands)
        }
        return report
    }

    private var isOption: Bool { !line.isTerminated && current.utf8.first == UInt8(ascii: "-") }

    /// The argument that stands at the cursor; nil where a command or an option does.
    private var argument: String? {
        if let option = line.pending { return option.name }
        if isOption {
            guard let end = current.firstIndex(of: "=") else { return nil }
            return line.grammar?.option(current[..<end])?.name
        }
        return line.commands.isEmpty ? line.grammar?.positional(at: line.positionals.count)?.name : nil
    }

    private var commands: [CompletionWord] {
        line.commands.compactMap { command in
            command.configuration.commandName.flatMap {
                CompletionWord($0, summary: command.configuration.abstract)
            }
        }
    }

    /// Those that may stand in the line yet.
    private var options: [CompletionWord] {
        guard let grammar = line.grammar, !line.isTerminated, !current.contains("=") else { return [] }
        return grammar.options.filter { $0.isRepeating || !line.options.contains($0.name) }.compactMap {
            CompletionWord($0.name, summary: $0.summary)
        }
    }

    private static func lines(_ words: [CompletionWord]) -> [UInt8] {
        Array(words.map { $0.summary.isEmpty ? "\($0.text)\n" : "\($0.text)\t\($0.summary)\n" }.joined().utf8)
    }
}

/// A command line up to the word at the cursor, taken apart.
struct TypedLine {
    /// The words of the command so far: none, one, or two behind a group.
    let command: [String]

    /// The commands of which the next word may be one.
    private(set) var commands: [any SessionCommand.Type] = []

    /// nil where there is no such command.
    private(set) var grammar: CommandGrammar?

    /// The arguments before the cursor that are known by their position.
    private(set) var positionals: [String] = []

    /// The names of the options before the cursor.
    private(set) var options: Set<String> = []

    /// The value of `--socket`.
    private(set) var socket: String?

    /// The option whose value stands at the cursor, in a word of its own.
    private(set) var pending: CommandGrammar.Option?

    /// Whether `--` has ended the options.
    private(set) var isTerminated = false

    /// - Parameter words: those before the word at the cursor, without the program's name.
    init(_ words: [String]) {
        let invocation = Invocation(words)
        command = invocation.words
        if command == ["help"] {
            let topic = Invocation(invocation.arguments)
            commands = topic.words.isEmpty ? Norrisctl.commands : topic.command?.subcommands ?? []
        } else if command.isEmpty {
            commands = Norrisctl.commands
            grammar = CommandGrammar(Norrisctl.self)
        } else if let type = invocation.command {
            commands = type.subcommands
            grammar = CommandGrammar(type)
        }
        for argument in invocation.arguments {
            take(argument)
        }
    }

    private mutating func take(_ argument: String) {
        if let option = pending {
            pending = nil
            take(argument, for: option)
        } else if isTerminated || argument.utf8.first != UInt8(ascii: "-") || argument == "-" {
            positionals.append(argument)
        } else if argument == "--" {
            isTerminated = true
        } else {
            let name = argument.prefix { $0 != "=" }
            guard let option = grammar?.option(name) else { return }
            options.insert(option.name)
            guard option.takesValue else { return }
            if name.endIndex == argument.endIndex {
                pending = option
            } else {
                take(String(argument[name.endIndex...].dropFirst()), for: option)
            }
        }
    }

    private mutating func take(_ value: String, for option: CommandGrammar.Option) {
        if option.name == "--socket" {
            socket = value
        }
    }
}
