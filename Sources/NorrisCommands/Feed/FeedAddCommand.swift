import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedAddCommand: SessionCommand {
    static let name = "add"
    static let help = CommandHelp(
        "Add a feed, and show its newest post.",
        """
        Writes the file sources.d/NAME.yaml beside the configuration file, reloads, and waits for the first fetch.
        If the address is a web page that names a feed, norrisctl asks before using that feed. A source that cannot
        be reached now stays, and is fetched later.

        One Mastodon account is a feed: https://HOST/@NAME.rss.

        Examples:
          norrisctl feed add https://planet.debian.org/rss20.xml
          sudo norrisctl feed add https://planet.debian.org/rss20.xml --name planet --refresh 2h
          norrisctl feed add https://mastodon.example --kind mastodon
        """)
    static var statuses: [ExitStatus] {
        [
            .done, .nothing, .usage, .unavailable, .internalError, .inputOutput, .temporary, .notPermitted,
            .configuration,
        ]
    }
    static let hasFields = false
    private static let kinds = ["feed", "mastodon", "users-posts"]

    private var url = ""
    private var chosenName: String?, kind: String?, refresh: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.address, "The address of the feed, or of a web page that names its feed.") {
            url = $0
            return true
        }
        arguments.option(
            "name", .name, "The name of the source. (default: from the address)",
            takes: "1 to 40 characters of a-z, 0-9, _ and -"
        ) { NewSource.isName($0) && assign(&chosenName, $0) }
        arguments.option(
            "kind", .kind, "feed, mastodon or users-posts. (default: feed)", choices: Self.kinds
        ) { kind in
            let kind = ["rss", "atom"].contains(kind) ? "feed" : kind
            return Self.kinds.contains(kind) && assign(&self.kind, kind)
        }
        arguments.option(
            "refresh", .interval, "How often to fetch, such as 30m. (default: posts.refresh)",
            takes: "a whole number with a unit, such as 90s, 30m, 6h or 7d"
        ) { text in
            let isInterval =
                (2...10).contains(text.utf8.count) && text.utf8.dropLast().allSatisfy { 0x30...0x39 ~= $0 }
                && "smhd".utf8.contains(text.utf8.last ?? 0)
            return isInterval && assign(&refresh, text)
        }
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if NewSource.isAddress(url) { return }
        let guess = "https://\(url)"
        let isHost = url.contains(".") && !url.contains("://") && NewSource.isAddress(guess)
        throw UsageError(
            "\(url.quotedForMessage) is not an http or https address."
                + (isHost ? " Did you mean 'norrisctl feed add \(guess)'?" : ""))
    }

    /// The command line with another address.
    private func words(_ url: String) -> [String] {
        ["feed", "add", url]
            + optionWords(("--name", chosenName), ("--kind", kind), ("--refresh", refresh))
    }

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.forManyCalls
        let folder = try SourceFolder(session, command: words(url))
        let sources = try session.call(PostSources.self).value.items
        if let known = sources.first(where: { folder.url(of: $0).hasSameBytes(as: url) }) {
            var report = Report()
            report.note("You already have this feed: its name is \(known.name.quotedForMessage).")
            report.hint("Read it: norrisctl feed --source \(shellQuoted(known.name))")
            return report
        }
        let taken = Set(sources.map(\.name))
        if let chosenName, taken.contains(chosenName) || folder.contains(chosenName) {
            throw Failure(
                .usage, "There is a source \(chosenName.quotedForMessage) already.",
                hint: "Choose another --name, or remove it: norrisctl feed remove \(chosenName)")
        }
        let name = chosenName ?? freeName(folder, taken)
        var source = NewSource(name: name, url: url, kind: kind ?? "feed", refresh: refresh)
        var result = try add(source, to: folder, session)
        if case .failed(let failure) = result, let feed = failure.feedURL, source.kind == "feed" {
            let isNew = NewSource.isAddress(feed) && !feed.hasSameBytes(as: url)
            guard isNew, try accepts(feed, folder, source, session) else {
                folder.undo([name])
                var report = Report(status: .nothing)
                report.note("Nothing was added.")
                return report
            }
            source.url = feed
            result = try add(source, to: folder, replaced: true, session)
        }
        return try report(source, result, folder, session)
    }

    private func freeName(_ folder: SourceFolder, _ taken: Set<String>) -> String {
        var taken = taken
        while true {
            let name = NewSource.name(url: url, taken: taken)
            // A faulty file is no source, but its name is in use.
            if !folder.contains(name) { return name }
            taken.insert(name)
        }
    }

    /// Writes and checks the file of a source and starts the source. Removes the file on each failure.
    private func add(
        _ source: NewSource, to folder: SourceFolder, replaced: Bool = false, _ session: Session
    ) throws(Failure) -> FirstFetch {
        try folder.write([source])
        do throws(Failure) {
            guard try session.checkConfiguration(folder.file(source.name)).status == 0 else {
                throw Failure(.configuration, "The source has faults, so nothing was added.")
            }
            let results = try folder.start([source.name], replaced: replaced) { _ in
                session.system.waiting.show("fetching \(source.url)")
            }
            let result = results[source.name] ?? .unknown
            if case .refused = result {
                folder.undo([source.name])
                throw Failure(
                    .configuration, "norrisd cannot use \(folder.file(source.name)), so nothing was added.",
                    hint: "Find out why: \(command: "norrisctl doctor")")
            }
            return result
        } catch {
            if replaced { folder.undo([source.name]) } else { folder.remove([source.name]) }
            throw error
        }
    }

    /// Asks whether to use the feed that a web page names.
    private func accepts(
        _ feed: String, _ folder: SourceFolder, _ source: NewSource, _ session: Session
    ) throws(Failure) -> Bool {
        guard session.canAsk else {
            folder.undo([source.name])
            throw Failure(
                .usage, "\(url) is a web page, so nothing was added. Its feed is \(feed).",
                hint: shellCommand(["norrisctl"] + words(feed)).map { "Add it: \(command: $0)" })
        }
        return session.asks("\(url) is a web page. Its feed is \(feed). Use it?")
    }

    private func report(
        _ source: NewSource, _ result: FirstFetch, _ folder: SourceFolder, _ session: Session
    ) throws(Failure) -> Report {
        let json: JSON = [
            "name": .string(source.name), "url": .string(source.url), "path": .string(folder.file(source.name)),
        ]
        let remove = "norrisctl feed remove \(source.name)"
        switch result {
        case .failed(let failure) where failure.kind == .decode:
            folder.undo([source.name])
            throw Failure(
                .nothing, "\(source.url) is not a feed, so nothing was added: \(failure.message)",
                hint: "Find the feed's address on the web page.")
        case .failed(let failure):
            var report = session.report(json, status: .temporary) { $0.line("added: \(source.name)") }
            report.note("\(source.name): \(failure.outlook(now: session.system.now))")
            report.hint("norrisd tries again by itself. If the address is wrong: \(remove)")
            return report
        case .unknown, .refused:
            var report = session.report(json, status: .unavailable) { $0.line("added: \(source.name)") }
            report.note("The first fetch has not ended yet.")
            report.hint("See how it ends: norrisctl feed sources")
            return report
        case .fetched:
            let page = try session.call(PostList.self, PostList.Parameters(source: source.name, limit: 1)).value
            var report = session.report(json) { screen in
                screen.line("added: \(source.name)")
                guard session.layout.width != nil, !page.items.isEmpty else { return }
                screen.line()
                screen.posts(page.items, now: session.system.now, showsAll: false) {
                    PostCommand.command(id: $0, socket: session.settings.socket)
                }
            }
            if page.items.isEmpty { report.note("The feed has no posts yet.") }
            if session.layout.width != nil { report.hint("Read it: norrisctl feed --source \(source.name)") }
            return report
        }
    }
}
