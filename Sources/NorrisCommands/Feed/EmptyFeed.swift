import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// The reason for an empty feed, with advice.
struct EmptyFeed {
    let request: PostList.Parameters
    let allSources: [SourceStatus]
    /// Whether the user's rules hide all posts.
    var isHidden = false

    /// A message with the lines of advice below it.
    typealias Note = (text: Advice, hints: [Advice])

    /// The requested source, or all sources of posts.
    private var sources: [SourceStatus] {
        allSources.filter { $0.hasPosts && (request.source?.hasSameBytes(as: $0.name) ?? true) }
    }

    /// Reports the reason for an empty list. Text output takes a second call.
    static func report(
        _ session: Session, _ reply: Reply<Page<Post>>, _ request: PostList.Parameters
    ) throws(Failure) -> Report {
        let status = status(reply.value.freshness)
        guard !session.settings.json else { return Report(json: reply.json, status: status) }
        let sources = try session.call(ServerStatus.self).value.sources
        var feed = EmptyFeed(request: request, allSources: sources)
        let isWhole = request.filters.allSatisfy { ["source", "tag"].contains($0.name) }
        if isWhole, feed.sources.contains(where: { $0.items > 0 }) {
            feed.isHidden = (try? session.call(MuteList.self))?.value.items.isEmpty == false
        }
        var report = Report(status: status)
        for note in feed.notes(now: session.system.now) {
            report.note(note.text)
            note.hints.forEach { report.hint($0) }
        }
        return report
    }

    /// Returns the status of an empty cache if no fetch has ever succeeded, else the status of an empty list.
    static func status(_ freshness: Freshness?) -> ExitStatus {
        guard let freshness, freshness.origin == .none, let error = freshness.error else { return .nothing }
        return ExitStatus(.nothingCached("", source: "posts", lastError: error))
    }

    func notes(now: Timestamp) -> [Note] {
        guard !sources.isEmpty else { return [Self.nothingConfigured] }
        let failing: [Note] = sources.compactMap { source in
            source.freshness.error.map { ("\(value: source.name): \(value: $0.outlook(now: now))", []) }
        }
        guard sources.allSatisfy({ $0.items == 0 }) else { return failing + [nothingMatches] }
        if sources.contains(where: { $0.freshness.fetchedAt != nil }) {
            return failing + [("No posts: the feeds were fetched and are empty.", [])]
        }
        guard failing.isEmpty else {
            return failing + [("No posts: nothing could be fetched yet.", ["Try now: \(refresh)"])]
        }
        if sources.allSatisfy({ !$0.isEnabled }) {
            let hint: Advice =
                "Remove enabled: false from the configuration (norrisctl config path), then: norrisctl reload"
            return [("No posts: all sources are disabled.", [hint])]
        }
        return [("No posts: nothing fetched yet.", ["Fetch now: \(refresh)"])]
    }

    private static let nothingConfigured: Note = (
        "No posts: no feed is configured.",
        [
            "Add one: norrisctl feed add https://planet.debian.org/rss20.xml",
            "Add many: norrisctl feed import FILE.opml",
        ]
    )

    private var nothingMatches: Note {
        let tag = request.tag.map { " with the tag \($0.quotedForMessage)" } ?? ""
        let suffix = request.source.map { " of \($0.quotedForMessage)" } ?? tag
        let filters = request.filters.map(\.name).filter { $0 != "source" && $0 != "tag" }
        if isHidden { return ("Your rules hide all posts\(value: suffix).", ["Show them: \(feed("--muted"))"]) }
        // Posts existed a moment ago, or exist now.
        if filters.isEmpty { return ("No posts\(value: suffix) any more.", ["Start again: norrisctl feed"]) }
        if filters == ["unread"] {
            return ("All posts\(value: suffix) are read.", ["Show them again: \(feed())"])
        }
        let author = request.author.map { " by \($0.quotedForMessage)" } ?? ""
        let options = filters.map { "--\($0)" }.joined(separator: " or ")
        return (
            "No \(value: request.unread ? "unread " : "")post\(value: suffix)\(value: author).",
            ["Leave out \(value: options), or list all posts: norrisctl feed"]
        )
    }

    private var refresh: Advice {
        let words = ["norrisctl", "refresh"] + [request.source].compactMap { $0 } + ["--wait"]
        return "\(command: shellCommand(words) ?? "norrisctl refresh --wait")"
    }

    private func feed(_ flags: String...) -> Advice {
        let words = ["norrisctl", "feed"] + optionWords(("--source", request.source), ("--tag", request.tag)) + flags
        return "\(command: shellCommand(words) ?? "norrisctl feed")"
    }
}
