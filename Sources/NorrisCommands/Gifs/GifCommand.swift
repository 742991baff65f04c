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
    @Option(parsing: .unconditional, help: ArgumentHelp("The GIF of this id.", valueName: "id")) var id: String?

    @Option(
        help: ArgumentHelp("How many GIFs a page, 1 to 50.", valueName: "n"),
        transform: integer(1...GifSearch.maximumLimit)
    )
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @Flag(help: "Search what is stored, and do not ask Giphy.") var offline = false

    @Option(
        help: ArgumentHelp(
            "The form to show, such as fixed_height. (default: original, or what there is)", valueName: "name"
        )
    )
    var rendition: String?

    @Flag(help: "Print addresses alone.") var url = false
    @Flag(help: "Print pictures for Markdown.") var markdown = false
    @Flag(help: "Open Giphy's page in a browser.") var open = false
    @Flag(help: "Copy the address to the clipboard.") var copy = false
    @Flag(help: "Draw the picture on the terminal.") var show = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var action: ExternalAction? { open ? .open : copy ? .copy : show ? .show : nil }

    private var text: String? { query.isEmpty ? nil : query.joined(separator: " ") }

    func validate() throws {
        if text == "" { throw ValidationError("The text to look for is empty.") }
        if [url, markdown, open, copy, show].count(where: { $0 }) > 1 {
            throw ValidationError("Of --url, --markdown, --open, --copy and --show there can be one only.")
        }
        if open || copy, limit != nil { throw ValidationError("--open and --copy take one GIF: leave out --limit.") }
        try globals.check(action.map { [$0] } ?? [])
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
        let form: GifOutput.Form = url ? .url : markdown ? .markdown : .full
        let output = GifOutput(form: form, rendition: rendition, action: action.map { ($0, count: limit ?? 1) })
        if show {
            try session.requireTerminalToDraw(otherwise: "--url gives the address of the picture.")
        }
        if let id {
            return try one(session, output, hint: "norrisctl gif shows the id of each GIF in its last line.") {
                () throws(Failure) in
                let reply = try session.call(GifGet.self, IDParameters(id: id))
                return (reply.json, reply.value.gif, nil)
            }
        }
        if random {
            return try one(session, output, hint: "Try other words, or: norrisctl gif --random") {
                () throws(Failure) in
                let parameters = GifRandom.Parameters(tag: text)
                let reply = try session.call(GifRandom.self, parameters)
                return (reply.json, reply.value.gif, reply.value.freshness)
            }
        }
        return try GifListing(text: text, limit: limit, page: page ?? 1, offline: offline, output: output)
            .report(session)
    }

    /// - Parameter hint: what to do where there is no such GIF.
    private func one(
        _ session: Session, _ output: GifOutput, hint: Advice, call: () throws(Failure) -> (JSON, Gif, Freshness?)
    ) throws(Failure) -> Report {
        var output = output
        do throws(Failure) {
            let (json, gif, freshness) = try call()
            var report = output.session(session).report(json, freshness: freshness, source: "gifs") {
                output.show([gif], on: &$0)
            }
            try output.finish(&report, session)
            return report
        } catch {
            throw error.withGifHint(now: session.system.now).notFound(hint)
        }
    }
}
