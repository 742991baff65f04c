import ArgumentParser

/// A command: parsed without touching the system, then run against a session, which tests can make up.
protocol SessionCommand: ParsableCommand {
    var globals: GlobalOptions { get }

    func run(in session: Session) throws(Failure) -> Report
}

extension CommandConfiguration {
    /// The configuration of one of norrisctl's commands.
    ///
    /// Each command is parsed as a root of its own (see `Invocation`), so it carries the version and its full name.
    /// Naming the program above it also spares ArgumentParser two parses in search of its own completion options.
    static func command(
        _ name: String,
        abstract: String,
        usage: String,
        discussion: String
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name,
            _superCommandName: "norrisctl",
            abstract: abstract,
            usage: "norrisctl \(name)" + (usage.isEmpty ? "" : " \(usage)"),
            discussion: discussion,
            version: Norrisctl.version
        )
    }
}
