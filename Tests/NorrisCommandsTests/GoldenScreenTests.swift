import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct GoldenScreenTests {
    private func check(
        _ name: String, _ arguments: [String], _ result: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try GoldenScreen(name: name, arguments: arguments) { Machine(results: result) }
            .check(sourceLocation: sourceLocation)
    }

    // MARK: Facts

    private static let facts: [(name: String, fact: Fact)] = [
        ("fact", fact("ye0_hnd3rgq68e", "Chuck Norris can instantiate an abstract class.", ["dev"])),
        (
            "fact-long",
            fact(
                "builtin-dev-12",
                """
                Chuck Norris once opened a text editor, looked at the screen for a minute and closed it again; the \
                program was finished, tested and documented, and the computer had learned some manners as well. Nobody \
                has dared to read the program since, but it is said that it has no loops: once was always enough.
                """, ["dev", "science", "career"])
        ), ("fact-wide", fact("fortune-1", "チャック・ノリスは腕立て伏せをしない。地球を押し下げるのだ。👩‍💻 writes it down, 👍🏽 all round.")),
        (
            "fact-right-to-left",
            fact(
                "fortune-2", "تشاك نوريس لا يقرأ الكتب، بل يحدق فيها 3 مرات حتى يحصل على المعلومات التي يريدها.",
                ["arabic"])
        ),
        (
            "fact-verse",
            fact("fortune-3", "One line,\n\tand another with a tab,\n  * a point\tof\tthree columns\n", ["poems"])
        ),
    ]

    private static func fact(_ id: String, _ text: String, _ categories: [String] = []) -> Fact {
        Fact(id: id, text: text, categories: categories, source: "s", url: "https://example.org/\(id)")
    }

    private static let isFresh = Freshness(
        origin: .cache, state: .fresh, fetchedAt: Timestamp("2026-11-21T11:00:00Z"), ageSeconds: 3_600)

    @Test(arguments: facts) func showsAFact(name: String, fact: Fact) throws {
        try check(name, ["fact"], FactRandom.Result(items: [fact], freshness: Self.isFresh).jsonText)
    }

    @Test func showsCategories() throws {
        let items = [("animal", 9), ("career", 1_012), ("dev", 73), ("science", 128)].map {
            FactCategories.Category(name: $0, count: $1)
        }
        try check("categories", ["categories"], FactCategories.Result(items: items, freshness: Self.isFresh).jsonText)
    }

    @Test func showsASearchWithItsFoot() throws {
        let items = [Self.facts[0].fact, Self.facts[1].fact]
        let page = FactSearch.Result(items: items, total: 312, next: "c", freshness: Self.isFresh)
        try check("search", ["search", "chuck", "--limit", "2"], page.jsonText)
    }

    @Test func showsAnError() throws {
        let error = ResponseError.notFound("There is no category \"devv\".", hint: "fact.categories lists them.")
        let categories = Machine.result(#"{"items":[{"name":"dev","count":31}],"freshness":\#(fresh)}"#)
        try GoldenScreen(name: "error", arguments: ["fact", "--category", "devv"]) {
            let machine = Machine(error: error)
            machine.reply(.success(Array(categories.utf8)))
            return machine
        }.check()
    }

    // MARK: GIFs

    private static let gif = Gif(
        id: "l4FGpPki5v2Bcd6Ss", title: "Round House Kick GIF by Retro Reel", rating: "g",
        pageURL: "https://giphy.com/gifs/l4FGpPki5v2Bcd6Ss", username: "retroreel",
        altText: "A man with a beard kicks the camera, and the camera says sorry.",
        renditions: [
            "original": Gif.Rendition(
                url: "https://media.giphy.com/media/l4FGpPki5v2Bcd6Ss/giphy.gif", width: 480, height: 229,
                bytes: 954_321, frames: 20)
        ])

    @Test func showsGIFs() throws {
        let other = Gif(id: "x1", title: "", rating: "pg", pageURL: "https://giphy.com/gifs/x1", isSticker: true)
        let page = GifSearch.Result(items: [Self.gif, other], total: 75, next: "c", freshness: Self.isFresh)
        try check("gif", ["gif", "kick", "--limit", "2"], page.jsonText)
    }

    // MARK: Posts

    private static func post(_ id: String, _ text: String, images: Int = 0, isRead: Bool = false) -> Post {
        let alts = ["A cat on a mat, looking at the camera", nil, "The mat"]
        return Post(
            id: id, source: "town",
            author: Post.Author(id: "town:7", name: "Ada Lovelace", handle: "@ada@town.example"),
            publishedAt: Timestamp("2026-11-21T11:57:00Z"), text: text, tags: ["maths", "engines"],
            images: (0..<images).map { index in
                Post.Image(
                    url: "https://files.example/pic\(index + 1).jpg", width: 640, height: 480,
                    alt: index < alts.count ? alts[index] : nil)
            }, stats: Post.Stats(likes: 12, comments: 1), url: "https://town.example/@ada/\(id)", isRead: isRead)
    }

    private static let essay = """
        The analytical engine has no pretensions whatever to originate anything. It can do whatever we know how to \
        order it to perform. It can follow analysis; but it has no power of anticipating any truths.

        Its province is to assist us in making available what we are already acquainted with.
        """

    @Test func showsAFeed() throws {
        var arabic = Self.post("town:6", "صباح الخير أيها العالم.", images: 2)
        arabic.author = Post.Author(id: "town:8", name: "شهرزاد", handle: "@shahrazad")
        arabic.images[0].alt = "قطة"
        let posts = [
            Self.post("town:1", "Good morning.", images: 1), Self.post("town:2", Self.essay, images: 2),
            Self.post("town:3", "Three.", images: 3, isRead: true), Self.post("town:5", "Many.", images: 9), arabic,
        ]
        let page = PostList.Result(items: posts, total: 366, next: "c", freshness: Self.isFresh)
        try check("feed", ["feed", "--limit", "5"], page.jsonText)
    }

    @Test func showsAPost() throws {
        let post = Self.post("town:2", Self.essay, images: 2)
        try check("post", ["post", "town:2", "--full"], PostGet.Result(post: post).jsonText)
    }

    // MARK: Lists of the user

    @Test func showsRecentSearches() throws {
        let searches = [
            ("fact", "round house", "2026-11-21T11:59:50Z"), ("gif", "kick", "2026-11-21T09:00:00Z"),
            ("fact", "ضربة", "2026-11-20T12:00:00Z"),
            ("fact", "what is so long that nobody would type it, but some programs do", "2026-11-19T12:00:00Z"),
        ].map { kind, query, time in
            // SAFETY: The literals are valid timestamps.
            RecentList.Search(kind: .init(rawValue: kind), query: query, at: Timestamp(time)!)
        }
        try check("recent", ["recent"], RecentList.Result(items: searches).jsonText)
    }

    @Test func showsFavorites() throws {
        let long = Self.facts[1].fact
        // SAFETY: The literals are valid timestamps.
        let times = ["2026-11-21T11:00:00Z", "2026-11-20T12:00:00Z"].map { Timestamp($0)! }
        let favorites = [
            Favorite(kind: .fact, id: long.id, title: long.text, addedAt: times[0], fact: long),
            Favorite(kind: .gif, id: Self.gif.id, title: Self.gif.title, addedAt: times[1], gif: Self.gif),
        ]
        try check("favorites", ["favorite", "list"], FavoriteList.Result(items: favorites).jsonText)
    }

    @Test func showsEvents() throws {
        let failure = SourceFailure(
            kind: .offline, message: "There is no route to town.example.", since: Machine.now,
            retryAt: Timestamp("2026-11-21T12:05:00Z"))
        let events: [Event] = [
            .source("facts", .started, at: Machine.now), .item(source: "facts", added: 12, at: Machine.now),
            .item(
                source: "planet", added: 2,
                items: [
                    .init(
                        id: "planet:1", title: "A week with a new compiler, and what it found in twenty-year-old code"),
                    .init(id: "planet:2", title: "日本語 \u{1B}[31mred\nline"),
                ], at: Machine.now),
            .source("facts", .finished, items: 9_000, at: Machine.now),
            .source("community-of-a-long-name", .failed, error: failure, at: Machine.now),
            .server(.stopping, at: Machine.now),
        ]
        try GoldenScreen(name: "watch", arguments: ["watch"]) {
            let machine = Machine()
            machine.stream = [Machine.result(#"{"topics":["source","item","server"]}"#)] + events.map(Machine.line)
            return machine
        }.check()
    }

    // MARK: First run

    @Test func welcomesWithAFactOfTheShuffle() throws {
        let next = FactRandom.Result(items: [Self.facts[0].fact], freshness: Self.isFresh)
        try check("welcome", [], next.jsonText)
    }

    @Test func welcomesWithoutADaemon() throws {
        try GoldenScreen(name: "welcome-away", arguments: []) {
            Machine(failure: .noSocket(paths: ["/run/user/1000/norrisd.sock", "/run/norrisd.sock"]))
        }.check()
    }
}

/// The page of `norrisctl status`, compared with files below `Golden/`.
struct GoldenStatusTests {
    private func time(_ minutes: Int64) -> Timestamp { Timestamp(seconds: Machine.now.seconds + minutes * 60) }

    private func source(
        _ name: String, _ kind: String, items: Int, fetched minutes: Int64, next: Int64? = nil
    ) -> SourceStatus {
        SourceStatus(
            name: name, kind: kind, isEnabled: true, items: items,
            freshness: Freshness(
                origin: .cache, state: .fresh, fetchedAt: time(-minutes), ageSeconds: Int(minutes) * 60),
            nextRunAt: next.map(time))
    }

    private var healthy: ServerStatus.Result {
        var gifs = source("gifs", "giphy", items: 75, fetched: 125, next: 180)
        gifs.quota = SourceStatus.Quota(limit: 100, used: 63, resetsAt: time(41))
        return ServerStatus.Result(
            state: .ok, message: "9156 facts, 75 gifs, 366 posts", uptimeSeconds: 7_500, connections: 1,
            requestsTotal: 12_210,
            requestsPerMinute: (0..<60).map { minute in [0, 3, 1, 0, 12, 35, 20, 5, 0, 0][minute % 10] * minute / 59 },
            sources: [
                source("facts", "chucknorris", items: 9_156, fetched: 180, next: 1_260), gifs,
                source("town", "mastodon", items: 366, fetched: 4, next: 25),
            ],
            database: ServerStatus.Database(
                cacheBytes: 17 << 20, stateBytes: 1_887_437, isReadOnly: false, freeBytes: 12 << 30), version: "0.1.0")
    }

    private func check(
        _ name: String, _ status: ServerStatus.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try GoldenScreen(name: name, arguments: ["status"]) { Machine(results: status.jsonText, #"{"items":[]}"#) }
            .check(sourceLocation: sourceLocation)
    }

    @Test func showsWhatIsWell() throws { try check("status", healthy) }

    @Test func showsWhatIsNot() throws {
        var status = healthy
        status.state = .degraded
        status.message = "The state database cannot be written: no space left on device; free some and restart norrisd."
        status.requestsPerMinute = [4, 0, 1]
        status.database.isReadOnly = true
        status.database.freeBytes = 0
        status.sources[0].freshness = Freshness(origin: .builtin, state: .stale)
        status.sources[1].isEnabled = false
        status.sources[1].freshness = Freshness(origin: .none, state: .empty)
        status.sources[1].nextRunAt = nil
        status.sources[1].quota = nil
        status.sources[2].freshness.state = .stale
        status.sources[2].freshness.error = SourceFailure(
            kind: .offline, message: "There is no route to town.example.", since: time(-120), retryAt: time(5))
        status.sources[2].nextRunAt = time(5)
        status.sources[2].consecutiveFailures = 7
        try check("status-degraded", status)
    }

    /// The daemon is not degraded, because its content is still recent. A missing API key is no failure.
    @Test func showsWhichSourcesFail() throws {
        var status = healthy
        for (index, kind) in [(0, SourceFailure.Kind.offline), (2, .timeout)] {
            status.sources[index].freshness.error = SourceFailure(
                kind: kind, message: "No reply came.", since: time(-120), retryAt: time(5))
            status.sources[index].consecutiveFailures = 7
        }
        status.sources.append(source("planet", "feed", items: 0, fetched: 0, next: 1))
        status.sources[3].freshness = Freshness(
            origin: .none, state: .empty, error: SourceFailure(kind: .http, message: "HTTP 404.", since: time(0)))
        status.sources[1].isConfigured = false
        status.sources[1].items = 0
        status.sources[1].freshness = Freshness(
            origin: .none, state: .empty,
            error: SourceFailure(kind: .credentials, message: "GIFs are not set up.", since: time(-120)))
        status.sources[1].nextRunAt = nil
        status.sources[1].quota = nil
        try check("status-failing", status)
        status.sources = [status.sources[1]]
        try check("status-not-set-up", status)
    }

    @Test func showsAUsedUpQuota() throws {
        var status = healthy
        status.sources[1].quota?.used = 100
        status.sources[1].freshness.error = SourceFailure(
            kind: .quota, message: "100 requests an hour are used up.", since: time(-10), retryAt: time(41))
        try check("status-quota", status)
    }
}

/// The output of a command to terminals of 40, 80 and 132 columns, with and without color, and to a pipe. Compared
/// byte for byte with a file below `Golden/`, in which `␛` represents ESC.
struct GoldenScreen {
    let name: String
    let arguments: [String]
    /// Creates a machine for each run, because a machine replies only once.
    let machine: () -> Machine

    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try checkGolden("\(name).txt", text, sourceLocation: sourceLocation)
    }

    private var text: String {
        var sections: [String] = []
        for columns in [40, 80, 132] {
            sections.append(section("\(columns) columns", columns, ["TERM": "dumb"]))
            sections.append(section("\(columns) columns, in color", columns, ["TERM": "xterm"]))
        }
        sections.append(section("a pipe", nil, [:]))
        return sections.joined(separator: "\n")
    }

    private func section(_ title: String, _ columns: Int?, _ environment: [String: String]) -> String {
        let machine = machine()
        machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns)
        machine.environment = environment
        let outcome = machine.run(arguments)
        let command = (["norrisctl"] + arguments).joined(separator: " ")
        let errors = outcome.errors.isEmpty ? "" : "--- standard error\n\(outcome.errors)"
        return "=== \(title): \(command)\n\(outcome.output)\(errors)".replacing("\u{1B}", with: "␛")
    }
}
