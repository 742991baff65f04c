import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore
@testable import NorrisThreads

struct SpaceTests {
    private let fixture = StoreFixture()
    private static let kinds = ["state.db", "cache.db"]

    private static func kind(_ name: String) -> DatabaseKind { name == "state.db" ? .state : .facts }

    /// Opens a database in the fixture's folder, and closes the database after the body.
    private func with<Value>(
        _ name: String, willTakeLong: () -> Void = {}, _ body: (OpenedDatabase) throws -> Value
    ) throws -> Value {
        let opened = try OpenedDatabase.open(
            SpaceTests.kind(name), folder: fixture.folder.path, logger: .silent, BlockingAccess(),
            willTakeLong: willTakeLong)
        #expect(opened.condition == .good)
        let value = try body(opened)
        try opened.close()
        return value
    }

    private func number(_ sql: String, _ opened: OpenedDatabase) throws -> Int? {
        try opened.writer.read { try Int.fetchOne($0, sql) }
    }

    @Test(arguments: kinds) func newFileCanBecomeShorter(name: String) throws {
        for _ in 0..<2 {
            try with(name, willTakeLong: { Issue.record("Nothing takes long") }) { opened throws in
                #expect(try number("PRAGMA auto_vacuum", opened) == 2)
            }
        }
    }

    @Test func removingManyFavoritesGivesSpaceBack() async throws {
        let databases = try fixture.databases()
        let favorites = Favorites(databases: databases)
        let text = String(repeating: "x", count: 60_000)
        try await databases.state.writer.write { database in
            for number in 0..<200 {
                try Favorites.store(Favorite(fact: .upstream("\(number)", text)), uid: 1, database)
            }
        }
        let full = databases.sizes.state
        #expect(full > 12 << 20)
        for number in 10..<15 { #expect(try await favorites.remove(.fact, id: "\(number)", uid: 1)) }
        try await databases.state.writer.write { database in
            try database.execute("DELETE FROM favorites WHERE CAST(id AS INTEGER) >= 15")
        }
        databases.releaseFreePages()
        let opened = databases.state
        let free = try #require(try number("PRAGMA freelist_count", opened))
        #expect(free <= OpenedDatabase.spareFreePages && free > OpenedDatabase.spareFreePages - 256)
        // The remaining rows, the spare free pages, and a log of 1,000 pages.
        #expect(databases.sizes.state < 11 << 20)
        #expect(Folder.size(of: fixture.folder("state/state.db")) < 6 << 20)
        #expect(try await favorites.list(uid: 1, cursor: nil, limit: 50).items.count == 10)
        let check = try await opened.writer.read { try String.fetchOne($0, "PRAGMA integrity_check") }
        #expect(check == "ok")
        #expect(databases.faults == [])
        databases.close()
    }
}
