import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl gif`: GIFs for a text, what is trending, any one, or one by its id.
struct GifCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "gif", abstract: "Find GIFs at Giphy; without a text, show what is trending.",
        usage: """
            [<query>...] [--trending] [--limit <n>] [--page <n>] [--offline]
            norrisctl gif --random [<query>...] | --id <id>
            norrisctl gif ... [--rendition <name>] [--url | --markdown | --open | --copy | --show]
            """,
        discussion: """
            The daemon needs a key for Giphy; where it has none, this command says how to get one.
            To a pipe each line is an id, a tab, a title, a tab, an address, a tab and "Powered by GIPHY".
            --open, --copy and --show take the first GIF of a page; --show as many as --limit says, if it does.
            --show draws with chafa what curl fetches, over https alone; --open takes xdg-open; --copy takes wl-copy,
            xclip, or what the terminal offers. A picture may take longer than the 5s of all else, unless --timeout is
            given, which is for all.

            Examples:
              norrisctl gif
              norrisctl gif round house kick --limit 5
              norrisctl gif --random cats --markdown
              norrisctl gif --random cats --show
              norrisctl gif --id bq2Nk0o7bQhhseGATA --rendition fixed_height --url
            """
    )

    @Argument(help: "What to look for; several words are one text.") var query: [String] = []
    @Flag(help: "What is shown most now; the default without a query.") var trending = false
    @Flag(help: "Any GIF, or any that answers the query.") var random = false
    @Option("The GIF of this id.", "id", parsing: .unconditional) var id: String?
    @Option("How many GIFs a page, 1 to 50.", in: 1...GifSearch.maximumLimit) var limit: Int?
    @Option("Which page, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @Flag(help: "Search what is stored, and do not ask Giphy.") var offline = false
    @Option("The form to show, such as fixed_height. (default: original, or what there is)", "name")
    var rendition: String?

    @Flag(help: "Print addresses alone.") var url = false
    @Flag(help: "Print pictures for Markdown.") var markdown = false
    @Flag(help: "Open Giphy's page in a browser.") var open = false
    @Flag(help: "Copy the address to the clipboard.") var copy = false
    @Flag(help: "Draw the picture on the terminal.") var show = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    /// Whether addresses are printed to be pasted somewhere.
    private var isForPasting: Bool { url || markdown }

    /// What is looked for; nil for what is trending.
    private var text: String? { query.isEmpty ? nil : query.joined(separator: " ") }

    func validate() throws {
        if text == "" { throw ValidationError("The text to look for is empty.") }
        if [url, markdown, open, copy, show].count(where: { $0 }) > 1 {
            throw ValidationError("Of --url, --markdown, --open, --copy and --show there can be one only.")
        }
        if open || copy, limit != nil { throw ValidationError("--open and --copy take one GIF: leave out --limit.") }
        try globals.refuseJSON(besides: ("--open", open), ("--copy", copy), ("--show", show))
        let choosesPage = limit != nil || page != nil
        if id != nil, text != nil || trending || random || choosesPage || offline {
            throw ValidationError("--id stands alone: it names one GIF.")
        }
        if random, trending || choosesPage || offline {
            throw ValidationError("--random gives one GIF: leave out --trending, --limit, --page and --offline.")
        }
        if trending, text != nil { throw ValidationError("--trending takes no text: leave out one of the two.") }
        if offline, text == nil { throw ValidationError("--offline is for searches: name what to look for.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if show {
            try session.requireTerminalToDraw(otherwise: "--url gives the address of the picture.")
        }
        // What is to be pasted is laid out as for a pipe.
        let session = isForPasting ? session.with { $0.plain = true } : session
        do throws(Failure) {
            if let id {
                let hint: Advice = "norrisctl gif shows the id of each GIF in its last line."
                let reply = try session.call(GifGet.self, IDParameters(id: id), notFound: hint)
                return try report(session, reply.json, reply.value.gif, nil)
            }
            if random {
                let hint: Advice = "Try other words, or: norrisctl gif --random"
                let reply = try session.call(GifRandom.self, GifRandom.Parameters(tag: text), notFound: hint)
                return try report(session, reply.json, reply.value.gif, reply.value.freshness)
            }
            return try list(session)
        } catch {
            throw error.withGifHint(session)
        }
    }

    private func report(
        _ session: Session, _ json: JSON, _ gif: Gif, _ freshness: Freshness?
    ) throws(Failure) -> Report {
        var printed: [Gif] = []
        var report = session.report(json, freshness: freshness, source: "gifs") {
            write([gif], to: &$0)
            printed = [gif]
        }
        try finish(&report, printed, session)
        return report
    }

    /// A page of those that answer the query, or of those that are trending.
    private func list(_ session: Session) throws(Failure) -> Report {
        let options = flagWords([("--trending", text == nil)]) + optionWords(("--limit", limit.map(String.init)))
            + flagWords([("--offline", offline)]) + optionWords(("--rendition", rendition))
            + flagWords([("--url", url), ("--markdown", markdown)])
            + flagWords([("--open", open), ("--copy", copy), ("--show", show)])
        var paging = Paging(
            session, page: page, limit: limit, noun: "GIFs", command: "gif", options: options, argument: text
        )
        paging.uncounted = nil
        var printed: [Gif] = []
        func write(_ screen: inout Screen, _ page: Page<Gif>) {
            printed = page.items
            self.write(page.items, to: &screen)
        }
        var report: Report
        if let text {
            let parameters = GifSearch.Parameters(query: text, offline: offline)
            let nothing = offline
                ? "No GIF that is stored answers \(text.quotedForMessage); leave out --offline to ask Giphy."
                : "No GIF answers \(text.quotedForMessage); try other words, or: norrisctl gif --trending"
            report = try paging.report(GifSearch.self, parameters, source: "gifs", nothing: nothing, show: write)
        } else {
            let nothing = "No GIFs are stored yet; fetch some: norrisctl refresh gifs --wait"
            report = try paging.report(
                GifTrending.self, GifTrending.Parameters(), source: "gifs", nothing: nothing, show: write
            )
        }
        try finish(&report, printed, session)
        return report
    }

    // MARK: Output

    /// Those that are printed, and those that do not have what was asked for. An action takes the first ones alone.
    private func sorted(_ gifs: [Gif]) -> (shown: [Gif], omitted: [Gif]) {
        let gifs = gifs.prefix(open || copy || show ? limit ?? 1 : gifs.count)
        guard isForPasting || rendition != nil || copy || show else { return (Array(gifs), []) }
        return (gifs.filter { $0.picture(rendition) != nil }, gifs.filter { $0.picture(rendition) == nil })
    }

    private func write(_ gifs: [Gif], to screen: inout Screen) {
        let shown = sorted(gifs).shown
        if url {
            screen.addresses(of: shown, rendition: rendition)
        } else if markdown {
            screen.markdown(of: shown, rendition: rendition)
        } else {
            screen.gifs(shown, rendition: rendition)
        }
    }

    /// Says what was left out, and what Giphy asks to be said wherever the content does not; runs the external program.
    private func finish(_ report: inout Report, _ gifs: [Gif], _ session: Session) throws(Failure) {
        let (shown, omitted) = sorted(gifs)
        notes(omitted).forEach { report.note($0) }
        if shown.isEmpty, !omitted.isEmpty { report.status = .nothing }
        guard let first = shown.first else { return }
        if isForPasting { report.remark(Gif.attribution) }
        let addresses = shown.compactMap { $0.picture(rendition)?.address }
        if copy { report.attempt { () throws(Failure) in try session.copy(addresses[0]) } }
        if open { report.attempt { () throws(Failure) in try session.open(first.pageURL, of: "GIF \(first.id)") } }
        if show { try session.draw(addresses, below: &report) }
    }

    private func notes(_ omitted: [Gif]) -> [String] {
        let without = rendition.map { name in omitted.filter { $0.renditions[name] == nil } } ?? []
        var notes: [String] = []
        if let rendition, !without.isEmpty {
            let names = Set(without.flatMap { gif in gif.renditions.keys.filter { gif.picture($0) != nil } })
            let choice = names.isEmpty ? "none that can be shown" : names.sorted().joined(separator: ", ")
            let pronoun = without.count == 1 ? "it has" : "they have"
            notes.append("\(Self.named(without)) no rendition \(rendition.quotedForMessage); \(pronoun): \(choice)")
        }
        let unprintable = omitted.filter { gif in rendition.map { gif.renditions[$0] != nil } ?? true }
        if !unprintable.isEmpty { notes.append("\(Self.named(unprintable)) no address that can be printed.") }
        return notes
    }

    /// `GIF abc has`, or `5 GIFs (abc, def, ghi and others) have`.
    private static func named(_ gifs: [Gif]) -> String {
        if gifs.count == 1 { return "GIF \(gifs[0].id) has" }
        let ids = gifs.prefix(3).map(\.id).joined(separator: ", ")
        return "\(gifs.count) GIFs (\(ids)\(gifs.count > 3 ? " and others" : "")) have"
    }
}

extension Failure {
    /// Says how to get at GIFs where there are none: a key for Giphy and where it goes, or what is wrong and
    /// when it is tried again. Where the daemon knows of no failure its own hint stays.
    func withGifHint(_ session: Session) -> Failure {
        guard let response, response.code == .nothingCached else { return self }
        let error = response.details["last_error"].flatMap { try? SourceFailure(json: $0) }
        var failure = self
        if response.lacksCredentials {
            // The source's own words as a further sentence, unless the message has them already.
            if let words = error?.message, !words.isEmpty {
                let sentence = words.last == "." ? words : words + "."
                failure.message += sentence.hasSameBytes(as: failure.message) ? "" : " " + sentence
            }
            let reload = DaemonCommands(socket: "", option: session.settings.socket).norrisctl("reload")
            failure.hint = "Get an API key of your own at https://developers.giphy.com, and give it to norrisd."
            failure.steps = [
                "To the system's: /etc/credstore/giphy-api-key, mode 0600, then: systemctl restart norrisd",
                "To one of your own: gifs.api_key_file in ~/.config/norrisd/config.yaml, then: \(reload)",
            ]
        } else if let error {
            failure.hint = "gifs: \(error.outlook(now: session.system.now))"
        }
        return failure
    }
}
