import ArgumentParser
import NorrisProtocol

/// The program as a whole: what `norrisctl` alone does, and the list of commands.
struct Norrisctl: SessionCommand {
    /// In the order of the help.
    static let groups: [(title: String, commands: [any SessionCommand.Type])] = [
        (
            "READ",
            [
                FactCommand.self, SearchCommand.self, CategoriesCommand.self, GifCommand.self, FeedCommand.self,
                PostCommand.self, ReadCommand.self, RecentCommand.self,
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
    static let commands = groups.flatMap(\.commands)

    static let version = "norrisctl \(NorrisVersion.current) (protocol \(ServerInfo.protocolVersion))"

    static let configuration = CommandConfiguration(
        commandName: "norrisctl",
        abstract: "Show Chuck Norris facts, GIFs and posts of your feeds, which the daemon norrisd fetches and caches.",
        usage: "norrisctl <command> [options]",
        discussion: """
            Examples:
              norrisctl fact --category dev
              norrisctl search light
              norrisctl gif round house kick
              norrisctl feed --unread
              norrisctl doctor
            """,
        version: version,
        subcommands: commands
    )

    static var statuses: [ExitStatus] { ExitStatus.allCases }

    @OptionGroup var globals: GlobalOptions

    func run(in session: Session) -> Report {
        Welcome(session).report
    }
}

/// A command: parsed without touching the system, then run in a session, which tests can make up.
protocol SessionCommand: ParsableCommand {
    /// The exit statuses that its help names, in ascending order.
    static var statuses: [ExitStatus] { get }
    var globals: GlobalOptions { get }
    /// Whether its arguments are ids, which may begin with a dash.
    static var takesIDs: Bool { get }
    /// Whether its result has fields for `--format`.
    static var hasFields: Bool { get }

    func run(in session: Session) throws(Failure) -> Report
}

extension SessionCommand {
    /// Those of a command that shows what the daemon has.
    static var statuses: [ExitStatus] { [.done, .nothing, .usage, .unavailable, .temporary, .notPermitted] }

    /// Its last word.
    static var word: String { configuration.commandName ?? "" }

    static var takesIDs: Bool { false }

    static var hasFields: Bool { true }

    /// The commands of a group; empty for all others.
    static var subcommands: [any SessionCommand.Type] {
        configuration.subcommands.compactMap { $0 as? any SessionCommand.Type }
    }
}

extension CommandConfiguration {
    /// The configuration of one of norrisctl's commands.
    ///
    /// Each command is parsed as a root of its own (see `Invocation`), so it carries the version and its full name.
    /// Naming the program above it also spares ArgumentParser two parses in search of its own completion options.
    ///
    /// - Parameters:
    ///   - group: the command behind which this one is the second word.
    ///   - aliases: other names of it.
    ///   - usage: what stands behind the name; nil for the arguments and `[options]`.
    ///   - discussion: see ``HelpPage``.
    ///   - subcommands: makes it such a group.
    static func command(
        _ name: String, of group: String? = nil, aliases: [String] = [], abstract: String, usage: String? = nil,
        discussion: String, subcommands: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        let parent = group.map { "norrisctl \($0)" } ?? "norrisctl"
        return CommandConfiguration(
            commandName: name, _superCommandName: parent, abstract: abstract,
            usage: usage.map { "\(parent) \(name) \($0)" }, discussion: discussion,
            version: Norrisctl.version, subcommands: subcommands, aliases: aliases
        )
    }

    /// The words of the command behind the program's name.
    var fullName: [String] {
        let words = (_superCommandName ?? "").split(separator: " ").dropFirst().map(String.init)
        return words + [commandName ?? ""]
    }
}
