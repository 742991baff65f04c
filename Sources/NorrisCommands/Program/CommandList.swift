package import NorrisArguments

/// The declarations of all commands, for norrisctl(1).
package enum CommandList {
    package typealias Command = (name: String, aliases: [String], help: CommandHelp, items: [Description])

    /// The commands by their full names. `feed` is a command by itself and has subcommands.
    static var types: [(name: String, type: any SessionCommand.Type)] {
        Norrisctl.commands.flatMap { command in
            [(command.name, command)] + command.commands.map { ("\(command.name) \($0.name)", $0) }
        }
    }

    package static var all: [Command] { types.map { ($0.name, $0.type.aliases, $0.type.help, items(of: $0.name)) } }

    /// The options of every command.
    package static var options: [Description] { items(of: "") }

    package static var statuses: [(status: Int32, meaning: String)] {
        ExitStatus.allCases.map { ($0.rawValue, $0.meaning) }
    }

    private static func items(of command: String) -> [Description] {
        var invocation = Invocation(command.split(separator: " ").map(String.init), isLenient: true)
        // Fails only for a command that does not exist.
        try? invocation.parse()
        return invocation.descriptions
    }
}
