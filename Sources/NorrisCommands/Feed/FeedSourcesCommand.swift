import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedSourcesCommand: SessionCommand {
    static let name = "sources"
    static let help = CommandHelp(
        "List the sources of posts.",
        """
        Tab-separated in a pipe: name, kind, posts, unread posts, state, address. Passwords and queries of addresses
        are left out.

        Examples:
          norrisctl feed sources
          norrisctl feed sources | cut -f 1
        """)

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(PostSources.self)
        let sources = reply.value.items
        return session.report(
            reply, nothing: sources.isEmpty ? "No feed is configured. Add one: norrisctl feed add URL" : nil
        ) { $0.sources(sources, now: session.system.now) }
    }
}

struct FeedRemoveCommand: SessionCommand {
    static let name = "remove"
    static let aliases = ["rm"]
    static let help = CommandHelp(
        "Remove a source that norrisctl feed add has added.",
        """
        Deletes the file sources.d/NAME.yaml beside the configuration file, and reloads. Sources in the configuration
        file itself are removed with norrisctl config edit.

        Examples:
          norrisctl feed remove planet
        """)
    static var statuses: [ExitStatus] {
        [.done, .nothing, .usage, .unavailable, .inputOutput, .temporary, .notPermitted]
    }
    static let hasFields = false

    private var source = ""

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.addedSource, "The name of the source.") {
            source = $0
            return true
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let folder = try SourceFolder(session, command: ["feed", "remove", source])
        // Another name cannot be a file in the folder.
        guard NewSource.isName(source), folder.contains(source) else {
            let sources = try session.call(ServerStatus.self).value.sources
            guard sources.contains(where: { $0.name.hasSameBytes(as: source) }) else {
                throw Failure(
                    .nothing, "There is no source \(source.quotedForMessage).",
                    hint: "List the sources: \(command: "norrisctl feed sources")")
            }
            throw Failure(
                .usage, "The source \(source) is in the configuration file, which norrisctl does not change by itself.",
                hint: "Remove it there: \(command: "norrisctl config edit")")
        }
        try folder.delete(source)
        do throws(Failure) { _ = try session.call(ServerReload.self) } catch {
            var failure = error
            failure.steps.append("The file was deleted. To apply that: norrisctl reload")
            throw failure
        }
        return session.report(["name": .string(source), "path": .string(folder.file(source))] as JSON) {
            $0.line("removed: \(source)")
        }
    }
}
