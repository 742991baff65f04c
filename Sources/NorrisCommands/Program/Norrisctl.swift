package import NorrisArguments
import NorrisProtocol

/// The program without a command, and the list of commands.
struct Norrisctl: SessionCommand {
    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void) {
        visit("READ", FactCommand.self)
        visit("READ", SearchCommand.self)
        visit("READ", CategoriesCommand.self)
        visit("READ", GifCommand.self)
        visit("READ", FeedCommand.self)
        visit("READ", PostCommand.self)
        visit("READ", NextCommand.self)
        visit("READ", ReadCommand.self)
        visit("READ", UnreadCommand.self)
        visit("READ", RecentCommand.self)
        visit("KEEP AND SHARE", FavoriteCommand.self)
        visit("KEEP AND SHARE", CardCommand.self)
        visit("DAEMON", StatusCommand.self)
        visit("DAEMON", DoctorCommand.self)
        visit("DAEMON", WatchCommand.self)
        visit("DAEMON", RefreshCommand.self)
        visit("DAEMON", ClearCacheCommand.self)
        visit("DAEMON", ConfigCommand.self)
        visit("DAEMON", ReloadCommand.self)
        visit("DAEMON", CallCommand.self)
        visit("SHELL", InitCommand.self)
        visit("SHELL", PromptCommand.self)
        visit("SHELL", CompletionCommand.self)
    }

    static let version = "norrisctl \(NorrisVersion.current) (protocol \(ServerInfo.protocolVersion))"

    static let name = "norrisctl"
    static let help = CommandHelp(
        "Show Chuck Norris facts, GIFs and posts of your feeds, which the daemon norrisd fetches and caches.",
        """
        Examples:
          norrisctl fact --category dev
          norrisctl search light
          norrisctl gif round house kick
          norrisctl feed --unread
          norrisctl doctor
        """)
    func run(in session: Session) -> Report { Welcome(session).report }
}

/// A command: parsed without access to the system, then run in a session, which tests replace.
protocol SessionCommand: Sendable {
    /// The last word of the command.
    static var name: String { get }
    static var aliases: [String] { get }
    static var help: CommandHelp { get }
    /// Calls `visit` with each command of a group, in the order of the help. An array would add the creation of its
    /// metadata to each start.
    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void)
    /// The command that a user probably meant with an unknown subcommand; nil if the command cannot guess.
    static func correction(of word: String) -> String?
    /// Whether the arguments are ids, which may begin with a dash.
    static var takesIDs: Bool { get }
    /// Whether the result has fields for `--format`.
    static var hasFields: Bool { get }

    init()

    /// Declares all options and arguments except ``Settings``.
    mutating func declare(_ arguments: inout CommandArguments)

    /// Refuses invalid combinations of options and arguments.
    func validate(_ settings: Settings) throws(UsageError)

    func run(in session: Session) throws(Failure) -> Report
}

extension SessionCommand {
    static var aliases: [String] { [] }
    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void) {}

    static func correction(of word: String) -> String? { nil }

    /// The commands of a group; empty for other commands.
    static var commands: [any SessionCommand.Type] {
        var commands: [any SessionCommand.Type] = []
        visitCommands { commands.append($1) }
        return commands
    }

    static var takesIDs: Bool { false }
    static var hasFields: Bool { true }

    func declare(_ arguments: inout CommandArguments) {}
    func validate(_ settings: Settings) throws(UsageError) {}
}

/// A command that only contains other commands, such as `favorite`.
protocol CommandGroup: SessionCommand {}

extension CommandGroup {
    func run(in session: Session) throws(Failure) -> Report {
        let names = alternatives(Self.commands.map { $0.name })
        throw Failure(
            .usage, "\(Self.name) needs a command: \(names).", hint: "See 'norrisctl \(value: Self.name) --help'.")
    }
}

/// The declarations of all commands, for norrisctl(1).
package enum CommandList {
    /// The commands by their full names. `feed` is a command by itself and has subcommands.
    static var types: [(name: String, type: any SessionCommand.Type)] {
        Norrisctl.commands.flatMap { command in
            [(command.name, command)] + command.commands.map { ("\(command.name) \($0.name)", $0) }
        }
    }

    package static var all: [(name: String, aliases: [String], help: CommandHelp, items: [Description])] {
        types.map { ($0.name, $0.type.aliases, $0.type.help, items(of: $0.name)) }
    }

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
