package import NorrisArguments
import NorrisProtocol

/// The program without a command, and the list of commands.
struct Norrisctl: SessionCommand {
    static var groups: [(title: String, commands: [any SessionCommand.Type])] {
        [
            (
                "READ",
                [
                    FactCommand.self, SearchCommand.self, CategoriesCommand.self, GifCommand.self, FeedCommand.self,
                    PostCommand.self, NextCommand.self, ReadCommand.self, UnreadCommand.self, MuteCommand.self,
                    RecentCommand.self,
                ]
            ),
            ("KEEP AND SHARE", [FavoriteCommand.self, CardCommand.self]),
            (
                "DAEMON",
                [
                    StatusCommand.self, DoctorCommand.self, WatchCommand.self, RefreshCommand.self,
                    ClearCacheCommand.self, ConfigCommand.self, ReloadCommand.self, CallCommand.self,
                ]
            ),
            ("SHELL", [InitCommand.self, PromptCommand.self, CompletionCommand.self]),
        ]
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

    static func correction(of word: String) -> String? {
        switch word {
        case "sources", "tags": "feed sources"
        case "add": "feed add URL"
        case "import", "export": "feed \(word)"
        case "list", "ls": "feed"
        case "unmute": "mute --remove N"
        case "joke", "jokes": "fact"
        default: nil
        }
    }

    func run(in session: Session) -> Report { Welcome(session).report }
}

/// A command: parsed without access to the system, then run in a session, which tests replace.
protocol SessionCommand: Sendable {
    /// The last word of the command.
    static var name: String { get }
    static var aliases: [String] { get }
    static var help: CommandHelp { get }
    /// The subcommands with the headings of the help, in its order; empty for other commands.
    static var groups: [(title: String, commands: [any SessionCommand.Type])] { get }
    /// The command line that a user probably meant with an unknown subcommand, option (`--all`) or value (`--in gif`)
    /// that resembles no valid one; nil if the command cannot guess.
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
    static var groups: [(title: String, commands: [any SessionCommand.Type])] { [] }
    static var commands: [any SessionCommand.Type] { groups.flatMap(\.commands) }

    static func correction(of word: String) -> String? { nil }

    static var takesIDs: Bool { false }
    static var hasFields: Bool { true }

    func declare(_ arguments: inout CommandArguments) {}
    func validate(_ settings: Settings) throws(UsageError) {}
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
