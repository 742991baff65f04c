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

    @Test func aUserHasSixteenMebibytes() async throws {
        try await withFavorites { favorites async throws in
            #expect(try await favorites.add(item("large", bytes: (16 << 20) - 100), uid: 1))
            let error = await #expect(throws: ResponseError.self) {
                try await favorites.add(item("over", bytes: 101), uid: 1)
            }
            #expect(error == Favorites.isLarge && error?.code == .busy)
            // An import past the limit adds nothing.
            let items = ["a", "b", "c"].map { item($0, bytes: 40) }
            await #expect(throws: Favorites.isLarge) { try await favorites.import(items, uid: 1) }
            #expect(try await favorites.list(uid: 1, cursor: nil, limit: 9).items.map(\.id) == ["large"])
            // The last byte is usable, existing favorites stay, and each user has a separate limit.
            #expect(try await favorites.add(item("last", bytes: 100), uid: 1))
            #expect(try await !favorites.add(item("last", bytes: 100), uid: 1))
            #expect(try await favorites.add(item("over", bytes: 101), uid: 2))
            #expect(try await favorites.remove(.gif, id: "large", uid: 1) != nil)
            #expect(try await favorites.add(item("over", bytes: 101), uid: 1))
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
            #expect(error == Favorites.allAreLarge && error?.code == .busy)
            #expect(Favorites.maximumBytesInAll == 256 << 20)
            #expect(try await favorites.add(item("b", bytes: 50), uid: 2))
        }
    }
}
