import NorrisProtocol
import NorrisSystem
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
            var post = Post.sample("a:1", at: 5)
            let items = [
                Favorite(fact: .upstream("f", categories: ["x"]), at: Timestamp(seconds: 1)),
                Favorite(post: post, at: Timestamp(seconds: 2)),
                Favorite(gif: FavoritesTests.gif, at: Timestamp(seconds: 3)),
            ]
            for item in items { #expect(try await favorites.add(item, uid: 1)) }
            var expected = items.reversed().map { $0 }
            expected[0].gif = nil
            #expect(try await page(favorites) == Page(items: expected, total: 3))
            let bytes = try fixture.folder.bytes("state/state.db-wal")
            #expect(bytes.contains("A kick") && !bytes.contains("g.example"))

            // A favorite does not include the read mark.
            post.id = "a:2"
            post.isRead = true
            #expect(try await favorites.add(Favorite(post: post), uid: 1))
            #expect(try await page(favorites).items[0].post?.isRead == false)
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
            #expect(try await favorites.remove(.fact, id: "f", uid: 1))
            #expect(try await !favorites.remove(.fact, id: "f", uid: 1))
            #expect(try await !favorites.remove(.gif, id: "f", uid: 1))
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
                (nil, 2, cursor), (.fact, 1, cursor), (nil, 1, ofFacts), (.post, 1, ofFacts), (nil, 1, ""),
                (nil, 1, "1.1.1"), (nil, 1, cursor + "0"),
            ] as [(Favorite.Kind?, UInt32, String)] {
                await #expect(throws: ResponseError.foreignCursor) {
                    try await page(favorites, kind, uid: uid, cursor: text)
                }
            }
            #expect(favorites.databases.faults == [])
        }
        // A cursor stays valid after a restart and after removal of the page's last item.
        try await withFavorites { favorites async throws in
            let cursor = try #require(try await page(favorites, limit: 2).next)
            #expect(try await favorites.remove(.fact, id: "b", uid: 1))
            await favorites.databases.close()
            try await withFavorites { favorites async throws in
                #expect(try await page(favorites, cursor: cursor).items.map(\.id) == ["a"])
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
                ("KICK", ["g", "a:1", "f"]), ("kick \"and a punch\"", ["f"]), ("news bucket", ["a:1"]),
                ("ÜBER", ["a:1"]),
                ("ann kick", ["a:1"]), ("kick card", []), ("a%", []),
            ]
            for (query, ids) in cases {
                let page = try await found(favorites, query)
                #expect(page.items.map(\.id) == ids && page.total == ids.count && page.next == nil, "\(query)")
            }
            #expect(try await found(favorites, "kick", .post).items.map(\.id) == ["a:1"])
            #expect(try await found(favorites, "kick", uid: 2).items == [])
        }
    }

    @Test func aSearchIsReadInPages() async throws {
        try await withFavorites { favorites async throws in
            try await favorites.databases.state.write { database in
                for number in 0..<1_200 {
                    let text = number.isMultiple(of: 3) ? "three" : number == 700 ? "rare" : "other"
                    let item = Favorite(fact: .upstream("\(number)", text), at: Timestamp(seconds: Int64(number / 7)))
                    _ = try Favorites.insert(item, uid: 1, database)
                }
            }
            var ids: [String] = []
            var cursor: String?
            repeat {
                let page = try await found(favorites, "three", cursor: cursor, limit: 90)
                #expect(page.total == 400)
                ids += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil && ids.count < 1_000
            #expect(ids == (0..<400).map { "\(3 * $0)" }.reversed())
            #expect(try await found(favorites, "rare", limit: 1).items.map(\.id) == ["700"])
            let all = try await found(favorites, "r", limit: 1)
            #expect(all.total == nil && all.items.map(\.id) == ["1199"])
            await #expect(throws: ResponseError.foreignCursor) {
                try await found(favorites, "other", cursor: all.next)
            }
            await #expect(throws: ResponseError.foreignCursor) { try await page(favorites, cursor: all.next) }
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
            #expect(try await favorites.import([fact("f1")], uid: 1) == .init(added: 0, known: 1))
            #expect(try await favorites.add(fact("new"), uid: 1))
            let error = await #expect(throws: ResponseError.self) { try await favorites.add(fact("newer"), uid: 1) }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("10000") == true)
            #expect(error?.hint?.contains("Remove some") == true)
            #expect(try await !favorites.add(fact("new"), uid: 1))
            #expect(try await favorites.add(fact("newer"), uid: 2))
            #expect(favorites.databases.faults == [])
            #expect(try await favorites.remove(.fact, id: "f1", uid: 1))
            #expect(try await favorites.add(fact("newer"), uid: 1))
        }
    }

    @Test("On the disk when the call returns, for another connection and after a crash")
    func areDurable() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(fact("f"), uid: 1))
            let path = fixture.folder("state/state.db")
            let ids = { try Database(path: path, .read).map("SELECT id FROM favorites") { try $0[0] as String } }
            #expect(try ids() == ["f"])
            let killed = try await fixture.killed().databases()
            #expect(try await page(Favorites(databases: killed)).items == [fact("f")])
            await killed.close()
            #expect(try await favorites.remove(.fact, id: "f", uid: 1))
            #expect(try ids() == [])
            let mode = try await favorites.databases.state.write { try $0.value("PRAGMA synchronous") as Int? }
            #expect(mode == 2)
        }
    }

    @Test func stateInMemoryTakesNothingThatWouldBeLost() async throws {
        let file = try fixture.folder.write("file", "no folder")
        let databases = try await Databases(
            cacheFolder: fixture.cacheFolder, stateFolder: file + "/state", logger: .silent)
        let favorites = Favorites(databases: databases)
        let refusal = ResponseError.storage(
            "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
        await #expect(throws: refusal) { try await favorites.add(fact("f"), uid: 1) }
        await #expect(throws: refusal) { try await favorites.import([fact("f")], uid: 1) }
        await #expect(throws: refusal) { try await favorites.remove(.fact, id: "f", uid: 1) }
        #expect(try await page(favorites).items == [])
        let marks = ReadMarks(databases: databases)
        await #expect(throws: refusal) { try await marks.mark(uid: 1, [.sample("a:1")], isRead: true) }
        #expect(await !marks.read(uid: 1).contains(.sample("a:1")))
        // Searches are kept until the process ends.
        let recents = RecentSearches(databases: databases)
        recents.record(uid: 1, kind: .fact, query: "kick")
        #expect(await recents.write())
        #expect(try await recents.list(uid: 1).map(\.query) == ["kick"])
        #expect(databases.faults.map { $0.hasPrefix("state.db is in memory: ") } == [true])
        await databases.close()
    }

    @Test func noUserPushesOutTheGIFsOfOthers() async throws {
        try await withFavorites { favorites async throws in
            func item(_ id: String, at seconds: Int64) -> Favorite {
                Favorite(kind: .gif, id: id, title: "", addedAt: Timestamp(seconds: seconds))
            }
            let many = (0..<9).map { item("many\($0)", at: 100 - $0) }
            #expect(try await favorites.import(many, uid: 1, at: Timestamp(seconds: 200)).added == 9)
            #expect(try await favorites.add(item("old", at: 1), uid: 2))
            #expect(try await favorites.add(item("older", at: 0), uid: 2))
            #expect(await favorites.gifIDs(limit: 4) == ["many0", "old", "many1", "older"])
            #expect(await favorites.gifIDs(limit: 99).count == 11)
        }
    }

    @Test func keptGIFsOfAllUsersOnceThoseAddedLastFirst() async throws {
        try await withFavorites { favorites async throws in
            #expect(await favorites.gifIDs(limit: 5) == [])
            let added: [(String, UInt32, Int64)] = [("x", 1, 1), ("y", 1, 2), ("x", 2, 3), ("z", 2, 2)]
            for (id, uid, seconds) in added {
                var gif = FavoritesTests.gif
                gif.id = id
                #expect(try await favorites.add(Favorite(gif: gif, at: Timestamp(seconds: seconds)), uid: uid))
            }
            #expect(try await favorites.add(fact("f"), uid: 1))
            #expect(await favorites.gifIDs(limit: 5) == ["x", "y", "z"])
            #expect(await favorites.gifIDs(limit: 2) == ["x", "y"])
        }
    }

    @Test func diskThatTakesNoWritesChangesNothing() async throws {
        try await withFavorites { favorites async throws in
            let databases = favorites.databases
            #expect(try await favorites.add(fact("f"), uid: 1))
            let refusal = ResponseError.storage(
                "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
            try await databases.state.refuseWrites(to: "favorites")
            await #expect(throws: refusal) { try await favorites.add(fact("g"), uid: 1) }
            await #expect(throws: refusal) { try await favorites.import([fact("h")], uid: 1) }
            #expect(databases.faults.map { $0.hasPrefix("state.db takes no writes: ") } == [true])
            // The known favorite needs no write.
            #expect(try await !favorites.add(fact("f"), uid: 1))
            #expect(databases.isReadOnly)
            try await databases.state.takeWritesAgain()
            try await databases.state.refuse("DELETE", on: "favorites")
            await #expect(throws: refusal) { try await favorites.remove(.fact, id: "f", uid: 1) }
            #expect(try await page(favorites).items.map(\.id) == ["f"])
            try await databases.state.takeWritesAgain()
            #expect(try await favorites.remove(.fact, id: "f", uid: 1))
            #expect(databases.faults == [])
        }
    }

    @Test("Any sequence of additions and removals", arguments: 1...6) func model(seed: UInt64) async throws {
        let databases = try await fixture.databases()
        let favorites = Favorites(databases: databases)
        var generator = SeededRandom(seed: seed)
        var known: [(uid: UInt32, item: Favorite)] = []
        for _ in 0..<150 {
            let uid = UInt32.random(in: 1...2, using: &generator)
            let id = "\(Int.random(in: 0..<8, using: &generator))"
            let now = Timestamp(seconds: Int64.random(in: 0..<6, using: &generator))
            let item =
                Bool.random(using: &generator)
                ? Favorite(fact: .upstream(id), at: now) : Favorite(post: .sample(id), at: now)
            let index = known.firstIndex { $0.uid == uid && $0.item.kind == item.kind && $0.item.id == id }
            if Int.random(in: 0..<3, using: &generator) > 0 {
                #expect(try await favorites.add(item, uid: uid) == (index == nil))
                if index == nil { known.append((uid, item)) }
            } else {
                #expect(try await favorites.remove(item.kind, id: id, uid: uid) == (index != nil))
                if let index { known.remove(at: index) }
            }
            let kind = [nil, Favorite.Kind.fact, .post].randomElement(using: &generator) ?? nil
            let expected = known.enumerated().filter {
                $0.element.uid == uid && [nil, $0.element.item.kind].contains(kind)
            }.sorted { ($1.element.item.addedAt, $1.offset) < ($0.element.item.addedAt, $0.offset) }.map(\.element.item)
            let page = try await page(favorites, kind, uid: uid)
            #expect(page.items == expected)
            #expect(page.total == expected.count)
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool { indices.contains { self[$0...].starts(with: text.utf8) } }
}
