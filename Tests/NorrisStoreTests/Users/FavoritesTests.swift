import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FavoritesTests {
    private let fixture = StoreFixture()

    private func withFavorites(_ body: (Favorites) async throws -> Void) async throws {
        let databases = try await fixture.databases()
        try await body(Favorites(databases: databases))
        await databases.close()
    }

    private func fact(_ id: String, at seconds: Int64 = 1) -> Favorite {
        Favorite(fact: .upstream(id), at: Timestamp(seconds: seconds))
    }

    private static let gif = Gif(
        id: "g", title: "A kick", rating: "g", pageURL: "https://g.example/g",
        renditions: ["original": Gif.Rendition(url: "https://g.example/g.gif")])

    private func page(
        _ favorites: Favorites, _ kind: Favorite.Kind? = nil, uid: UInt32 = 1, cursor: String? = nil, limit: Int = 50
    ) async throws -> Page<Favorite> { try await favorites.list(kind, uid: uid, cursor: cursor, limit: limit) }

    @Test func factsAndPostsAreKeptWholeAndGIFsByTheirTitle() async throws {
        try await withFavorites { favorites async throws in
            let items = [
                Favorite(fact: .upstream("f", categories: ["x"]), at: Timestamp(seconds: 1)),
                Favorite(post: .sample("a:1", at: 5), at: Timestamp(seconds: 2)),
                Favorite(gif: FavoritesTests.gif, at: Timestamp(seconds: 3)),
            ]
            for item in items { #expect(try await favorites.add(item, uid: 1)) }
            var expected = items.reversed().map { $0 }
            expected[0].gif = nil
            #expect(try await page(favorites) == Page(items: expected, total: 3))
            let bytes = try fixture.folder.bytes("state/state.db-wal")
            #expect(bytes.contains("A kick") && !bytes.contains("g.example"))
        }
    }

    @Test func gifsOfEachUserAreFetchedAgainInTurn() async throws {
        try await withFavorites { favorites async throws in
            for (number, uid) in [(1, 2), (2, 1), (3, 1), (4, 1)] as [(Int64, UInt32)] {
                let gif = Gif(id: "g\(number)", title: "", rating: "g", pageURL: "")
                #expect(try await favorites.add(Favorite(gif: gif, at: Timestamp(seconds: number)), uid: uid))
            }
            // The newest of each user first.
            #expect(await favorites.gifIDs(limit: 3) == ["g4", "g1", "g3"])
        }
    }

    @Test func anItemIsKeptOnceAndStaysAsItWas() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(fact("f", at: 1), uid: 1))
            #expect(try await !favorites.add(Favorite(fact: .upstream("f", "New."), at: Timestamp(seconds: 9)), uid: 1))
            #expect(try await page(favorites).items == [fact("f", at: 1)])
            // An id is unique only within a kind and a user.
            #expect(try await favorites.add(Favorite(post: .sample("f")), uid: 1))
            #expect(try await favorites.add(fact("f"), uid: .max))
            #expect(try await favorites.remove(.fact, id: "f", uid: 1) == fact("f").title)
            #expect(try await favorites.remove(.fact, id: "f", uid: 1) == nil)
            #expect(try await favorites.remove(.gif, id: "f", uid: 1) == nil)
            #expect(try await page(favorites).items.map(\.kind) == [.post])
            #expect(try await page(favorites, uid: .max).items.map(\.kind) == [.fact])
            #expect(try await page(favorites, uid: 2).items == [])
        }
    }

    @Test func cursorsOfOthersAreRefused() async throws {
        try await withFavorites { favorites async throws in
            for uid: UInt32 in [1, 2] {
                for id in ["a", "b", "c"] { #expect(try await favorites.add(fact(id), uid: uid)) }
            }
            let cursor = try #require(try await page(favorites, limit: 1).next)
            let ofFacts = try #require(try await page(favorites, .fact, limit: 1).next)
            #expect(try await page(favorites, cursor: cursor).items.map(\.id) == ["b", "a"])
            #expect(try await page(favorites, .fact, cursor: ofFacts).items.map(\.id) == ["b", "a"])
            for (kind, uid, text) in [
                (nil, 2, cursor), (.fact, 1, cursor), (nil, 1, ofFacts), (.post, 1, ofFacts),
            ] as [(Favorite.Kind?, UInt32, String)] {
                await #expect(throws: ResponseError.foreignCursor) {
                    try await page(favorites, kind, uid: uid, cursor: text)
                }
            }
        }
    }

    private func found(
        _ favorites: Favorites, _ query: String, _ kind: Favorite.Kind? = nil, uid: UInt32 = 1, cursor: String? = nil,
        limit: Int = 50
    ) async throws -> Page<Favorite> {
        try await favorites.list(kind, matching: SearchWords(query), uid: uid, cursor: cursor, limit: limit)
    }

    @Test func aSearchFindsAllWordsInTitleAndContent() async throws {
        try await withFavorites { favorites async throws in
            var post = Post.sample("a:1", "Kick the BUCKET.", by: "ann")
            (post.title, post.tags) = ("News", ["Über"])
            let items = [
                Favorite(fact: .upstream("f", "A kick\nand a  punch."), at: Timestamp(seconds: 1)),
                Favorite(post: post, at: Timestamp(seconds: 2)), Favorite(gif: Self.gif, at: Timestamp(seconds: 3)),
            ]
            for item in items { #expect(try await favorites.add(item, uid: 1)) }
            let cases: [(String, [String])] = [
                ("KICK", ["g", "a:1", "f"]), ("kick \"and a punch\"", ["f"]), ("news bucket ÜBER ann", ["a:1"]),
                ("kick card", []), ("a%", []),
            ]
            for (query, ids) in cases {
                let page = try await found(favorites, query)
                #expect(page.items.map(\.id) == ids && page.total == ids.count && page.next == nil, "\(query)")
            }
            #expect(try await found(favorites, "kick", .post).items.map(\.id) == ["a:1"])
            #expect(try await found(favorites, "kick", uid: 2).items == [])
        }
    }

    @Test func noMoreThanTheMaximumIsKept() async throws {
        try await withFavorites { favorites async throws in
            try await favorites.databases.state.write { database in
                for number in 1..<FavoriteList.maximum {
                    _ = try Favorites.insert(fact("f\(number)"), uid: 1, database)
                }
            }
            #expect(try await page(favorites, limit: 1).total == nil)
            let two = [fact("new"), fact("newer")]
            await #expect(throws: Favorites.isFull) { try await favorites.import(two, uid: 1) }
            #expect(try await favorites.add(fact("new"), uid: 1))
            let error = await #expect(throws: ResponseError.self) { try await favorites.add(fact("newer"), uid: 1) }
            #expect(error?.code == .busy)
            #expect(try await !favorites.add(fact("new"), uid: 1))
            #expect(try await favorites.add(fact("newer"), uid: 2))
            #expect(try await favorites.remove(.fact, id: "f1", uid: 1) != nil)
            #expect(try await favorites.add(fact("newer"), uid: 1))
        }
    }

    @Test func areOnTheDiskWhenTheCallReturns() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(fact("f"), uid: 1))
            let killed = try await fixture.killed().databases()
            #expect(try await page(Favorites(databases: killed)).items == [fact("f")])
            await killed.close()
            #expect(try await favorites.remove(.fact, id: "f", uid: 1) != nil)
            let again = try await fixture.killed().databases()
            #expect(try await page(Favorites(databases: again)).items == [])
            await again.close()
            let mode = try await favorites.databases.state.write { try $0.value("PRAGMA synchronous") as Int? }
            #expect(mode == 2)
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool { indices.contains { self[$0...].starts(with: text.utf8) } }
}
