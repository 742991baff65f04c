import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

/// Text from the daemon, the upstreams or the command line never reaches the terminal unescaped.
struct HostileTextTests {
    private static let freshness = Freshness(
        origin: Freshness.Origin(rawValue: hostile), state: Freshness.State(rawValue: hostile),
        error: SourceFailure(kind: SourceFailure.Kind(rawValue: hostile), message: hostile, since: Machine.now))
    private static let fact = Fact(id: hostile, text: hostile, categories: [hostile], source: hostile, url: hostile)

    private static let gif = Gif(
        id: hostile, title: hostile, rating: hostile, pageURL: hostile, username: hostile, altText: hostile + "!",
        renditions: [
            "original": Gif.Rendition(url: hostile, mp4: "https://e.org/\(hostile)", webp: "https://e.org/\u{9B}"),
            hostile: Gif.Rendition(url: "https://e.org/"),
        ])
    private static let favorite = Favorite(
        kind: Favorite.Kind(rawValue: hostile), id: hostile, title: hostile, addedAt: Machine.now, fact: fact, gif: gif)
    private static let gifs = GifSearch.Result(items: [gif, gif], next: hostile, freshness: freshness).jsonText

    private static let results: [(arguments: [String], result: String)] = [
        (["fact"], FactRandom.Result(items: [fact], freshness: freshness).jsonText),
        (["fact", "--id", hostile], FactGet.Result(fact: fact).jsonText),
        (["fact", "--today"], FactToday.Result(fact: fact, freshness: freshness).jsonText),
        (["search", hostile], FactSearch.Result(items: [fact], next: hostile, freshness: freshness).jsonText),
        (["search", hostile], FactSearch.Result(items: [], freshness: freshness).jsonText),
        (["search", hostile, "--page", "2"], FactSearch.Result(items: [fact], freshness: freshness).jsonText),
        (
            ["categories"],
            FactCategories.Result(items: [FactCategories.Category(name: hostile, count: 1)], freshness: freshness)
                .jsonText
        ),
        (
            ["status"],
            ServerStatus.Result(
                state: ServerStatus.State(rawValue: hostile), message: hostile, uptimeSeconds: 1, connections: 1,
                requestsTotal: 1,
                sources: [SourceStatus(name: hostile, kind: hostile, isEnabled: true, items: 1, freshness: freshness)],
                database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: true), version: hostile
            ).jsonText
        ), (["gif"], gifs), (["gif", hostile], gifs), (["gif", "--url"], gifs), (["gif", "--markdown"], gifs),
        (["gif", "--url", "--rendition", hostile], gifs), (["gif", "--rendition", "original"], gifs),
        (["gif", "--rendition", "none"], gifs),
        (["gif", hostile], GifSearch.Result(items: [], freshness: freshness).jsonText),
        (["gif", "--random", hostile], GifRandom.Result(gif: gif, freshness: freshness).jsonText),
        (["gif", "--id", hostile], GifGet.Result(gif: gif).jsonText),
        (["favorite", "list"], FavoriteList.Result(items: [favorite, favorite], next: hostile).jsonText),
        (["favorite", "export"], FavoriteList.Result(items: [favorite]).jsonText),
        (["favorite", "add", "fact", hostile], FavoriteAdd.Result(added: false).jsonText),
        (["favorite", "remove", "fact", hostile], FavoriteRemove.Result(removed: true).jsonText),
        (["favorite", "remove", "fact", hostile], FavoriteRemove.Result(removed: false).jsonText),
        (["call", hostile], JSON.object([hostile: .string(hostile)]).jsonText),
        (["reload"], JSON.string(hostile).jsonText),
        (["refresh", hostile], SourceRefresh.Result(started: [hostile]).jsonText),
        (["clear-cache", hostile], CacheClear.Result(removed: 1).jsonText),
        (
            ["recent"],
            RecentList.Result(items: [
                RecentList.Search(kind: RecentList.Search.Kind(rawValue: hostile), query: hostile, at: Machine.now)
            ]).jsonText
        ),
    ]

    private static let post = Post(
        id: hostile, source: hostile,
        author: Post.Author(id: hostile, name: hostile, handle: hostile, avatarURL: hostile, email: hostile),
        title: hostile, text: hostile, tags: [hostile],
        images: [Post.Image(url: hostile, width: 1, height: 1, alt: hostile), Post.Image(url: hostile)],
        stats: Post.Stats(likes: 1), url: hostile)

    @Test(arguments: [false, true]) func isMadeHarmlessInPosts(isSensitive: Bool) {
        var post = Self.post
        post.isSensitive = isSensitive
        let page = PostList.Result(items: [post, post], next: hostile, freshness: Self.freshness).jsonText
        let one = PostGet.Result(post: post).jsonText
        for (arguments, result) in [
            (["feed"], page), (["feed", "--source", hostile, "--author", hostile], page), (["feed", "--full"], page),
            (["post", hostile], one), (["post", hostile, "--full"], one),
        ] { isMadeHarmlessInResults(arguments: arguments, result: result) }
    }

    @Test func isMadeHarmlessInAnEmptyFeed() {
        let empty = PostList.Result(items: [], freshness: Self.freshness).jsonText
        let source = SourceStatus(name: hostile, kind: hostile, isEnabled: true, items: 1, freshness: Self.freshness)
        for items in [0, 1] {
            var source = source
            source.items = items
            let status = ServerStatus.Result(
                state: .ok, message: hostile, uptimeSeconds: 1, connections: 1, requestsTotal: 1, sources: [source],
                database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: false), version: hostile)
            let outcome = Machine(results: empty, status.jsonText).run("feed", "--source", hostile, "--author", hostile)
            #expect(!outcome.errors.isEmpty)
            #expect(forbidden(in: outcome.output + outcome.errors) == [])
        }
    }

    @Test(arguments: results) func isMadeHarmlessInResults(arguments: [String], result: String) {
        for extra in [[], ["--plain"], ["--json"], ["--width", "30"], ["--width", "1"]] {
            for isTerminal in [true, false] {
                // A status takes a second call.
                let machine = Machine(results: result, result)
                machine.terminal = TerminalFacts(isTerminal: isTerminal, columns: 80)
                machine.environment["NO_COLOR"] = "1"
                // Options precede the arguments, because the last argument may take all remaining words.
                let outcome = machine.run(extra + arguments)
                #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty)
                #expect(forbidden(in: outcome.output + outcome.errors) == [])
            }
        }
    }

    @Test func isMadeHarmlessInWhatIsKeptAndImported() {
        let machine = Machine(
            results: FavoriteAdd.Result(added: true).jsonText, FavoriteList.Result(items: [Self.favorite]).jsonText
        ).onTerminal()
        let kept = machine.run("favorite", "add", "fact", hostile)
        #expect(forbidden(in: kept.output + kept.errors) == [])
        let imported = Machine().run("favorite", "import", hostile)
        #expect(imported.status == .inputOutput)
        #expect(forbidden(in: imported.errors) == [])
        let garbage = Machine()
        garbage.files[hostile] = Array(hostile.utf8)
        let refused = garbage.run("favorite", "import", hostile)
        #expect(refused.status == .usage)
        #expect(forbidden(in: refused.errors) == [])
    }

    private static let failure = SourceFailure(
        kind: SourceFailure.Kind(rawValue: hostile), message: hostile, since: Machine.now)

    private static let events = [
        Event.source(hostile, .started), .source(hostile, .finished, items: 1),
        .source(hostile, .failed, error: failure), .source(hostile, Event.Phase(rawValue: hostile)),
        .item(source: hostile, added: 1), .server(Event.Phase(rawValue: hostile)), .server(.stopping),
    ]

    @Test(arguments: [["watch"], ["refresh", "--wait"], ["watch", "--json"], ["refresh", "--wait", "--json"]])
    func isMadeHarmlessInEvents(arguments: [String]) {
        for last in [Event.source(hostile, .finished, items: 1), .source(hostile, .failed, error: Self.failure)] {
            for columns in [nil, 20, 80] {
                let machine = Machine()
                machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns)
                machine.isErrorTerminal = true
                machine.environment["NO_COLOR"] = "1"
                machine.stream = [
                    Machine.result(#"{"topics":[]}"#),
                    Machine.result(SourceRefresh.Result(started: [hostile]).jsonText, id: 2),
                ]
                machine.stream += (Self.events + [last]).map { String(decoding: $0.line, as: UTF8.self) }
                let outcome = machine.run(arguments)
                #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty)
                #expect(forbidden(in: outcome.output + outcome.errors) == [])
            }
        }
        let unknown = Machine()
        let params: JSON = ["topic": .string(hostile), "at": "2026-11-21T12:00:00Z", hostile: .string(hostile)]
        unknown.stream = [#"{"jsonrpc":"2.0","method":"event","params":\#(params.jsonText)}"#]
        let outcome = unknown.run(arguments)
        #expect(forbidden(in: outcome.output + outcome.errors) == [])
    }

    @Test func isMadeHarmlessInErrors() {
        let error = ResponseError(
            .notFound, reason: hostile, hostile, hint: hostile, details: ["parameter": .string(hostile)])
        for arguments in [["fact"], ["fact", "--json"], ["call", "m"], ["doctor"], ["doctor", "--json"]] {
            let outcome = Machine(error: error).run(arguments)
            #expect(outcome.status == .nothing)
            #expect(forbidden(in: outcome.output + outcome.errors) == [])
        }
        let failures: [ClientError] = [
            .noSocket(paths: [hostile]), .refused(path: hostile), .notPermitted(path: hostile),
            .notASocket(path: hostile), .pathTooLong(path: hostile), .timedOut(path: hostile), .closed(path: hostile),
            .malformedReply(path: hostile, detail: hostile), .system(path: hostile, errno: 1),
        ]
        for failure in failures {
            let outcome = Machine(failure: failure).run("fact", "--socket", hostile)
            #expect(outcome.errors.split(separator: "\n").count == 2)
            #expect(forbidden(in: outcome.errors) == [])
        }
    }

    @Test(arguments: [
        [hostile], ["fact", hostile], ["fact", "--count", hostile], ["fact", "--\(hostile)"],
        ["--color", hostile, "fact"], ["fact", "--timeout", hostile], ["call", "m", "{\(hostile)"],
        ["search", "--\(hostile)"], ["fact", "-x\u{1B}"], ["help", hostile], [hostile, "--help"],
        ["favorite", hostile], ["favorite", "add", hostile, hostile], ["favorite", "list", "--kind", hostile],
        ["gif", "--limit", hostile], ["card", "--size", hostile], ["card", hostile], ["card", "--show", "-o", hostile],
    ]) func isMadeHarmlessInUsageErrors(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .usage)
        #expect(forbidden(in: outcome.output + outcome.errors) == [])
        #expect(outcome.errors.split(separator: "\n").count <= 2)
    }
}
