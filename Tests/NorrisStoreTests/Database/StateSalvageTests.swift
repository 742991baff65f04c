import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// A state with any damaged page keeps every favorite that another page contains.
struct StateSalvageTests {
    private static let pageSize = 4_096
    /// Several pages of favorites, with some in each.
    private static let count = 30

    private func favorite(_ number: Int) -> Favorite {
        let text = "\(number) " + String(repeating: "kick ", count: 100)
        return Favorite(fact: .upstream("f\(number)", text), at: Timestamp(seconds: Int64(number)))
    }

    private func fill(_ fixture: StoreFixture) async throws {
        let databases = try fixture.databases()
        let favorites = Favorites(databases: databases)
        for number in 0..<Self.count { _ = try await favorites.add(favorite(number), uid: UInt32(number % 3)) }
        databases.close()
    }

    /// The favorites of all users and the faults, after a start.
    private func start(_ fixture: StoreFixture) async throws -> (kept: [Favorite], faults: [String]) {
        let databases = try fixture.databases()
        defer { databases.close() }
        let favorites = Favorites(databases: databases)
        var kept: [Favorite] = []
        for uid in 0..<3 as Range<UInt32> {
            let page = try await favorites.list(nil, uid: uid, cursor: nil, limit: 100)
            #expect(page.total == page.items.count)
            kept += page.items
        }
        return (kept, databases.faults)
    }

    @Test func everyPageMayBeDamaged() async throws {
        let fixture = StoreFixture()
        try await fill(fixture)
        let intact = try fixture.folder.bytes("state/state.db")
        let all = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("f\($0)", favorite($0)) })
        var partial = 0
        for page in 0..<intact.count / Self.pageSize {
            let copy = StoreFixture()
            var bytes = intact
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            bytes.replaceSubrange(range, with: repeatElement(0x5A, count: Self.pageSize))
            try copy.folder.write("state/state.db", bytes)
            let (kept, faults) = try await start(copy)
            for favorite in kept { #expect(favorite == all[favorite.id], "page \(page)") }
            // A page of favorites contains seven of them. Nothing is readable without the schema, which fills the first
            // pages, or without the root of the table.
            #expect(kept.isEmpty || kept.count >= Self.count - 8, "page \(page): \(kept.count)")
            if kept.count < Self.count {
                let verdict =
                    kept.isEmpty ? "none of its favorites can be read" : "\(kept.count) of 30 favorites saved"
                #expect(faults.count == 1 && faults[0].hasSuffix("; \(verdict)"), "page \(page): \(faults)")
                partial += kept.isEmpty ? 0 : 1
                #expect(try copy.folder.bytes("state/state.db.damaged") == bytes)
            }
            // The next start finds an intact file with the same favorites.
            let again = try await start(copy)
            #expect(again.kept == kept && again.faults.isEmpty, "page \(page)")
        }
        #expect(partial > 3)
    }

    @Test func theLogIsReadToo() async throws {
        let fixture = StoreFixture()
        try await fill(fixture)
        let databases = try fixture.databases()
        _ = try await Favorites(databases: databases).add(favorite(100), uid: 1)
        let killed = try fixture.killed()
        databases.close()
        var bytes = try killed.folder.bytes("state/state.db")
        // The last page contains favorites only.
        bytes.replaceSubrange(
            bytes.count - Self.pageSize..<bytes.count, with: repeatElement(0x5A, count: Self.pageSize))
        try killed.folder.write("state/state.db", bytes)
        let (kept, faults) = try await start(killed)
        #expect(faults.count == 1)
        #expect(kept.contains { $0.id == "f100" })
    }

    @Test func whatWasCopiedIsLogged() async throws {
        let fixture = StoreFixture()
        try await fill(fixture)
        var bytes = try fixture.folder.bytes("state/state.db")
        bytes.replaceSubrange(
            bytes.count - Self.pageSize..<bytes.count, with: repeatElement(0x5A, count: Self.pageSize))
        try fixture.folder.write("state/state.db", bytes)
        let log = LogRecorder()
        try Databases(cacheFolder: nil, stateFolder: fixture.stateFolder, logger: log.logger).close()
        let lines = log.records.filter { $0.contains("state.salvaged") }
        #expect(lines.count == 8)
        #expect(lines.contains { $0.contains("favorites") && !$0.contains("\"unreadable\": 0") }, "\(lines)")
    }
}
