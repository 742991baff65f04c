import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

struct FeedImportCommand: SessionCommand {
    static let name = "import"
    static let help = CommandHelp(
        "Add all feeds of an OPML file.",
        """
        Reads what other feed readers export. Feeds that you already have are skipped. Writes a file for each new
        feed, or none, reloads once, and waits for the first fetches. At most 1,000 feeds and 10 MiB. The time limit
        is 10 minutes; see --timeout.

        Examples:
          norrisctl feed import subscriptions.opml
          newsboat --export-to-opml | norrisctl feed import -
        """)
    static var statuses: [ExitStatus] {
        [.done, .usage, .unavailable, .internalError, .inputOutput, .temporary, .notPermitted, .configuration]
    }
    static let hasFields = false

    /// In bytes.
    private static let longestFile = 10 << 20

    private var file = "-"

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.file, "The file; - is standard input.") {
            file = $0
            return true
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.forManyCalls
        let feeds = try self.feeds(session)
        let folder = try SourceFolder(session, command: ["feed", "import", file])
        let old = try session.call(PostSources.self).value.items
        let (new, known, invalid) = sources(feeds, old: old, folder)
        var results: [String: FirstFetch] = [:]
        if !new.isEmpty {
            try folder.write(new)
            do throws(Failure) { results = try start(new, folder, session) } catch {
                folder.remove(new.map(\.name))
                throw error
            }
        }
        var added = try withoutRefused(new, results, folder, session)
        let pages = added.compactMap { source -> (source: NewSource, feed: String)? in
            guard case .failed(let failure)? = results[source.name], let feed = failure.feedURL,
                NewSource.isAddress(feed), !feed.hasSameBytes(as: source.url)
            else { return nil }
            return (source, feed)
        }
        var left: [(source: NewSource, feed: String)] = []
        if !pages.isEmpty {
            if try replaces(pages, folder, session) {
                let changed = pages.map { page in
                    var source = page.source
                    source.url = page.feed
                    return source
                }
                results.merge(try start(changed, replaced: true, folder, session)) { $1 }
                for source in changed {
                    if let index = added.firstIndex(where: { $0.name == source.name }) { added[index] = source }
                }
            } else {
                folder.undo(pages.map(\.source.name))
                added.removeAll { source in pages.contains { $0.source.name == source.name } }
                left = pages
            }
        }
        return report(added, known: known, invalid: invalid, left: left, results, session)
    }

    // MARK: Reading

    private func feeds(_ session: Session) throws(Failure) -> [FeedLink] {
        let name = file == "-" ? "Standard input" : file.quotedForMessage
        var bytes: [UInt8] = []
        if file == "-" {
            if session.system.isInputTerminal {
                session.writeError("norrisctl: Reading OPML from the terminal. Ctrl-D ends it.")
            }
            bytes = try session.readInput(Self.longestFile)
        } else {
            do {
                bytes = try session.system.readFile(file, Self.longestFile)
            } catch {
                throw Failure(.inputOutput, "\(name) cannot be read: \(error.reason).")
            }
        }
        guard bytes.count <= Self.longestFile else {
            throw Failure(.usage, "\(name) is larger than 10 MiB.", hint: "Divide it into several files.")
        }
        return try read(bytes, name, session)
    }

    /// Reads the file in the process that reads strangers' documents for norrisd too.
    private func read(_ bytes: [UInt8], _ name: String, _ session: Session) throws(Failure) -> [FeedLink] {
        var request = SubprocessRequest(
            program: "norris-fetch", arguments: ["decode", "opml"], input: .bytes(bytes),
            output: .collected(limit: 32 << 20), collectsErrors: true, timeout: .seconds(30))
        var outcome = SubprocessOutcome.missing
        for folder in session.system.ownFolders() where outcome == .missing {
            request.program = "\(folder)/norris-fetch"
            outcome = session.system.run(request)
        }
        switch outcome {
        case .missing: throw Failure.missing("norris-fetch", packages: "norrisd")
        case .ended(status: 0, let output):
            let lines = output.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
            return lines.compactMap { line in (try? JSON.parse(line)).flatMap { try? FeedLink(json: $0) } }
        case .ended(_, let output):
            let reason = sanitizedLine(String(decoding: output, as: UTF8.self))
            let text = reason.hasPrefix("norris-fetch: ") ? reason.dropFirst(14) : reason[...]
            throw Failure(.usage, "\(name) cannot be imported: \(text)", hint: "Nothing was imported.")
        default: throw Failure.unfinished("norris-fetch", outcome)
        }
    }

    /// Returns the sources to add, the number of feeds that exist or are repeated, and the invalid addresses.
    private func sources(
        _ feeds: [FeedLink], old: [PostSources.Source], _ folder: SourceFolder
    ) -> (new: [NewSource], known: Int, invalid: [String]) {
        var urls = Set(old.map { ByteString($0.url) } + old.map { ByteString(folder.url(of: $0)) })
        var taken = Set(old.map(\.name))
        var new: [NewSource] = []
        var known = 0
        var invalid: [String] = []
        for feed in feeds {
            guard NewSource.isAddress(feed.url) else {
                invalid.append(feed.url)
                continue
            }
            guard urls.insert(ByteString(feed.url)).inserted else {
                known += 1
                continue
            }
            var name = NewSource.name(title: feed.title, url: feed.url, taken: taken)
            while folder.contains(name) {
                taken.insert(name)
                name = NewSource.name(title: feed.title, url: feed.url, taken: taken)
            }
            taken.insert(name)
            new.append(NewSource(name: name, url: feed.url))
        }
        return (new, known, invalid)
    }

    /// A text that is compared by its bytes.
    private struct ByteString: Hashable {
        let bytes: [UInt8]
        init(_ text: String) { bytes = Array(text.utf8) }
    }

    // MARK: Adding

    private func start(
        _ sources: [NewSource], replaced: Bool = false, _ folder: SourceFolder, _ session: Session
    ) throws(Failure) -> [String: FirstFetch] {
        try folder.start(sources.map(\.name), replaced: replaced) { count in
            session.system.waiting.show("\(groupedDigits(count)) of \(groupedDigits(sources.count)) fetched")
        }
    }

    /// Removes the files that the daemon has refused, after a check that writes their faults to standard error.
    private func withoutRefused(
        _ sources: [NewSource], _ results: [String: FirstFetch], _ folder: SourceFolder, _ session: Session
    ) throws(Failure) -> [NewSource] {
        let refused = sources.filter { if case .refused? = results[$0.name] { true } else { false } }
        guard !refused.isEmpty else { return sources }
        // A few are enough to find the reason.
        for source in refused.prefix(5) { _ = try? session.checkConfiguration(folder.file(source.name)) }
        folder.undo(refused.map(\.name))
        guard refused.count < sources.count else {
            throw Failure(.configuration, "norrisd cannot use these feeds, so nothing was added.")
        }
        let names = Set(refused.map(\.name))
        return sources.filter { !names.contains($0.name) }
    }

    /// Asks once whether to use the feeds of web pages, and writes their files. Returns false without a terminal.
    private func replaces(
        _ pages: [(source: NewSource, feed: String)], _ folder: SourceFolder, _ session: Session
    ) throws(Failure) -> Bool {
        guard session.canAsk else { return false }
        let subject =
            pages.count == 1
            ? "1 address is a web page. Use the feed it names?"
            : "\(groupedDigits(pages.count)) addresses are web pages. Use the feeds they name?"
        guard session.asks(subject) else { return false }
        let changed = pages.map { page in
            var source = page.source
            source.url = page.feed
            return source
        }
        do throws(Failure) { try folder.write(changed) } catch {
            folder.undo(changed.map(\.name))
            throw error
        }
        return true
    }

    // MARK: Reporting

    private func report(
        _ added: [NewSource], known: Int, invalid: [String], left: [(source: NewSource, feed: String)],
        _ results: [String: FirstFetch], _ session: Session
    ) -> Report {
        var failures: [(reason: String, names: [String])] = []
        var waiting = 0
        for source in added {
            switch results[source.name] {
            case .failed(let failure)?:
                let reason = failure.message.isEmpty ? failure.kind.rawValue : failure.message
                if let index = failures.firstIndex(where: { $0.reason == reason }) {
                    failures[index].names.append(source.name)
                } else {
                    failures.append((reason, [source.name]))
                }
            case .unknown?, .refused?, nil: waiting += 1
            case .fetched?: break
            }
        }
        let failed = failures.map(\.names.count).reduce(0, +)
        let json: JSON = [
            "added": .array(added.map { .string($0.name) }), "known": .integer(Int64(known)),
            "failed": .array(failures.flatMap(\.names).map { .string($0) }),
            "refused": .array((invalid + left.map(\.source.url)).map { .string($0) }),
        ]
        let status: ExitStatus = waiting > 0 ? .unavailable : failed > 0 ? .temporary : .done
        var report = session.report(json, status: status) { screen in
            let known = known > 0 ? ", \(groupedDigits(known)) already there" : ""
            screen.line("\(groupedDigits(added.count)) added\(known)")
        }
        guard !session.settings.json else { return report }
        if !invalid.isEmpty {
            let shown = invalid.prefix(3).map(\.quotedForMessage).joined(separator: ", ")
            report.note(
                "\(countText(invalid.count, "address", plural: "addresses")) without http or https left out: \(shown)")
        }
        for page in left.prefix(20) {
            report.note("\(page.source.url) is a web page, and was not added.")
            report.hint(shellCommand(["norrisctl", "feed", "add", page.feed]).map { "Add its feed: \($0)" })
        }
        if left.count > 20 { report.note("\(groupedDigits(left.count - 20)) further addresses are web pages.") }
        for (reason, names) in failures.prefix(20) {
            let more = names.count > 5 ? " and \(names.count - 5) more" : ""
            report.note("\(names.prefix(5).joined(separator: ", "))\(more): \(reason)")
        }
        if failed > 0 { report.hint("norrisd tries again by itself. See them all: norrisctl feed sources") }
        if waiting > 0 {
            report.note("\(countText(waiting, "feed")) not fetched yet.")
            report.hint("See how it ends: norrisctl feed sources")
        }
        return report
    }
}

struct FeedExportCommand: SessionCommand {
    static let name = "export"
    static let help = CommandHelp(
        "Print the feeds as OPML.",
        """
        For other feed readers, or for norrisctl feed import on another machine. Addresses in files that you may read
        are complete; norrisd leaves out the passwords and queries of others.

        Examples:
          norrisctl feed export > feeds.opml
        """)
    static let hasFields = false

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(PostSources.self)
        guard !session.settings.json else { return Report(json: reply.json) }
        let folder = try SourceFolder(session, command: ["feed", "export"])
        let feeds = reply.value.items.filter { $0.kind == "feed" }
        let document = OPML.document(feeds.map { FeedLink(title: $0.name, url: folder.url(of: $0)) })
        return Report(output: document)
    }
}
