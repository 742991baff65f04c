import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl gif`: GIFs for a text, what is trending, any one, or one by its id.
struct GifCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "gif",
        abstract: "Find GIFs at Giphy; without a text, show what is trending.",
        usage: """
            [<query>...] [--trending] [--limit <n>] [--page <n>] [--offline]
            norrisctl gif --random [<query>...] | --id <id>
            norrisctl gif ... [--rendition <name>] [--url | --markdown]
            """,
        discussion: """
            The daemon needs a key for Giphy; where it has none, this command says how to get one.
            To a pipe each line is an id, a tab, a title, a tab, an address, a tab and "Powered by GIPHY".

            Examples:
              norrisctl gif
              norrisctl gif round house kick --limit 5
              norrisctl gif --random cats --markdown
              norrisctl gif --id bq2Nk0o7bQhhseGATA --rendition fixed_height --url
            """
    )

    @Argument(help: "What to look for; several words are one text.")
    var query: [String] = []

    @Flag(help: "What is shown most now; the default without a query.")
    var trending = false

    @Flag(help: "Any GIF, or any that answers the query.")
    var random = false

    @Option(parsing: .unconditional, help: ArgumentHelp("The GIF of this id.", valueName: "id"))
    var id: String?

    @Option(
        help: ArgumentHelp("How many GIFs a page, 1 to 50.", valueName: "n"),
        transform: integer(1...GifSearch.maximumLimit)
    )
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @Flag(help: "Search what is stored, and do not ask Giphy.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "The form to show, such as fixed_height. (default: original, or what there is)", valueName: "name"
        )
    )
    var rendition: String?

    @Flag(help: "Print addresses alone.")
    var url = false

    @Flag(help: "Print pictures for Markdown.")
    var markdown = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String? { query.isEmpty ? nil : query.joined(separator: " ") }

    func validate() throws {
        if let text, text.isEmpty {
            throw ValidationError("The text to look for is empty.")
        }
        if url, markdown {
            throw ValidationError("--url and --markdown are two forms; choose one.")
        }
        let choosesPage = limit != nil || page != nil
        if id != nil, text != nil || trending || random || choosesPage || offline {
            throw ValidationError("--id stands alone: it names one GIF.")
        }
        if random, trending || choosesPage || offline {
            throw ValidationError("--random gives one GIF: leave out --trending, --limit, --page and --offline.")
        }
        if trending, text != nil {
            throw ValidationError("--trending takes no text: leave out one of the two.")
        }
        if offline, text == nil {
            throw ValidationError("--offline is for searches: name what to look for.")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let output = GifOutput(form: url ? .url : markdown ? .markdown : .full, rendition: rendition)
        if let id {
            return try one(session, output, hint: "norrisctl gif shows the id of each GIF in its last line.") {
                () throws(Failure) in
                let reply = try session.call(GifGet.description, IDParameters(id: id), as: GifGet.Result.self)
                return (reply.json, reply.value.gif, nil)
            }
        }
        if random {
            return try one(session, output, hint: "Try other words, or: norrisctl gif --random") {
                () throws(Failure) in
                let parameters = GifRandom.Parameters(tag: text)
                let reply = try session.call(GifRandom.description, parameters, as: GifRandom.Result.self)
                return (reply.json, reply.value.gif, reply.value.freshness)
            }
        }
        return try GifListing(
            text: text, limit: limit, page: page ?? 1, offline: offline, output: output, socket: globals.socket
        ).report(session)
    }

    /// - Parameter hint: what to do where there is no such GIF.
    private func one(
        _ session: Session,
        _ output: GifOutput,
        hint: String,
        call: () throws(Failure) -> (JSON, Gif, Freshness?)
    ) throws(Failure) -> Report {
        var output = output
        do throws(Failure) {
            let (json, gif, freshness) = try call()
            var report = output.session(session).report(
                json, isEmpty: false, freshness: freshness, source: "gifs", nothing: ""
            ) { output.show([gif], on: &$0) }
            output.finish(&report)
            return report
        } catch {
            var failure = error.withGifHint(now: session.system.now)
            if failure.response?.code == .notFound {
                failure.hint = hint
            }
            throw failure
        }
    }
}
