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
