import NorrisProtocol
import Testing

@testable import NorrisStore

struct FavoriteLimitTests {
    private let fixture = StoreFixture()

    private func item(_ id: String, bytes: Int) -> Favorite {
        let title = String(repeating: "x", count: bytes - id.utf8.count)
        return Favorite(kind: .gif, id: id, title: title, addedAt: Timestamp(seconds: 1))
    }

    private func withFavorites(_ body: (Favorites) async throws -> Void) async throws {
        let databases = try await fixture.databases()
        try await body(Favorites(databases: databases))
        #expect(databases.faults == [])
        await databases.close()
    }

    @Test func bytesAreThoseOfIDTitleAndContent() async throws {
        try await withFavorites { favorites async throws in
            let fact = Favorite(fact: .upstream("é", "É."))
            #expect(try await favorites.add(fact, uid: 7))
            let bytes = 2 + fact.title.utf8.count + Fact.upstream("é", "É.").jsonText.utf8.count
            let state = favorites.databases.state
            #expect(try await state.read { try $0.value("SELECT bytes FROM favorites") } == bytes)
        }
    }

    @Test func aUserHasSixteenMebibytes() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(item("large", bytes: (16 << 20) - 100), uid: 1))
            let error = await #expect(throws: ResponseError.self) {
                try await favorites.add(item("over", bytes: 101), uid: 1)
            }
            #expect(error == Favorites.isLarge)
            #expect(error?.code == .busy)
            #expect(error?.message.contains("16 MiB") == true && error?.hint?.contains("Remove some") == true)
            // The last byte is usable, existing favorites stay, and each user has a separate limit.
            #expect(try await favorites.add(item("last", bytes: 100), uid: 1))
            #expect(try await !favorites.add(item("last", bytes: 100), uid: 1))
            #expect(try await favorites.import([item("last", bytes: 100)], uid: 1) == .init(added: 0, known: 1))
            #expect(try await favorites.add(item("over", bytes: 101), uid: 2))
            #expect(try await favorites.remove(.gif, id: "last", uid: 1))
            await #expect(throws: Favorites.isLarge) { try await favorites.add(item("over", bytes: 101), uid: 1) }
            #expect(try await favorites.remove(.gif, id: "large", uid: 1))
            #expect(try await favorites.add(item("over", bytes: 101), uid: 1))
        }
    }

    @Test func anImportPastTheLimitAddsNothing() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(item("large", bytes: (16 << 20) - 100), uid: 1))
            let items = ["a", "b", "c"].map { item($0, bytes: 40) }
            await #expect(throws: Favorites.isLarge) { try await favorites.import(items, uid: 1) }
            #expect(try await favorites.list(uid: 1, cursor: nil, limit: 9).items.map(\.id) == ["large"])
            #expect(try await favorites.import(Array(items[1...]), uid: 1) == .init(added: 2, known: 0))
        }
    }

    @Test func allUsersTogetherHaveALimit() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(item("a", bytes: 1_000), uid: 1))
            // Other users' favorites that claim to be large.
            let others = Favorites.maximumBytesInAll - 1_050
            try await favorites.databases.state.write { database in
                _ = try Favorites.insert(item("c", bytes: 1), uid: 3, database)
                try database.execute("UPDATE favorites SET bytes = ? WHERE uid = 3", [others])
            }
            let error = await #expect(throws: ResponseError.self) {
                try await favorites.add(item("b", bytes: 51), uid: 2)
            }
            #expect(error == Favorites.allAreLarge)
            #expect(error?.code == .busy)
            #expect(error?.message.contains("256 MiB") == true && error?.hint?.contains("other users") == true)
            await #expect(throws: Favorites.allAreLarge) { try await favorites.import([item("b", bytes: 51)], uid: 2) }
            #expect(try await favorites.add(item("b", bytes: 50), uid: 2))
        }
    }

    @Test("A user above the limit keeps everything, can remove, and cannot add") func aboveTheLimit() async throws {
        try await withFavorites { favorites async throws in
            try await favorites.databases.state.write { database in
                for number in 0..<20 { _ = try Favorites.insert(item("\(number)", bytes: 1 << 20), uid: 1, database) }
                _ = try Favorites.insert(item("theirs", bytes: 1_000), uid: 2, database)
            }
            #expect(try await favorites.list(uid: 1, cursor: nil, limit: 100).items.count == 20)
            for number in 0..<5 {
                await #expect(throws: Favorites.isLarge) { try await favorites.add(item("new", bytes: 1_000), uid: 1) }
                #expect(try await favorites.add(item("\(number)", bytes: 1_000), uid: 2))
                #expect(try await favorites.remove(.gif, id: "\(number)", uid: 1))
            }
            #expect(try await favorites.add(item("new", bytes: 1_000), uid: 1))
        }
    }
}
