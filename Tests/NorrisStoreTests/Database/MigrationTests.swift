import GRDB
import Testing

@testable import NorrisStore

/// A later version's schema, made by appending to the one of today.
struct MigrationTests {
    private let folder = ScratchFolder()

    private func later(_ kind: DatabaseKind, _ apply: @escaping @Sendable (Database) throws -> Void) -> DatabaseKind {
        DatabaseKind(
            fileName: kind.fileName, applicationID: kind.applicationID, isDurable: kind.isDurable,
            keepsCopies: kind.keepsCopies, migrations: kind.migrations + [.init(name: "later", apply: apply)]
        )
    }

    private func open(_ kind: DatabaseKind) throws -> OpenedDatabase {
        try OpenedDatabase.open(kind, folder: folder.path, logger: .silent)
    }

    private func addWalk(to opened: OpenedDatabase) throws {
        try opened.writer.write { try $0.execute(sql: "INSERT INTO walks VALUES (1, '//', x'01', 5)") }
    }

    private func number(_ sql: String, in opened: OpenedDatabase) throws -> Int? {
        try opened.writer.read { try Int.fetchOne($0, sql: sql) }
    }

    @Test func copyOfTheStateIsKeptBeforeAMigration() throws {
        let before = try open(.state)
        try addWalk(to: before)
        try before.close()

        let kind = later(.state) { try $0.execute(sql: "ALTER TABLE walks ADD COLUMN extra TEXT; DELETE FROM walks") }
        let after = try open(kind)
        #expect(after.condition == .good)
        #expect(try number("PRAGMA user_version", in: after) == 2)
        #expect(try number("SELECT count(*) FROM walks", in: after) == 0)
        try after.close()
        #expect(try folder.names() == ["state.db", "state.db.v1"])
        #expect(try folder.mode("state.db.v1") == 0o600)

        // The copy is what the older version opens again.
        try folder.write("state.db", try folder.bytes("state.db.v1"))
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM walks WHERE used_at = 5", in: again) == 1)
        try again.close()
    }

    @Test func migratedStateIsNewerThanTheOldVersion() throws {
        try open(.state).close()
        try open(later(.state) { try $0.execute(sql: "CREATE TABLE more (x)") }).close()
        #expect(throws: StoreError(path: folder["state.db"], .newerSchema(found: 2, known: 1))) { try open(.state) }
    }

    @Test func nothingIsCopiedWithoutAMigration() throws {
        try open(.state).close()
        try open(.state).close()
        #expect(try folder.names() == ["state.db"])
        try open(.cache).close()
        try open(later(.cache) { try $0.execute(sql: "CREATE TABLE more (x)") }).close()
        #expect(try folder.names() == ["cache.db", "state.db"])
    }

    @Test func migrationThatFailsChangesNothing() throws {
        let before = try open(.state)
        try addWalk(to: before)
        try before.close()
        let opened = try open(
            later(.state) { database in
                let walks = try Int.fetchOne(database, sql: "SELECT count(*) FROM walks") ?? 0
                try database.execute(sql: "DELETE FROM walks")
                // What the migration did not reckon with.
                guard walks == 0 else { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT) }
            }
        )
        #expect(opened.condition != .good)
        #expect(opened.path == nil)
        try opened.close()
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM walks", in: again) == 1)
        try again.close()
    }
}
