import ArgumentParser
import NorrisProtocol

/// The program as a whole: what `norrisctl` alone does, and the list of commands.
struct Norrisctl: SessionCommand {
    /// In the order of the help.
    static let commands: [any SessionCommand.Type] = [
        FactCommand.self, CategoriesCommand.self, SearchCommand.self, GifCommand.self, FeedCommand.self,
        PostCommand.self, ReadCommand.self, FavoriteCommand.self, RecentCommand.self, CardCommand.self,
        StatusCommand.self, WatchCommand.self, RefreshCommand.self, ReloadCommand.self, ClearCacheCommand.self,
        DoctorCommand.self, PromptCommand.self, InitCommand.self, CompletionCommand.self, CallCommand.self,
    ]

    static let version = "norrisctl \(NorrisVersion.current) (protocol \(ServerInfo.protocolVersion))"

    static let configuration = CommandConfiguration(
        commandName: "norrisctl",
        abstract: "Show facts, GIFs and posts from norrisd, the daemon that keeps them at hand.",
        usage: "norrisctl [options] <command>",
        discussion: """
            Examples:
              norrisctl fact --category dev
              norrisctl search light
              norrisctl gif round house kick
              norrisctl feed --unread
              norrisctl status

            Exit status:
              0   done
              1   nothing matched
              64  wrong usage
              69  norrisd cannot be reached, or is too old; or another program is missing
              70  internal error
              74  something cannot be written
              75  try again later
              77  not permitted
              78  the daemon's configuration lacks something
            """,
        version: version,
        subcommands: commands
    )

    @OptionGroup var globals: GlobalOptions

    func run(in session: Session) -> Report {
        Welcome(session).report
    }
}

/// A command: parsed without touching the system, then run in a session, which tests can make up.
protocol SessionCommand: ParsableCommand {
    var globals: GlobalOptions { get }
    /// Whether its arguments are ids, which may begin with a dash.
    static var takesIDs: Bool { get }

    func run(in session: Session) throws(Failure) -> Report
}

extension SessionCommand {
    static var takesIDs: Bool { false }

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
    ///   - subcommands: makes it such a group.
    static func command(
        _ name: String, of group: String? = nil, abstract: String, usage: String = "", discussion: String,
        subcommands: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        let parent = group.map { "norrisctl \($0)" } ?? "norrisctl"
        return CommandConfiguration(
            commandName: name, _superCommandName: parent, abstract: abstract,
            usage: "\(parent) \(name)" + (usage.isEmpty ? "" : " \(usage)"), discussion: filled(discussion),
            version: Norrisctl.version, subcommands: subcommands
        )
    }
}

/// A text with each paragraph on one line, for the help wraps it to the terminal; lines that begin with a blank stay.
private func filled(_ text: String) -> String {
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if let last = lines.last, !last.isEmpty, !last.hasPrefix(" "), !line.isEmpty, !line.hasPrefix(" ") {
            lines[lines.count - 1] += " " + line
        } else {
            lines.append(String(line))
        }
    }
    return lines.joined(separator: "\n")
}
