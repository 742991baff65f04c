import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal

struct GifCommand: SessionCommand {
    static let name = "gif"
    static let help = CommandHelp(
        "Search Giphy for GIFs, or list trending ones.",
        """
        Needs an API key from Giphy; without one, this command says how to get it.

        A number before a GIF names the GIF in later commands: norrisctl gif 3 shows it. To search for a number, add
        an option of the search: norrisctl gif --page 1 3.

        --open, --copy and --show use one GIF, the first of the page; --show draws more with --limit. They need
        xdg-open, wl-copy or xclip, and chafa with curl. Images are exempt from the default
        \(Timeout.standard.text) limit; an explicit --timeout covers the whole command.

        Tab-separated in a pipe: id, title, address, "Powered by GIPHY".

        Examples:
          norrisctl gif
          norrisctl gif round house kick --limit 5
          norrisctl gif cats && norrisctl gif 3 --show
          norrisctl gif --random cats --markdown
          norrisctl gif --random cats --show
          norrisctl gif --id bq2Nk0o7bQhhseGATA --rendition fixed_height --url
        """)

    var query: [String] = []
    private var isTrending = false, isRandom = false
    private var id: String?, rendition: String?
    private var limit: Int?
    var page: Int?
    private var isOffline = false
    private var printsURL = false, printsMarkdown = false, isOpened = false, isCopied = false, isShown = false
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&query, .query, "The words to search for.", isOptional: true)
        arguments.flag(&isTrending, "trending", "List trending GIFs, as without a query.")
        arguments.flag(&isRandom, "random", "Show a random GIF, or a random match of the query.")
        arguments.option(&id, "id", .favorite(.gif), "The GIF with this id.")
        arguments.option(
            &limit, "limit", short: "n", in: 1...GifSearch.maximumLimit,
            "GIFs per page, 1 to 50. (default: 5 on a terminal, else 25; 1 with --open, --copy and --show)")
        arguments.page(&page)
        arguments.flag(&isOffline, "offline", "Search the cache only.")
        arguments.option(
            &rendition, "rendition", .rendition,
            "The size to use, such as fixed_height. (default: original, if there is one)")
        arguments.flag(&printsURL, "url", "Print the addresses only.")
        arguments.flag(&printsMarkdown, "markdown", "Print Markdown image links.")
        arguments.flag(&isOpened, "open", "Open the GIF's page in a browser.")
        arguments.flag(&isCopied, "copy", "Copy the address to the clipboard.")
        arguments.flag(&isShown, "show", "Draw the GIF on the terminal.")
        web.declare(&arguments)
    }

    /// The default limit on a terminal.
    private static let fewGIFs = 5

    /// Whether the command prints addresses for pasting.
    private var isForPasting: Bool { printsURL || printsMarkdown }

    /// The query, or nil for trending GIFs.
    private var text: String? { query.isEmpty ? nil : query.joined(separator: " ") }

    /// The number of a GIF in the last list, if the query is only a number and no option is for lists.
    private var number: ItemName? {
        guard let word = query.first, query.count == 1, case .number = ItemName(argument: word) else { return nil }
        return isRandom || isOffline || limit != nil || page != nil ? nil : ItemName(argument: word)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if text?.allSatisfy({ $0.isWhitespace }) == true { throw UsageError("The query is empty.") }
        if [printsURL, printsMarkdown, isOpened, isCopied, isShown].count(where: { $0 }) > 1 {
            throw UsageError("Choose one of --url, --markdown, --open, --copy and --show.")
        }
        if isOpened || isCopied, limit ?? 1 > 1 {
            throw UsageError("--open and --copy take one GIF: leave out --limit.")
        }
        func others() -> [(name: String, isSet: Bool)] {
            [("--open", isOpened), ("--copy", isCopied), ("--show", isShown)]
        }
        try settings.refuseJSON(besides: others())
        try web.validate(settings, besides: others() + [("--url", printsURL), ("--markdown", printsMarkdown)])
        let choosesPage = limit != nil || page != nil
        if id != nil, text != nil || isTrending || isRandom || choosesPage || isOffline {
            throw UsageError("--id names one GIF: leave out the query and the options that choose GIFs.")
        }
        if isRandom, isTrending || choosesPage || isOffline {
            throw UsageError("--random gives one GIF: leave out --trending, --limit, --page and --offline.")
        }
        if isTrending, text != nil { throw UsageError("--trending takes no query: leave out one of the two.") }
        if isOffline, text == nil { throw UsageError("--offline is for searches: add a query.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isShown { try session.requireTerminalToDraw(otherwise: "Print the address: --url") }
        // A page has the GIFs that are shown, so that the next page begins with the next GIF.
        let isOne = isOpened || isCopied || isShown
        let limit = limit ?? (isOne ? 1 : session.isNumbered && !web.isOn ? Self.fewGIFs : nil)
        // Text for pasting has the same layout as in a pipe.
        let session = isForPasting ? session.with { $0.plain = true } : session
        do throws(Failure) {
            let listed = try number.map { name throws(Failure) in
                try session.item(
                    name, of: .gif, notFound: "To search for a number: norrisctl gif --page 1 \(value: query[0])"
                ).id
            }
            if let id = id ?? listed {
                let hint: Advice = "List GIFs: norrisctl gif"
                let reply = try session.call(GifGet.self, IDParameters(id: id), notFound: hint)
                return try report(session, reply, reply.value.gif, nil)
            }
            if isRandom {
                let hint: Advice = "Try other words, or: norrisctl gif --random"
                let reply = try session.call(GifRandom.self, GifRandom.Parameters(tag: text), notFound: hint)
                return try report(session, reply, reply.value.gif, reply.value.freshness)
            }
            return try list(session, limit: limit)
        } catch {
            throw error.withGifHint(session)
        }
    }

    private func report<Result: WireValue>(
        _ session: Session, _ reply: Reply<Result>, _ gif: Gif, _ freshness: Freshness?
    ) throws(Failure) -> Report {
        if web.isOn { return try web.report(webPage(.init(), session).gifs([gif], rendition: rendition), session) }
        var printed: [Gif] = []
        var report = session.report(reply, freshness: freshness, source: SourceStatus.gifs) {
            write([gif], to: &$0)
            printed = [gif]
        }
        try finish(&report, printed, session)
        return report
    }

    private func webPage(_ next: WebPage.Position, _ session: Session) -> WebPage {
        WebPage(title: text.map { "GIFs: \($0)" } ?? "GIFs", now: session.system.now, next: next)
    }

    /// Reports a page of matches, or of trending GIFs.
    private func list(_ session: Session, limit: Int?) throws(Failure) -> Report {
        var paging = Paging(
            session, page: page, limit: limit, noun: "GIFs", command: "gif",
            options: flagWords([("--trending", text == nil)]) + optionWords(("--limit", self.limit.map(String.init)))
                + flagWords([("--offline", isOffline)]) + optionWords(("--rendition", rendition))
                + flagWords([("--url", printsURL), ("--markdown", printsMarkdown)])
                + flagWords([("--open", isOpened), ("--copy", isCopied), ("--show", isShown)]),
            argument: text, web: web)
        paging.uncounted = nil
        // Each page can take a request of the key's quota.
        paging.writesNextPages = false
        // The numbers of the last list stay.
        if isOpened || isCopied || isShown { paging.isNumbered = false }
        var printed: [Gif] = []
        func html(_ page: Page<Gif>, _ next: WebPage.Position) -> String {
            webPage(next, session).gifs(page.items, rendition: rendition)
        }
        func write(_ screen: inout Screen, _ page: Page<Gif>, _ first: Int?) {
            printed = page.items
            self.write(page.items, numberedFrom: first, to: &screen)
        }
        var report: Report
        if let text {
            let parameters = GifSearch.Parameters(query: text, offline: isOffline)
            let nothing: Advice =
                isOffline
                ? "No cached GIF matches \(value: text.quotedForMessage). Leave out --offline to ask Giphy."
                : "No GIF matches \(value: text.quotedForMessage). Try other words, or: norrisctl gif --trending"
            report = try paging.report(
                GifSearch.self, parameters, source: SourceStatus.gifs, nothing: nothing, html: html, show: write)
        } else {
            let nothing: Advice = "No GIFs are cached yet. Fetch some: norrisctl refresh gifs --wait"
            report = try paging.report(
                GifTrending.self, GifTrending.Parameters(), source: SourceStatus.gifs, nothing: nothing, html: html,
                show: write)
        }
        try finish(&report, printed, session)
        return report
    }

    // MARK: Output

    /// Separates printable GIFs from GIFs without the requested rendition or address.
    private func sorted(_ gifs: [Gif]) -> (shown: [Gif], omitted: [Gif]) {
        let gifs = Array(gifs.prefix(isOpened || isCopied || isShown ? limit ?? 1 : gifs.count))
        guard isForPasting || rendition != nil || isCopied || isShown else { return (gifs, []) }
        return (gifs.filter { $0.picture(rendition) != nil }, gifs.filter { $0.picture(rendition) == nil })
    }

    private func write(_ gifs: [Gif], numberedFrom first: Int? = nil, to screen: inout Screen) {
        let shown = sorted(gifs).shown
        if printsURL {
            screen.addresses(of: shown, rendition: rendition)
        } else if printsMarkdown {
            screen.markdown(of: shown, rendition: rendition)
        } else {
            screen.gifs(shown, rendition: rendition, numberedFrom: first)
        }
    }

    /// Names the omitted GIFs, adds Giphy's attribution if the output lacks it, and runs the external program.
    private func finish(_ report: inout Report, _ gifs: [Gif], _ session: Session) throws(Failure) {
        let (shown, omitted) = sorted(gifs)
        notes(omitted).forEach { report.note("\(value: $0)") }
        if shown.isEmpty, !omitted.isEmpty { report.status = .nothing }
        guard let first = shown.first else { return }
        if isForPasting || session.settings.format != nil { report.remark("\(value: Gif.attribution)") }
        guard isCopied || isOpened || isShown else { return }
        let addresses = shown.compactMap { $0.picture(rendition)?.address }
        if isCopied { report.attempt { () throws(Failure) in try session.copy(addresses[0]) } }
        if isOpened { report.attempt { () throws(Failure) in try session.open(first.pageURL, of: "GIF \(first.id)") } }
        if isShown { try session.draw(addresses, below: &report) }
    }

    private func notes(_ omitted: [Gif]) -> [String] {
        let without = rendition.map { name in omitted.filter { $0.renditions[name] == nil } } ?? []
        var notes: [String] = []
        if let rendition, !without.isEmpty {
            let names = Set(without.flatMap { gif in gif.renditions.keys.filter { gif.picture($0) != nil } })
            let choice = names.isEmpty ? "none" : names.sorted().joined(separator: ", ")
            let pronoun = without.count == 1 ? "it has" : "they have"
            notes.append("\(Self.named(without)) no rendition \(rendition.quotedForMessage); \(pronoun): \(choice)")
        }
        let unprintable = omitted.filter { gif in rendition.map { gif.renditions[$0] != nil } ?? true }
        if !unprintable.isEmpty { notes.append("\(Self.named(unprintable)) no address that can be printed.") }
        return notes
    }

    /// Returns `GIF abc has`, or `5 GIFs (abc, def, ghi and others) have`.
    private static func named(_ gifs: [Gif]) -> String {
        if gifs.count == 1 { return "GIF \(gifs[0].id) has" }
        let ids = gifs.prefix(3).map(\.id).joined(separator: ", ")
        return "\(gifs.count) GIFs (\(ids)\(gifs.count > 3 ? " and others" : "")) have"
    }
}

extension Failure {
    /// Explains a lack of GIFs: with a missing key how to get and store it, else with the error and the time of the
    /// next try. The daemon's hint remains if the daemon reports no fetch error.
    func withGifHint(_ session: Session) -> Failure {
        guard let response, response.code == .nothingCached else { return self }
        let error = response.detail("last_error", as: SourceFailure.self)
        var failure = self
        if response.lacksCredentials {
            if let words = error?.message, !words.isEmpty { failure.message = words.last == "." ? words : words + "." }
            failure.hint = "\(DaemonCommands.gifKey):"
            failure.steps = [
                "System service, as root: \(DaemonCommands.systemGifKey)",
                "Your own daemon: \(DaemonCommands.userGifKey)",
            ]
        } else if let error {
            failure.hint = "gifs: \(value: error.outlook(now: session.system.now))"
        }
        return failure
    }
}
