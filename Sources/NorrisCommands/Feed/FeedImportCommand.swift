import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

struct FeedImportCommand: SessionCommand {
    static let name = "import"
    static let help = CommandHelp(
        "Add all feeds of an OPML file.",
        """
        Reads what other feed readers export. norrisd fetches each feed, and adds those that it can read; those that you
        already have stay. Folders and categories become tags. At most 1,000 feeds and 10 MiB. The time limit is 10
        minutes; see --timeout.

        Examples:
          norrisctl feed import subscriptions.opml
          newsboat --export-to-opml | norrisctl feed import -
        """)
    static let hasFields = false

    private var file = "-"
    private var tags: [String] = []
    private var unread: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&file, .file, "The file; - is standard input.")
        arguments.unread(&unread)
        arguments.tags(&tags, "A tag for each feed that is added. Repeatable.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if file.hasPart("://"), let download = shellCommand(["curl", "-fsS", file]) {
            throw UsageError("It takes a file. For an address: \(download) | norrisctl feed import -")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.with(defaultTimeout: .long)
        let feeds = try self.feeds(session)
        let sources = try session.call(PostSources.self).value.items
        var taken = Set(sources.map(\.name))
        let requests = feeds.map { feed in
            let name = SourceName.make(title: feed.title, url: feed.url, taken: taken)
            taken.insert(name)
            var settings = SourceSettings(url: feed.url)
            if let title = feed.title, title != name { settings.title = title }
            let all = SourceTag.unique(feed.tags + tags)
            if !all.isEmpty { settings.tags = all }
            settings.unread = unread
            return SourceAdd.Parameters(settings, name: name, waits: true)
        }
        var summary = Summary()
        do throws(Failure) {
            try session.spread(SourceAdd.self, requests) { index, outcome throws(Failure) in
                try summary.take(outcome, of: requests[index].settings, besides: sources)
                session.system.waiting.show("\(groupedDigits(summary.count)) of \(groupedDigits(feeds.count)) fetched")
            }
        } catch {
            guard summary.count > 0 else { throw error }
            // The feeds that were added stay.
            var report = summary.report(session)
            report.add(error)
            report.hint("It is safe to import the file again.")
            return report
        }
        return summary.report(session)
    }

    // MARK: Reading

    /// Reads the file in the process that reads strangers' documents for norrisd too.
    private func feeds(_ session: Session) throws(Failure) -> [FeedLink] {
        let (bytes, name) = try session.readInput(
            file, "OPML from the terminal", atMost: 10, advice: "Divide it into several files.")
        let outcome = session.system.runOwn(
            SubprocessRequest(
                program: "norris-fetch", arguments: ["decode", "opml"], input: .bytes(bytes),
                output: .collected(limit: 32 << 20, withErrors: true), timeout: .seconds(30)))
        switch outcome {
        case .missing: throw Failure.missing("norris-fetch", packages: "norrisd")
        case .ended(status: 0, let output):
            let lines = output.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
            return lines.compactMap { try? FeedLink(parsing: $0) }
        case .ended(_, let output):
            let reason = sanitizedLine(String(decoding: output, as: UTF8.self))
            let text = reason.hasPrefix("norris-fetch: ") ? reason.dropFirst(14) : reason[...]
            throw Failure(.usage, "\(name) cannot be imported: \(text)", hint: "Nothing was imported.")
        default: throw Failure.unfinished("norris-fetch", outcome)
        }
    }

    // MARK: Reporting

    /// The feeds that were added, known before, and not added.
    private struct Summary {
        private var added: [String] = [], known: [String] = []
        private var failures: [(url: String, text: String)] = []
        /// The commands that add the tags of feeds that were known without them.
        private var untagged: [Advice] = []

        var count: Int { added.count + known.count + failures.count }

        mutating func take(
            _ outcome: Response.Outcome, of settings: SourceSettings, besides sources: [PostSources.Source]
        ) throws(Failure) {
            let url = settings.url
            switch outcome {
            case .success(let json):
                guard let result = try? json.decoded(as: SourceAdd.Result.self) else {
                    throw .unreadable("it does not say whether the feed was added")
                }
                if result.isAdded { return added.append(result.sourceName) }
                known.append(result.sourceName)
                guard let source = sources.first(where: { $0.name == result.sourceName }) else { return }
                let tags = (settings.tags ?? []).filter { !source.tags.contains($0) }
                let words = ["norrisctl", "feed", "edit", source.name] + tags.flatMap { ["--tag", "+\($0)"] }
                let edit = shellCommand(words)
                if !tags.isEmpty, source.origin == .added, let edit { untagged.append("\(command: edit)") }
            case .failure(let error):
                // The other feeds would be refused as well.
                if error.code == .permissionDenied { throw Failure(error, method: SourceAdd.name) }
                // The hint of a failed fetch is that nothing was added.
                var reason =
                    error.lastFailure?.message ?? [error.message, error.hint].compactMap { $0 }.joined(separator: " ")
                // Many reasons have the address already.
                let address = HTTPURL(url)?.hostAndPath ?? url
                if let place = reason.places(of: " from \(address)").first { reason.removeSubrange(place) }
                let isSentence = reason.hasPrefix("\(address) ")
                failures.append((url, isSentence ? url + reason.dropFirst(address.count) : "\(url): \(reason)"))
            }
        }

        func report(_ session: Session) -> Report {
            let json: JSON = [
                "added": .array(added.map { .string($0) }), "known": .array(known.map { .string($0) }),
                "failed": .array(failures.map { .string($0.url) }),
            ]
            let isNothing = added.isEmpty && known.isEmpty
            let status: ExitStatus = failures.isEmpty ? .done : isNothing ? .nothing : .temporary
            var report = session.report(EncodedJSON(json), status: status) { screen in
                let known = known.isEmpty ? "" : ", \(groupedDigits(known.count)) already there"
                let failed = failures.isEmpty ? "" : ", \(groupedDigits(failures.count)) not added"
                screen.line("\(groupedDigits(added.count)) added\(known)\(failed)")
            }
            for failure in failures { report.note("Not added: \(value: failure.text)") }
            if !untagged.isEmpty {
                report.note("Known feeds keep their tags. Add the tags of the file:")
                untagged.forEach { report.hint($0) }
            }
            return report
        }
    }
}

struct FeedExportCommand: SessionCommand {
    static let name = "export"
    static let help = CommandHelp(
        "Print the feeds as OPML.",
        """
        For other feed readers, or for norrisctl feed import on another machine. A feed is in the folder of its first
        tag, and has all tags as categories. Only administrators get passwords and queries of addresses.

        Examples:
          norrisctl feed export > feeds.opml
        """)
    static let hasFields = false

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(PostSources.self)
        guard !session.settings.json else { return Report(json: reply.json) }
        let feeds = reply.value.items.filter { $0.kind == "feed" }
        return Report(
            output: OPML.document(feeds.map { FeedLink(title: $0.title ?? $0.name, url: $0.url, tags: $0.tags) }))
    }
}
