import GRDB
import NorrisProtocol
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

    /// The number of today's schema of the state.
    private let today = DatabaseKind.state.schemaVersion

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
        #expect(try number("PRAGMA user_version", in: after) == today + 1)
        #expect(try number("SELECT count(*) FROM walks", in: after) == 0)
        try after.close()
        #expect(try folder.names() == ["state.db", "state.db.v\(today)"])
        #expect(try folder.mode("state.db.v\(today)") == 0o600)

        // The copy is what the older version opens again.
        try folder.write("state.db", try folder.bytes("state.db.v\(today)"))
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM walks WHERE used_at = 5", in: again) == 1)
        try again.close()
    }

    @Test func whateverTakesLongIsAnnounced() throws {
        var announced = 0
        func open(_ kind: DatabaseKind) throws {
            announced = 0
            try OpenedDatabase.open(kind, folder: folder.path, logger: .silent) { announced += 1 }.close()
        }
        for kind in [DatabaseKind.state, .cache] {
            try open(kind)
            #expect(announced == 0, "a new file")
            try open(kind)
            #expect(announced == 0, "nothing to do")
            try open(later(kind) { try $0.execute(sql: "CREATE TABLE more (x)") })
            #expect(announced == (kind.keepsCopies ? 2 : 1), "the copy and the migration")
        }
        let large = later(.cache) { try $0.execute(sql: "CREATE TABLE more (x)") }
        let opened = try self.open(large)
        try opened.writer.write { try $0.execute(sql: "INSERT INTO more VALUES (zeroblob(40000000))") }
        try opened.close()
        try open(large)
        #expect(announced == 1, "the check")
    }

    @Test("A state of each version is opened with what it holds", arguments: 1..<DatabaseKind.state.schemaVersion)
    func statesOfEarlierVersions(version: Int) async throws {
        let state = DatabaseKind.state
        let kind = DatabaseKind(
            fileName: state.fileName, applicationID: state.applicationID, isDurable: state.isDurable,
            keepsCopies: state.keepsCopies, migrations: Array(state.migrations[..<version])
        )
        let before = try open(kind)
        try addWalk(to: before)
        try before.close()
        let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
        #expect(databases.state.opened.condition == .good)
        #expect(try number("SELECT count(*) FROM walks WHERE used_at = 5", in: databases.state.opened) == 1)
        let recents = RecentSearches(databases: databases, logger: .silent)
        await recents.record(uid: 1, kind: .fact, query: "kick")
        #expect(try await recents.list(uid: 1).map(\.query) == ["kick"])
        databases.close()
        #expect(folder.exists("state.db.v\(version)"))
    }

    @Test func migratedStateIsNewerThanTheOldVersion() throws {
        try open(.state).close()
        try open(later(.state) { try $0.execute(sql: "CREATE TABLE more (x)") }).close()
        #expect(throws: StoreError(path: folder["state.db"], .newerSchema(found: today + 1, known: today))) { try open(.state) }
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

    private func first(of kind: DatabaseKind) -> DatabaseKind {
        DatabaseKind(
            fileName: kind.fileName, applicationID: kind.applicationID, isDurable: kind.isDurable,
            keepsCopies: kind.keepsCopies, migrations: Array(kind.migrations.prefix(1))
        )
    }

    /// Facts stored before there were fetches are served, found, and known by their texts.
    @Test func factsOfTheFirstCacheAreKept() async throws {
        let old = try open(first(of: .cache))
        try await old.writer.write { database in
            try database.execute(
                sql: """
                    INSERT INTO facts VALUES
                        (3, 'builtin-1', 'builtin', 'A text.', 'a text.', 'dev x', 0, NULL, NULL, NULL, 5),
                        (4, 'fortune:1', 'fortune:jokes', 'Same.', 'same.', 'jokes', 0, NULL, NULL, NULL, 5);
                    INSERT INTO fact_categories VALUES ('dev', 3), ('x', 3), ('jokes', 4);
                    INSERT INTO meta VALUES ('cursor_key', '7'), ('fortunes_digest', 'known')
                    """
            )
        }
        try old.close()

        let databases = try Databases(cacheFolder: folder.path, stateFolder: nil, logger: .silent)
        let store = FactStore(databases: databases, logger: .silent)
        #expect(databases.cache.opened.condition == .good)
        #expect(store.count == 2)
        #expect(store.fact(id: "builtin-1")?.fact.categories == ["dev", "x"])
        #expect(databases.cache.cursorKey == 7)
        #expect(try databases.cache.value(forKey: "fortunes_digest") == "known")
        let page = try await store.search(FactQuery(text: "text", categories: ["x"]), cursor: nil, limit: 5)
        #expect(page.items.map(\.id) == ["builtin-1"])
        #expect(try store.replaceUpstream([.upstream("a", "A text."), .upstream("b", "Same.")]).total == 1)
        #expect(store.fact(id: "a") == nil && store.fact(id: "fortune:1") == nil)
        #expect(FetchRecords(databases: databases, logger: .silent).record(of: "facts") != nil)
        databases.close()
    }

    @Test func stateOfTheFirstVersionIsKept() throws {
        let old = try open(first(of: .state))
        try addWalk(to: old)
        try old.writer.write { database in
            try database.execute(
                sql: """
                    INSERT INTO seats VALUES ('', 0, 'a', 5);
                    INSERT INTO facts_of_the_day VALUES (1, '2026-01-02', '{}')
                    """
            )
        }
        try old.close()
        let new = try open(.state)
        #expect(new.condition == .good)
        for table in ["walks", "seats", "facts_of_the_day"] {
            #expect(try number("SELECT count(*) FROM \(table)", in: new) == 1)
        }
        #expect(try number("SELECT count(*) FROM schedules", in: new) == 0)
        try new.close()
        #expect(try folder.names() == ["state.db", "state.db.v1"])
    }
}
