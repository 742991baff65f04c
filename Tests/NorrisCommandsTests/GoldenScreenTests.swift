import NorrisClient
import NorrisProtocol
import Testing

/// The screens as people see them, in files below `Golden/`.
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
                """,
                ["dev", "science", "career"]
            )
        ),
        (
            "fact-wide",
            fact("fortune-1", "チャック・ノリスは腕立て伏せをしない。地球を押し下げるのだ。👩‍💻 writes it down, 👍🏽 all round.")
        ),
        (
            "fact-right-to-left",
            fact(
                "fortune-2",
                "تشاك نوريس لا يقرأ الكتب، بل يحدق فيها 3 مرات حتى يحصل على المعلومات التي يريدها.", ["arabic"]
            )
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
        origin: .cache, state: .fresh, fetchedAt: Timestamp("2026-11-21T11:00:00Z"), ageSeconds: 3_600
    )

    @Test(arguments: facts)
    func showsAFact(name: String, fact: Fact) throws {
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
        try GoldenScreen(name: "error", arguments: ["fact", "--category", "devv"]) { Machine(error: error) }.check()
    }

    // MARK: GIFs

    private static let gif = Gif(
        id: "l4FGpPki5v2Bcd6Ss", title: "Round House Kick GIF by Retro Reel", rating: "g",
        pageURL: "https://giphy.com/gifs/l4FGpPki5v2Bcd6Ss", username: "retroreel",
        altText: "A man with a beard kicks the camera, and the camera says sorry.",
        renditions: [
            "original": Gif.Rendition(
                url: "https://media.giphy.com/media/l4FGpPki5v2Bcd6Ss/giphy.gif", width: 480, height: 229,
                bytes: 954_321, frames: 20
            )
        ]
    )

    @Test func showsGIFs() throws {
        let other = Gif(id: "x1", title: "", rating: "pg", pageURL: "https://giphy.com/gifs/x1", isSticker: true)
        let page = GifSearch.Result(items: [Self.gif, other], total: 75, next: "c", freshness: Self.isFresh)
        try check("gif", ["gif", "kick", "--limit", "2"], page.jsonText)
    }

    // MARK: Posts

    private static func post(_ id: String, _ text: String, images: Int = 0, isRead: Bool = false) -> Post {
        let alts = ["A cat on a mat, looking at the camera", nil, "The mat"]
        return Post(
            id: id,
            source: "town",
            author: Post.Author(id: "town:7", name: "Ada Lovelace", handle: "@ada@town.example"),
            publishedAt: Timestamp("2026-11-21T11:57:00Z"),
            text: text,
            tags: ["maths", "engines"],
            images: (0..<images).map { index in
                Post.Image(
                    url: "https://files.example/pic\(index + 1).jpg", width: 640, height: 480,
                    alt: index < alts.count ? alts[index] : nil
                )
            },
            stats: Post.Stats(likes: 12, comments: 1),
            url: "https://town.example/@ada/\(id)",
            isRead: isRead
        )
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

    // MARK: What a user keeps

    @Test func showsRecentSearches() throws {
        let searches = [
            ("fact", "round house", "2026-11-21T11:59:50Z"), ("gif", "kick", "2026-11-21T09:00:00Z"),
            ("fact", "ضربة", "2026-11-20T12:00:00Z"),
            ("fact", "what is so long that nobody would type it, but some programs do", "2026-11-19T12:00:00Z"),
        ].map { kind, query, time in
            // The literals are times.
            RecentList.Search(kind: .init(rawValue: kind), query: query, at: Timestamp(time)!)
        }
        try check("recent", ["recent"], RecentList.Result(items: searches).jsonText)
    }

    @Test func showsFavorites() throws {
        let long = Self.facts[1].fact
        // The literals are times.
        let times = ["2026-11-21T11:00:00Z", "2026-11-20T12:00:00Z"].map { Timestamp($0)! }
        let favorites = [
            Favorite(kind: .fact, id: long.id, title: long.text, addedAt: times[0], fact: long),
            Favorite(kind: .gif, id: Self.gif.id, title: Self.gif.title, addedAt: times[1], gif: Self.gif),
        ]
        try check("favorites", ["favorite", "list"], FavoriteList.Result(items: favorites).jsonText)
    }

    // MARK: First run

    @Test func welcomesWithTheFactOfTheDay() throws {
        let today = FactToday.Result(fact: Self.facts[0].fact, freshness: Self.isFresh)
        try check("welcome", [], today.jsonText)
    }

    @Test func welcomesWithoutADaemon() throws {
        try GoldenScreen(name: "welcome-away", arguments: []) {
            Machine(failure: .noSocket(paths: ["/run/user/1000/norrisd.sock", "/run/norrisd.sock"]))
        }.check()
    }
}
