import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisStore

/// Imports of favorites from untrusted files.
struct FavoriteImportTests {
    private let fixture = StoreFixture()
    private let favorites: Favorites
    private let now = Timestamp(seconds: 1_000)

    init() async throws {
        let databases = try await fixture.databases()
        favorites = Favorites(databases: databases)
    }

    private func kept(_ uid: UInt32 = 1) async throws -> [Favorite] {
        try await favorites.list(uid: uid, cursor: nil, limit: 100).items
    }

    private func item(_ id: String, at seconds: Int64 = 5) -> Favorite {
        Favorite(kind: .fact, id: id, title: "Title of \(id)", addedAt: Timestamp(seconds: seconds))
    }

    @Test("Another user imports the list of a user and then has an equal list") func roundTrip() async throws {
        let gif = Gif(id: "g", title: "GIF", rating: "g", pageURL: "https://g.example/g")
        for (number, item) in [
            Favorite(fact: .upstream("f", "A\tfact\nof lines.", categories: ["x"]), at: now),
            Favorite(gif: gif, at: now), Favorite(post: .sample("a:1", at: 5), at: now),
            Favorite(post: .sample("a:2"), at: Timestamp(seconds: 7)),
        ].enumerated() { #expect(try await favorites.add(item, uid: 1), "\(number)") }
        var listed = try await kept()
        #expect(listed.map(\.id) == ["a:1", "g", "f", "a:2"])
        // The daemon adds GIFs that it has stored.
        listed[1].gif = gif
        #expect(try await favorites.import(listed, uid: 2, at: now) == .init(added: 4, known: 0))
        #expect(try await kept(2) == kept())
        #expect(try await favorites.import(listed, uid: 2, at: now) == .init(added: 0, known: 4))
    }

    @Test func timesAreKeptButNoneToComeOrBeforeAllClocks() async throws {
        let items = [item("future", at: 2_000), item("old", at: -5), item("same"), item("same")]
        #expect(try await favorites.import(items, uid: 1, at: now) == .init(added: 3, known: 1))
        #expect(try await kept().map(\.id) == ["future", "same", "old"])
        #expect(try await kept().map(\.addedAt.seconds) == [1_000, 5, 0])
    }

    @Test func textsAreMadeHarmless() async throws {
        let bad = "\u{1B}[31ma\u{202E}b\u{7F}"
        let good = "ab"
        var fact = item("f")
        fact.title = bad + "\nmore"
        fact.fact = Fact(id: "f", text: bad, categories: ["x", "X Y"], source: bad)
        var post = item("p")
        post.kind = .post
        post.title = ""
        post.post = Post(
            id: "p", source: bad,
            author: .init(id: bad, name: bad, handle: bad, email: bad + "\n"),
            title: bad, text: bad + "\n" + bad, tags: [bad],
            images: [.init(url: "http://a.example/1", alt: bad)], links: ["https://a.example/2"])
        post.fact = fact.fact
        #expect(try await favorites.import([fact, post], uid: 1, at: now).added == 2)
        let kept = try await kept()
        #expect(kept[0].title == good + " more")
        #expect(kept[0].fact == Fact(id: "f", text: good, categories: ["x"], source: good))
        #expect(kept[1].title == good)
        let author = Post.Author(id: good, name: good, handle: good, email: good)
        #expect(
            kept[1].post
                == Post(
                    id: "p", source: good, author: author, title: good, text: good + "\n" + good, tags: [good],
                    images: [.init(url: "http://a.example/1", alt: good)], links: ["https://a.example/2"]))
        #expect(kept[1].fact == nil)
    }

    private static let faults: [(message: String, change: @Sendable (inout Favorite) -> Void)] = [
        ("is of the kind \"quote\"; use fact, gif or post", { $0.kind = Favorite.Kind(rawValue: "quote") }),
        ("has no usable id", { $0.id = "" }), ("has no usable id", { $0.id = String(repeating: "i", count: 201) }),
        ("has no usable id", { $0.id = "a\u{7F}b" }), ("has no usable id", { $0.id = "a\nb" }),
        ("has the content of another id", { $0.fact = .upstream("g") }),
        ("has the content of another id", { ($0.kind, $0.post) = (.post, .sample("g")) }),
        ("has a content of 7", { ($0.kind, $0.post) = (.post, .sample("f", String(repeating: "x", count: 70_000))) }),
        ("has a fact of the category explicit", { $0.fact = .upstream("f", categories: ["x", "explicit"]) }),
        ("has an id that Giphy gives to no GIF", { ($0.kind, $0.id) = (.gif, "a/../b") }),
        ("has an id that Giphy gives to no GIF", { ($0.kind, $0.id) = (.gif, String(repeating: "g", count: 65)) }),
        ("has a fact without text", { $0.fact = .upstream("f", "\u{1B}[0m") }),
        ("has a fact without text", { $0.fact = .upstream("f", String(repeating: "x", count: 10_001)) }),
    ]

    @Test(arguments: faults.indices) func badItemIsNamedAndNothingIsKept(number: Int) async throws {
        let (message, change) = Self.faults[number]
        var bad = item("f")
        change(&bad)
        let error = await #expect(throws: ResponseError.self) {
            try await favorites.import([item("a"), item("b"), bad, item("c")], uid: 1, at: now)
        }
        #expect(error?.code == .invalidParams)
        #expect(error?.message.hasPrefix("Item 3 \(message)") == true, "\(error?.message ?? "")")
        #expect(error?.details["parameter"] == .string("items"))
        #expect(try await kept() == [])
    }
}

struct FavoriteTitleTests {
    private func title(_ text: String) -> String { Favorite(fact: .upstream("f", text)).title }

    @Test func factsByTheirTextAsOneLineOfALimitedLength() {
        #expect(title("\n \nOne,\ttwo\nthree") == "One, two three")
        #expect(title("\u{1B}[1mBold\u{1B}[0m\u{202E}") == "Bold")
        let wide = title(String(repeating: "功", count: 300))
        #expect(displayWidth(of: wide) <= 500)
        #expect(wide.hasSuffix("…") && wide.count == 250)
        // Combining marks, which occupy no column.
        #expect(title("e" + String(repeating: "\u{301}", count: 2_000)).unicodeScalars.count == 1_000)
    }

    @Test func postsByTitleTextOrPictures() {
        var post = Post.sample("a:1", "First.\nSecond.")
        post.title = "Title"
        #expect(Favorite(post: post).title == "Title")
        post.title = ""
        #expect(Favorite(post: post).title == "First. Second.")
        // Hidden text is never a title.
        post.isSensitive = true
        #expect(Favorite(post: post).title == "Post by ann")
        post.isSensitive = false
        post.text = nil
        post.images = [.init(url: "https://a.example/1")]
        #expect(Favorite(post: post).title == "1 image by ann")
    }
}
