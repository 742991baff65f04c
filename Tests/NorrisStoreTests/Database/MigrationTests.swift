import NorrisProtocol
import Testing

@testable import NorrisStore

/// A later version's schema, made by appending to the one of today.
struct MigrationTests {
    private let folder = ScratchFolder()

    private func later(_ kind: DatabaseKind, _ apply: @escaping @Sendable (Database) throws -> Void) -> DatabaseKind {
        DatabaseKind(
            fileName: kind.fileName, applicationID: kind.applicationID, isDurable: kind.isDurable,
            migrations: kind.migrations + [.init(name: "later", apply: apply)]
        )
    }

    /// The number of today's schema of the state.
    private let today = DatabaseKind.state.schemaVersion

    private func open(_ kind: DatabaseKind) throws -> OpenedDatabase {
        try OpenedDatabase.open(kind, folder: folder.path, logger: .silent)
    }

    private func addShuffle(to opened: OpenedDatabase) throws {
        try opened.writer.write { try $0.execute("INSERT INTO shuffles VALUES (1, '/all//', x'01', 5)") }
    }

    private func number(_ sql: String, in opened: OpenedDatabase) throws -> Int? {
        try opened.writer.read { try Int.fetchOne($0, sql) }
    }

    @Test func copyOfTheStateIsKeptBeforeAMigration() throws {
        let before = try open(.state)
        try addShuffle(to: before)
        try before.close()

        let kind = later(.state) { try $0.execute("ALTER TABLE shuffles ADD COLUMN extra TEXT; DELETE FROM shuffles") }
        let after = try open(kind)
        #expect(after.condition == .good)
        #expect(try number("PRAGMA user_version", in: after) == today + 1)
        #expect(try number("SELECT count(*) FROM shuffles", in: after) == 0)
        try after.close()
        #expect(try folder.names() == ["state.db", "state.db.v\(today)"])
        #expect(try folder.mode("state.db.v\(today)") == 0o600)

        // The copy is what the older version opens again.
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
            try OpenedDatabase.open(kind, folder: folder.path, logger: .silent) { announced += 1 }.close()
        }
        for kind in [DatabaseKind.state, .cache] {
            try open(kind)
            #expect(announced == 0, "a new file")
            try open(kind)
            #expect(announced == 0, "nothing to do")
            try open(later(kind) { try $0.execute("CREATE TABLE more (x)") })
            #expect(announced == (kind.isDurable ? 2 : 1), "the copy and the migration")
        }
        let large = later(.state) { try $0.execute("CREATE TABLE more (x)") }
        let opened = try self.open(large)
        try opened.writer.write { try $0.execute("INSERT INTO more VALUES (zeroblob(40000000))") }
        try opened.close()
        try open(large)
        #expect(announced == 1, "the check")
    }

    @Test("A state of each version is opened with what it holds", arguments: 1...6)
    func statesOfEarlierVersions(version: Int) async throws {
        let state = DatabaseKind.state
        let kind = DatabaseKind(
            fileName: state.fileName, applicationID: state.applicationID, isDurable: state.isDurable,
            migrations: Array(state.migrations[..<version])
        )
        let before = try open(kind)
        try addMigrationsOfGRDB(to: before)
        try await before.writer.write { try $0.execute("INSERT INTO walks VALUES (1, '//', x'01', 5)") }
        try before.close()
        let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
        #expect(databases.state.condition == .good)
        #expect(try number("SELECT count(*) FROM shuffles", in: databases.state) == 0)
        let recents = RecentSearches(databases: databases, logger: .silent)
        await recents.record(uid: 1, kind: .fact, query: "kick")
        #expect(try await recents.list(uid: 1).map(\.query) == ["kick"])
        #expect(try number(MigrationTests.tablesOfGRDB, in: databases.state) == 0)
        databases.close()
        #expect(folder.exists("state.db.v\(version)"))
    }

    private static let tablesOfGRDB = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%grdb%'"

    /// GRDB, of the version before, wrote the names of migrations down.
    private func addMigrationsOfGRDB(to opened: OpenedDatabase) throws {
        try opened.writer.write { database in
            try database.execute(
                """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('facts'), ('fetches')
                    """
            )
        }
    }

    @Test("A cache of each version loses the table of GRDB", arguments: 1..<DatabaseKind.cache.schemaVersion)
    func cachesOfEarlierVersions(version: Int) throws {
        let cache = DatabaseKind.cache
        let before = try open(
            DatabaseKind(
                fileName: cache.fileName, applicationID: cache.applicationID, isDurable: cache.isDurable,
            migrations: Array(cache.migrations[..<version])
            )
        )
        try addMigrationsOfGRDB(to: before)
        try before.close()
        let after = try open(.cache)
        #expect(after.condition == .good)
        #expect(try number(MigrationTests.tablesOfGRDB, in: after) == 0)
        try after.close()
    }

    @Test func nothingIsCopiedWithoutAMigration() throws {
        try open(.state).close()
        try open(.state).close()
        #expect(try folder.names() == ["state.db"])
        try open(.cache).close()
        try open(later(.cache) { try $0.execute("CREATE TABLE more (x)") }).close()
        #expect(try folder.names() == ["cache.db", "state.db"])
    }

    @Test func migrationThatFailsChangesNothing() throws {
        let before = try open(.state)
        try addShuffle(to: before)
        try before.close()
        let opened = try open(
            later(.state) { database in
                let shuffles = try Int.fetchOne(database, "SELECT count(*) FROM shuffles") ?? 0
                try database.execute("DELETE FROM shuffles")
                // What the migration did not reckon with.
                guard shuffles == 0 else { throw DatabaseError(19) }
            }
        )
        #expect(opened.condition != .good)
        #expect(opened.path == nil)
        try opened.close()
        let again = try open(.state)
        #expect(again.condition == .good)
        #expect(try number("SELECT count(*) FROM shuffles", in: again) == 1)
        try again.close()
    }

    private func first(of kind: DatabaseKind) -> DatabaseKind {
        DatabaseKind(
            fileName: kind.fileName, applicationID: kind.applicationID, isDurable: kind.isDurable,
            migrations: Array(kind.migrations.prefix(1))
        )
    }

    /// Facts stored before there were fetches are served, found, and known by their texts.
    @Test func factsOfTheFirstCacheAreKept() async throws {
        let old = try open(first(of: .cache))
        try await old.writer.write { database in
            try database.execute(
                """
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
        #expect(try await store.fact(id: "builtin-1")?.categories == ["dev", "x"])
        #expect(databases.cache.cursorKey == 7)
        #expect(try databases.cache.value(forKey: "fortunes_digest") == "known")
        let page = try await store.search(FactQuery(text: "text", categories: ["x"]), cursor: nil, limit: 5)
        #expect(page.items.map(\.id) == ["builtin-1"])
        #expect(try store.replaceUpstream([.upstream("a", "A text."), .upstream("b", "Same.")]).total == 1)
        #expect(try await store.fact(id: "a") == nil)
        #expect(try await store.fact(id: "fortune:1") == nil)
        #expect(FetchRecords(databases: databases, logger: .silent).record(of: "facts") != nil)
        databases.close()
    }

    // MARK: From walks to shuffles, from numbers to ordinals

    /// All that users would miss is as it was; only the shuffles restart.
    @Test func stateOfBeforeTheShufflesIsKept() async throws {
        let old = try open(DatabaseKind.state.before("shuffles"))
        try await old.writer.write { database in
            try database.execute(
                """
                    INSERT INTO seats VALUES ('', 0, 'a', 5);
                    INSERT INTO walks VALUES (1, '//', x'01', 5);
                    INSERT INTO facts_of_the_day VALUES (
                        1, '2026-01-02', '{"id":"d","text":"Of the day.","categories":[],"source":"chucknorris"}'
                    );
                    INSERT INTO recent_searches VALUES (1, 1, 'fact', 'kick', 5);
                    INSERT INTO schedules VALUES ('facts', 77, NULL, NULL, 0, NULL, NULL, NULL, NULL, 's', 1)
                    """
            )
        }
        try old.close()
        // What has stores of its own is put in by them: their tables are what they were.
        let kind = DatabaseKind.state.before("shuffles")
        let tables = try {
            let opened = try open(kind)
            defer { try? opened.close() }
            return try opened.writer.read { database in
                try String.fetchAll(database, "SELECT sql FROM sqlite_schema WHERE name NOT IN ('seats', 'walks', 'seats_by_fact') AND sql IS NOT NULL ORDER BY name")
            }
        }()
        let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
        defer { databases.close() }
        #expect(databases.state.condition == .good)
        let after = try await databases.state.writer.read { database in
            try String.fetchAll(database, "SELECT sql FROM sqlite_schema WHERE name NOT IN ('shuffles', 'served') AND sql IS NOT NULL ORDER BY name")
        }
        #expect(Set(tables).isSubset(of: after))
        let day = try #require(CivilDate("2026-01-02"))
        let stored = try await databases.state.writer.read { database in
            try String.fetchOne(database, "SELECT fact FROM facts_of_the_day WHERE day = ?", [day.description])
        }
        #expect(stored?.contains("Of the day.") == true)
        #expect(try await RecentSearches(databases: databases, logger: .silent).list(uid: 1).map(\.query) == ["kick"])
        #expect(ScheduleRecords(databases: databases, logger: .silent).all()["facts"]?.nextRunAt == Timestamp(seconds: 77))
        #expect(folder.exists("state.db.v6"))
    }

    /// Favourites, read marks and quota, written by the stores of now into the tables of before.
    @Test func stateOfUsersIsKept() async throws {
        let favorite = Favorite(fact: .upstream("f"), at: Timestamp(seconds: 1))
        do {
            let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
            #expect(try await Favorites(databases: databases, logger: .silent).add(favorite, uid: 1))
            _ = try await ReadMarks(databases: databases, logger: .silent).mark(uid: 1, ids: ["a:1"])
            databases.close()
        }
        // Back to the schema of before, by hand.
        let opened = try open(.state)
        try opened.writer.writeWithoutTransaction { database in
            try database.execute(
                """
                    DROP TABLE shuffles; DROP TABLE served; CREATE TABLE seats (x); CREATE TABLE walks (x);
                    PRAGMA user_version = \(today - 1)
                    """
            )
        }
        try opened.close()
        let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
        defer { databases.close() }
        #expect(databases.state.condition == .good)
        #expect(try await Favorites(databases: databases, logger: .silent).list(uid: 1, cursor: nil, limit: 9).items == [favorite])
        #expect(try number("SELECT count(*) FROM read_marks", in: databases.state) == 1)
    }

    /// Every fact is served, found and counted as before, from the last package on without a network.
    @Test(arguments: [40, 25_000])
    func factsOfBeforeTheOrdinalsAreKept(count: Int) async throws {
        let facts = (0..<count).map { number -> Fact in
            let id = String(100_000 + number)
            switch number % 5 {
            case 0: return .upstream(id, "Upstream \(id)", categories: ["a", "b"])
            case 1: return Fact(id: id, text: "Fortune \(id)\nof two  lines", categories: ["jokes"], source: "fortune:jokes")
            case 2: return Fact(id: id, text: "Builtin \(id)", categories: ["a"], source: "builtin")
            case 3: return .upstream(id, "Rude \(id)", categories: ["b", "explicit"])
            default:
                return Fact(
                    id: id, text: "FOUND \(id) ÄÖ", categories: [], source: "chucknorris", url: "https://example.org/\(id)",
                    createdAt: Timestamp(seconds: 5), updatedAt: Timestamp(seconds: 6)
                )
            }
        }
        let old = try open(DatabaseKind.cache.before("ordinals"))
        try await old.writer.write { database in
            for (number, fact) in facts.enumerated() {
                try fact.storeInOldCache(Int64(2 * number + 5), isFound: number % 5 == 4, database)
            }
            try database.execute(
                """
                    INSERT INTO meta VALUES ('cursor_key', '7'), ('fortunes_digest', 'known');
                    INSERT INTO fetches VALUES ('facts', 's', 5, 'a b')
                    """
            )
        }
        try old.close()

        let databases = try Databases(cacheFolder: folder.path, stateFolder: nil, logger: .silent)
        defer { databases.close() }
        let store = FactStore(databases: databases, logger: .silent)
        #expect(databases.cache.opened.condition == .good)
        #expect(databases.cache.cursorKey == 7)
        #expect(try databases.cache.value(forKey: "fortunes_digest") == "known")
        #expect(FetchRecords(databases: databases, logger: .silent).record(of: "facts")?.settings == "s")
        #expect(store.count == count && !store.isLocal)
        let fifth = count / 5
        #expect(store.categories(of: .all).map(\.name) == ["a", "b", "jokes"])
        #expect(store.categories(of: .all).map(\.count) == [2 * fifth, fifth, fifth])
        let served = await store.nextFacts(count, filter: ShuffleFilter(allowsExplicit: true))
        #expect(served.sorted { $0.id < $1.id } == facts)
        let newest = try await store.search(FactQuery(text: "1"), cursor: nil, limit: 10).items
        #expect(newest == Array(facts.filter { !$0.isExplicit }.suffix(10).reversed()))
        let found = try await store.search(FactQuery(text: "\"of TWO\" jokes"), cursor: nil, limit: 5)
        #expect(found.total == 0)
        let jokes = try await store.search(FactQuery(text: "\"of TWO lines\"", categories: ["jokes"]), cursor: nil, limit: 5)
        #expect(jokes.total == (fifth > 1_000 ? nil : fifth))
        try await databases.cache.writer.read { try $0.expectWholeFacts() }
        // What only searches have brought stays; the rest of the upstream's goes.
        #expect(try store.replaceUpstream([]).total == fifth)
    }
}
