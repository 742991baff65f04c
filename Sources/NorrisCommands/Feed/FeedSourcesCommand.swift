import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedSourcesCommand: SessionCommand {
    static let name = "sources"
    static let help = CommandHelp(
        "List the sources of posts.",
        """
        Tab-separated in a pipe: name, kind, posts, unread posts, state, address, tags, title, time of the newest post,
        posts a week, consecutive failures, new address. Only administrators see passwords and queries of addresses.

        Examples:
          norrisctl feed sources
          norrisctl feed sources --failing
          norrisctl feed sources --silent 90d
          norrisctl feed sources | cut -f 1
        """)

    private var tag: String?
    private var isFailing = false
    /// In seconds.
    private var silence: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option(&tag, "tag", .tag, "Only the sources with this tag.")
        arguments.flag(&isFailing, "failing", "Only the sources that fail.")
        arguments.age(&silence, "silent", "Only the sources without a post for this long, such as 90d.")
    }

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(PostSources.self, PostSources.Parameters(tag: tag))
        var sources = reply.value.items
        let nothing: Advice =
            sources.isEmpty
            ? "No feed is configured. Add one: norrisctl feed add URL"
            : "No source matches. List all: norrisctl feed sources"
        if isFailing { sources = sources.filter { $0.freshness.error != nil } }
        if let silence {
            let before = session.system.now.advanced(by: .seconds(-silence))
            sources = sources.filter { ($0.newestAt ?? before) <= before }
        }
        // The reply has all sources.
        let isWhole = sources.count == reply.value.items.count
        let json = isWhole ? reply.json : EncodedJSON(PostSources.Result(items: sources))
        return session.report(json, schema: PostSources.Result.schema, nothing: sources.isEmpty ? nothing : nil) {
            $0.sources(sources, now: session.system.now)
        }
    }
}

struct FeedRemoveCommand: SessionCommand {
    static let name = "remove"
    static let aliases = ["rm"]
    static let help = CommandHelp(
        "Remove a source that norrisctl feed add has added.",
        """
        Removes the source and its posts; favorites of posts stay. Sources in the configuration are removed there; see
        norrisctl config path.

        Examples:
          norrisctl feed remove planet
        """)
    static let hasFields = false

    private var source = ""

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&source, .addedSource, "The name of the source.")
    }

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(SourceRemove.self, SourceRemove.Parameters(name: source))
        guard reply.value.removed else {
            throw Failure(
                .nothing, "There is no source \(source.quotedForMessage).",
                hint: "List the sources: \(command: "norrisctl feed sources")")
        }
        return session.report(reply) { $0.line("removed: \(source)") }
    }
}
