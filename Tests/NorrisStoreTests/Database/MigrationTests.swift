import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore
@testable import NorrisThreads

/// Migrations to a later version: a migration appended to the current schema.
struct MigrationTests {
    private let folder = TemporaryFolder()

    private func later(_ kind: DatabaseKind, _ apply: @escaping @Sendable (Database) throws -> Void) -> DatabaseKind {
        kind.with(kind.migrations + [.init(name: "later", apply: apply)])
    }

    private let today = DatabaseKind.state.schemaVersion

    private func open(_ kind: DatabaseKind) throws -> OpenedDatabase {
        try OpenedDatabase.open(kind, folder: folder.path, logger: .silent, BlockingAccess())
    }

    private func write(_ kind: DatabaseKind, _ sql: String) throws {
        let opened = try open(kind)
        try opened.writer.write { try $0.execute(sql) }
        try opened.close()
    }

    private func number(_ sql: String, in opened: OpenedDatabase) throws -> Int? {
        try opened.writer.read { try Int.fetchOne($0, sql) }
    }

    private static let shuffle = "INSERT INTO shuffles VALUES (1, '/all//', x'01', 5)"

    @Test func copyOfTheStateIsKeptBeforeAMigration() throws {
        try write(.state, Self.shuffle)
        let kind = later(.state) { try $0.execute("ALTER TABLE shuffles ADD COLUMN extra TEXT; DELETE FROM shuffles") }
        let after = try open(kind)
        #expect(after.condition == .good)
        #expect(try number("PRAGMA user_version", in: after) == today + 1)
        #expect(try number("SELECT count(*) FROM shuffles", in: after) == 0)
        try after.close()
        #expect(try folder.names() == ["state.db", "state.db.v\(today)"])
        #expect(try folder.mode("state.db.v\(today)") == 0o600)

        // An older norrisd refuses the file, and names the copy, which it can open.
        let refusal = try #require(throws: StoreError.self) { try open(.state) }
        #expect(refusal.description.contains("restore \(folder.path)/state.db.v\(today), the copy"))
        try folder.write("state.db", try folder.bytes("state.db.v\(today)"))
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM shuffles WHERE used_at = 5", in: again) == 1)
        try again.close()
    }

    @Test func whateverTakesLongIsAnnounced() throws {
        var announced = 0
        func open(_ kind: DatabaseKind) throws {
            announced = 0
            try OpenedDatabase.open(kind, folder: folder.path, logger: .silent, BlockingAccess()) { announced += 1 }
                .close()
        }
        for kind in [DatabaseKind.state, .facts] {
            try open(kind)
            #expect(announced == 0, "a new file")
            try open(kind)
            #expect(announced == 0, "nothing to do")
            try open(later(kind) { try $0.execute("CREATE TABLE more (x)") })
            #expect(announced == (kind.isDurable ? 2 : 1), "the copy and the migration")
        }
        // Only the state is copied, and only before a migration.
        #expect(try folder.names() == ["cache.db", "state.db", "state.db.v\(today)"])
        let large = later(.state) { try $0.execute("CREATE TABLE more (x)") }
        try write(large, "INSERT INTO more VALUES (zeroblob(40000000))")
        try open(large)
        #expect(announced == 1, "the check")
    }

    /// Also if a migration before it succeeded.
    @Test func migrationThatFailsChangesNothing() throws {
        try write(.state, Self.shuffle)
        let first = later(.state) { try $0.execute("CREATE TABLE more (x)") }
        let opened = try open(
            later(first) { database in
                try database.execute("DELETE FROM shuffles")
                // Fails only if rows exist, so the empty in-memory database is migrated.
                if database.changesCount > 0 { throw DatabaseError(19, message: "more.x") }
            })
        let path = folder.path + "/state.db"
        let failure = StoreError(path: path, .failedMigration(from: today, to: today + 2, "more.x"))
        #expect(opened.condition == .inMemory(failure.description))
        #expect(opened.path == nil)
        #expect(try folder.names().contains("state.db.v\(today)"))
        try opened.close()
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM shuffles", in: again) == 1)
        try again.close()
    }
}
