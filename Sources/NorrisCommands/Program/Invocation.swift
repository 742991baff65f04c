import NorrisArguments
import NorrisProtocol
import NorrisTerminal

/// A parsed command line: the command and the settings.
struct Invocation {
    private(set) var settings = Settings()
    private(set) var command: any SessionCommand = Norrisctl()
    /// The names of the program and the command.
    private(set) var path = [Norrisctl.name]
    private(set) var arguments: CommandArguments

    init(_ words: [String], isLenient: Bool = false) {
        arguments = CommandArguments(words)
        arguments.isLenient = isLenient
    }

    var name: String { path.joined(separator: " ") }

    mutating func parse() throws(UsageError) {
        var (settings, command, path) = (settings, command, path)
        defer { (self.settings, self.command, self.path) = (settings, command, path) }
        try arguments.parse { arguments in
            // Settings declare no positional arguments.
            if arguments.isOption { settings.declare(&arguments) }
            command.declare(&arguments)
        } word: { word throws(UsageError) in
            let group = type(of: command)
            var isGroup = false
            var found: (any SessionCommand.Type)?
            group.visitCommands { _, type in
                isGroup = true
                if found == nil, type.name == word { found = type }
            }
            if !isGroup { return .surplus }
            if word == "help" { return .help }
            guard let type = found ?? group.commands.first(where: { $0.aliases.contains(word) }) else {
                let words = path.dropFirst() + [word]
                let meant = suggestion(of: group.commands.map { $0.name } + ["help"], for: word) {
                    (path + [$0]).joined(separator: " ")
                }
                if meant.isEmpty, let guess = group.correction(of: word) {
                    throw UsageError(
                        "Unexpected argument '\(word)'. Did you mean 'norrisctl \(guess)'?")
                }
                throw UsageError("Unknown command \(words.joined(separator: " ").quotedForMessage).\(meant)")
            }
            command = type.init()
            path.append(type.name)
            return .command(takesIDs: type.takesIDs)
        }
    }

    /// Refuses invalid combinations of options and arguments.
    func check() throws(UsageError) {
        if settings.json, settings.format != nil { throw UsageError("--json and --format exclude each other.") }
        if settings.format != nil, !type(of: command).hasFields {
            throw UsageError("--format: there are no fields here.")
        }
        try command.validate(settings)
    }

    /// The options and arguments of the command. Without a command, the common options.
    var descriptions: [Description] {
        var (settings, command) = (settings, command)
        return CommandArguments.descriptions { path.count == 1 ? settings.declare(&$0) : command.declare(&$0) }
    }

    func helpPage(_ layout: Layout) -> String {
        let type = type(of: command)
        var groups: [(title: String, rows: HelpPage.Rows)] = []
        type.visitCommands { title, command in
            if groups.last?.title != title { groups.append((title, [])) }
            groups[groups.count - 1].rows.append((command.name, command.help.abstract))
        }
        // Longer lines are hard to read.
        let width = min(layout.width ?? 80, 100)
        let page = HelpPage(
            name, type.help, descriptions,
            aliases: type.aliases.map { (path.dropLast() + [$0]).joined(separator: " ") },
            groups: groups, statuses: type.statuses.map { ("\($0.rawValue)", $0.meaning) },
            closing: path.count > 1
                ? "Options of every command: norrisctl --help"
                : "More about a command: norrisctl <command> --help. The manual: man norrisctl", width: width)
        var screen = Screen(layout: Layout(width: width, usesEscapes: layout.usesEscapes))
        for line in page.lines { screen.line(line.text, line.isHeading ? .bold : .normal) }
        return screen.text
    }
}

extension ExitStatus {
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
