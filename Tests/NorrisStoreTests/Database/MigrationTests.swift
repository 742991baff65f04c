import NorrisProtocol
import Testing

@testable import NorrisStore
@testable import NorrisSystem

/// Files of earlier versions, and of a later one, made by appending to the schema of today.
struct MigrationTests {
    private let folder = ScratchFolder()

    private func later(_ kind: DatabaseKind, _ apply: @escaping @Sendable (Database) throws -> Void) -> DatabaseKind {
        kind.with(kind.migrations + [.init(name: "later", apply: apply)])
    }

    /// The number of today's schema of the state.
    private let today = DatabaseKind.state.schemaVersion

    private func open(_ kind: DatabaseKind) throws -> OpenedDatabase {
        try OpenedDatabase.open(kind, folder: folder.path, logger: .silent, BlockingAccess())
    }

    /// Makes a file, and closes it.
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
            try OpenedDatabase.open(kind, folder: folder.path, logger: .silent, BlockingAccess()) { announced += 1 }.close()
        }
        for kind in [DatabaseKind.state, .facts] {
            try open(kind)
            #expect(announced == 0, "a new file")
            try open(kind)
            #expect(announced == 0, "nothing to do")
            try open(later(kind) { try $0.execute("CREATE TABLE more (x)") })
            #expect(announced == (kind.isDurable ? 2 : 1), "the copy and the migration")
        }
        // Only the state is copied, and only for a migration.
        #expect(try folder.names() == ["cache.db", "state.db", "state.db.v\(today)"])
        let large = later(.state) { try $0.execute("CREATE TABLE more (x)") }
        try write(large, "INSERT INTO more VALUES (zeroblob(40000000))")
        try open(large)
        #expect(announced == 1, "the check")
    }

    @Test func migrationThatFailsChangesNothing() throws {
        try write(.state, Self.shuffle)
        let opened = try open(
            later(.state) { database in
                try database.execute("DELETE FROM shuffles")
                // What the migration did not reckon with; not on the empty database in memory.
                if database.changesCount > 0 { throw DatabaseError(19) }
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

    // MARK: Earlier versions

    /// GRDB, of the first versions, wrote the names of migrations down.
    private static let tableOfGRDB = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('facts'), ('fetches');
        """

    @Test("A state of each version is opened with what it holds; only the shuffles restart", arguments: 1...6)
    func statesOfEarlierVersions(version: Int) async throws {
        let rows = [
            """
            INSERT INTO seats VALUES ('', 0, 'a', 5);
            INSERT INTO walks VALUES (1, '//', x'01', 5);
            INSERT INTO facts_of_the_day VALUES (
                1, '2026-01-02', '{"id":"d","text":"Of the day.","categories":[],"source":"chucknorris"}'
            )
            """,
            "INSERT INTO schedules VALUES ('facts', 77, NULL, NULL, 0, NULL, NULL, NULL, NULL, 's', 1)",
            "INSERT INTO recent_searches VALUES (1, 1, 'fact', 'kick', 5)",
            "INSERT INTO quota_calls VALUES ('gifs', 5)",
            "INSERT INTO favorites VALUES (1, 1, 'gif', 'g', 'A kick', 5, NULL)",
            "INSERT INTO read_marks VALUES (1, \(PostKey(id: "a:1").columnValue))",
        ]
        let state = DatabaseKind.state
        let before = state.with(Array(state.migrations.prefix(version)))
        try write(before, Self.tableOfGRDB + rows.prefix(version).joined(separator: ";"))
        let databases = try Databases(cacheFolder: nil, stateFolder: folder.path, logger: .silent)
        defer { databases.close() }
        #expect(databases.state.condition == .good)
        #expect(folder.exists("state.db.v\(version)"))
        #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%grdb%'", in: databases.state) == 0)
        #expect(try number("SELECT count(*) FROM shuffles", in: databases.state) == 0)
        let day = try #require(CivilDate("2026-01-02"))
        let store = FactStore(databases: databases)
        #expect(await store.factOfTheDay(day, today: day, source: .all)?.text == "Of the day.")
        await #expect(ScheduleRecords(databases: databases).all().count == (version >= 2 ? 1 : 0))
        #expect(try await RecentSearches(databases: databases).list(uid: 1).map(\.query) == (version >= 3 ? ["kick"] : []))
        let quota = QuotaLedger(source: "gifs", databases: databases)
        #expect(quota.status(limit: 9, now: Timestamp(seconds: 6)).used == (version >= 4 ? 1 : 0))
        let favorites = try await Favorites(databases: databases).list(uid: 1, cursor: nil, limit: 9).items
        #expect(favorites.map(\.title) == (version >= 5 ? ["A kick"] : []))
        #expect(await ReadMarks(databases: databases).read(uid: 1).contains(.sample("a:1")) == (version >= 6))
    }

    /// Every fact is served, found and counted as before, from the last package on without a network.
    @Test(arguments: [40, 11_000])
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
        try makeOldCache(Self.factsOfTheLastPackage + Self.tableOfGRDB, version: 5) { database in
            for (number, fact) in facts.enumerated() {
                try database.execute(
                    "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, 7)",
                    [
                        2 * number + 5, fact.id, fact.source, fact.text, fact.text.lowercased(),
                        fact.categories.joined(separator: " "), fact.isExplicit, fact.url, fact.createdAt?.seconds,
                        fact.updatedAt?.seconds, number % 5 == 4,
                    ]
                )
                for category in fact.categories {
                    try database.execute("INSERT INTO fact_categories VALUES (?, ?)", [category, 2 * number + 5])
                }
            }
        }
        let databases = try Databases(cacheFolder: folder.path, stateFolder: nil, logger: .silent)
        defer { databases.close() }
        let store = FactStore(databases: databases)
        #expect(databases.cache(.facts).opened.condition == .good)
        #expect(databases.cache(.facts).cursorKey == 7)
        #expect(try databases.cache(.facts).value(forKey: "fortunes_digest") == "known")
        await #expect(FetchRecords(databases: databases).record(of: "facts")?.settings == "s")
        let old = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%grdb%' OR name LIKE '%old%' OR sql LIKE '%fts5%'"
        #expect(try number(old, in: databases.cache(.facts).opened) == 0)
        #expect(store.count == count && !store.isLocal)
        let fifth = count / 5
        #expect(store.categories(of: .all).map(\.name) == ["a", "b", "jokes"])
        #expect(store.categories(of: .all).map(\.count) == [2 * fifth, fifth, fifth])
        let served = await store.nextFacts(count, filter: ShuffleFilter(allowsExplicit: true))
        #expect(served.sorted { $0.id < $1.id } == facts)
        let newest = try await store.search(FactQuery(text: "1"), cursor: nil, limit: 10).items
        #expect(newest == Array(facts.filter { !$0.isExplicit }.suffix(10).reversed()))
        let jokes = try await store.search(FactQuery(text: "\"of TWO lines\"", categories: ["jokes"]), cursor: nil, limit: 5)
        #expect(jokes.total == (fifth > 1_000 ? nil : fifth))
        try await databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
        // What only searches have brought stays; the rest of the upstream's goes.
        #expect(try await store.replaceUpstream([]).total == fifth)
    }

    /// A layout that was in no package: the cache is filled again.
    @Test func anOlderCacheIsEmptied() async throws {
        try makeOldCache(
            """
            CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE facts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE fact_categories (category TEXT NOT NULL, fact INTEGER NOT NULL REFERENCES facts (number)) STRICT;
            INSERT INTO facts VALUES (1, 'a');
            INSERT INTO fact_categories VALUES ('x', 1);
            INSERT INTO meta VALUES ('builtin_digest', '1'), ('fortunes_digest', '2')
            """, version: 1
        )
        let databases = try Databases(cacheFolder: folder.path, stateFolder: nil, logger: .silent)
        defer { databases.close() }
        #expect(databases.cache(.facts).opened.condition == .good)
        let store = FactStore(databases: databases)
        #expect(store.count == 0)
        #expect(try await store.replaceUpstream([.upstream("a")]).added == 1)
        let notes = try await databases.cache(.facts).writer.read { try Int.fetchOne($0, "SELECT count(*) FROM meta WHERE key LIKE '%digest'") }
        #expect(notes == 0)
    }

    private func makeOldCache(_ sql: String, version: Int, _ body: (Database) throws -> Void = { _ in }) throws {
        let pool = try DatabasePool(path: folder["cache.db"])
        try pool.write { database in
            try database.execute(sql)
            try body(database)
            let id = DatabaseKind.facts.applicationID
            try database.execute("PRAGMA application_id = \(id); PRAGMA user_version = \(version)")
        }
        try pool.close()
    }

    private static let factsOfTheLastPackage = """
        CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE facts (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL,
            text TEXT NOT NULL, folded TEXT NOT NULL, categories TEXT NOT NULL, explicit INTEGER NOT NULL,
            url TEXT, created_at INTEGER, updated_at INTEGER, stored_at INTEGER NOT NULL,
            found INTEGER NOT NULL DEFAULT 0, text_digest INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX facts_by_source ON facts (source);
        CREATE INDEX facts_by_text ON facts (text_digest);
        CREATE TABLE fact_categories (
            category TEXT NOT NULL, fact INTEGER NOT NULL REFERENCES facts (number) ON DELETE CASCADE,
            PRIMARY KEY (category, fact)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX fact_categories_by_fact ON fact_categories (fact);
        CREATE VIRTUAL TABLE facts_text USING fts5 (
            folded, content = 'facts', content_rowid = 'number',
            tokenize = 'trigram case_sensitive 1', detail = full
        );
        CREATE TRIGGER facts_inserted AFTER INSERT ON facts BEGIN
            INSERT INTO facts_text (rowid, folded) VALUES (new.number, new.folded);
        END;
        CREATE TRIGGER facts_deleted AFTER DELETE ON facts BEGIN
            INSERT INTO facts_text (facts_text, rowid, folded) VALUES ('delete', old.number, old.folded);
        END;
        CREATE TRIGGER facts_updated AFTER UPDATE OF folded ON facts BEGIN
            INSERT INTO facts_text (facts_text, rowid, folded) VALUES ('delete', old.number, old.folded);
            INSERT INTO facts_text (rowid, folded) VALUES (new.number, new.folded);
        END;
        CREATE TABLE fetches (
            source TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL, fetched_at INTEGER NOT NULL,
            categories TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('cursor_key', '7'), ('fortunes_digest', 'known');
        INSERT INTO fetches VALUES ('facts', 's', 5, 'a b');
        """
}
