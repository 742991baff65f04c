/// A command line up to the word at the cursor, taken apart.
struct TypedLine {
    /// The words of the command so far: none, one, or two behind a group.
    let command: [String]

    /// The commands of which the next word may be one.
    private(set) var commands: [any SessionCommand.Type] = []

    /// nil where there is no such command.
    private(set) var grammar: CommandGrammar?

    /// The arguments before the cursor that are known by their place.
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
