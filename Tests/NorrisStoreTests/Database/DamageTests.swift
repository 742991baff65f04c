import Logging
import NorrisProtocol
import Synchronization
import NorrisTestSupport
import Testing

@testable import NorrisStore
@testable import NorrisThreads

/// Column values that norrisd never stores.
struct DamageTests {
    private let fixture = StoreFixture()
    private static let extremes: [Int64] = [.min, -1, 0, 1 << 31, 1 << 32, 1 << 53, .max]

    // MARK: Columns

    private func read<Value: ColumnValue>(_ value: Int64, as type: Value.Type) throws -> Value? {
        try Database(path: ":memory:", .write).read { try Value.fetchOne($0, "SELECT ?", [value]) }
    }

    @Test("An integer is read only in the range of its type", arguments: extremes) func ranges(value: Int64) throws {
        func check<Value: ColumnInteger>(_ type: Value.Type) throws {
            if Value.columnRange.contains(value) {
                #expect(try read(value, as: type)?.columnValue == value)
            } else {
                let error = #expect(throws: DatabaseError.self) { try read(value, as: type) }
                #expect(error.map(DatabaseError.isCorruption) == true)
                #expect(error?.message.hasPrefix("column 0 contains no \(type)") == true)
            }
        }
        try check(Int.self)
        try check(Bool.self)
        try check(Timestamp.self)
        try check(SequenceNumber.self)
        try check(OpaqueInteger.self)
        try check(UserID.self)
        try check(PostKey.self)
    }

    @Test func aValueThatCouldNotBeReadAgainIsNotStored() throws {
        let database = try Database(path: ":memory:", .write)
        try database.execute("CREATE TABLE t (a)")
        for value in [-1, SequenceNumber(columnValue: .max)] as [any ColumnInteger] {
            let error = #expect(throws: DatabaseError.self) {
                try database.execute("INSERT INTO t VALUES (?)", [value])
            }
            #expect(error?.message == "value 1 is out of range")
            #expect(error.map(DatabaseError.isCorruption) == false)
        }
        #expect(try Int.fetchOne(database, "SELECT count(*) FROM t") == 0)
    }

    @Test func everyTimeThatCanBeWrittenCanBeStored() throws {
        for text in ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-23:59"] {
            guard let time = Timestamp(text) else { continue }
            #expect(Timestamp.columnRange.contains(time.seconds), "\(text)")
        }
    }

    @Test func aTextIsReadOnlyAsItWasStored() {
        for text in ["", "{}", "a#b", "é"] {
            let stored = text + "#" + String(SipHash.hash(text), radix: 36)
            #expect(CheckedText(stored: stored)?.text == text)
            #expect(CheckedText(stored: "x" + stored) == nil)
            #expect(CheckedText(stored: text) == nil)
        }
        #expect(CheckedText(stored: "e\u{301}" + "#" + String(SipHash.hash("é"), radix: 36)) == nil)
    }

    // MARK: State

    private func fillState() async throws {
        let store = try fixture.open()
        let databases = store.databases
        try await store.replaceUpstream(upstreamFacts(0..<9))
        let favorites = Favorites(databases: databases)
        #expect(try await favorites.add(Favorite(fact: .upstream("f")), uid: 1))
        let recents = RecentSearches(databases: databases)
        recents.record(uid: 1, kind: .fact, query: "kick")
        await recents.write()
        let marks = ReadMarks(databases: databases)
        #expect(try await marks.mark(uid: 1, [.sample("a:9", number: 9)]) == 1)
        try await marks.markAll(uid: 1, .sample(["a"], upTo: 5))
        _ = store.nextIDs(2)
        let day = try #require(CivilDate("2026-01-02"))
        _ = store.factOfTheDay(day, today: day, source: .all)
        await store.writeShuffles()
        let failure = SourceFailure(kind: .offline, message: "m", since: Timestamp(seconds: 5))
        let time = Timestamp(seconds: 5)
        await ScheduleRecords(databases: databases).write(
            ScheduleRecord(
                nextRunAt: time, backoffUntil: time, retryAt: time, failures: 1, failure: failure, failedAt: time,
                settings: "s", hadContent: true), for: "facts")
        _ = await QuotaLedger(source: "gifs", databases: databases).take(.user, limit: 5)
        databases.close()
    }

    private struct Column {
        let table: String
        let column: String
        var name: String { "\(table).\(column)" }
    }

    private func columns(of file: String) throws -> [Column] {
        let pool = try DatabasePool(path: fixture.folder(file))
        let columns = try pool.read { database in
            try database.map(
                """
                SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
                WHERE tables.type = 'table' AND columns.type = 'INTEGER'
                """
            ) { row in Column(table: row[0], column: row[1]) }
        }
        try pool.close()
        return columns
    }

    @Test func everyIntegerOfTheStateHasARange() async throws {
        try await fillState()
        let names = try columns(of: "state/state.db").map(\.name)
        #expect(names.sorted() == StateRepair.all.map { "\($0.table).\($0.column)" }.sorted())
    }

    @Test("A damaged integer of the state costs its row at most, and no favorite", arguments: extremes)
    func extremesOfTheState(value: Int64) async throws {
        try await fillState()
        for column in try columns(of: "state/state.db") {
            let copy = try fixture.killed()
            try update(column, value, in: copy.folder("state/state.db"))
            let store = try copy.open()
            let databases = store.databases
            let comment = Comment(rawValue: "\(column.name) = \(value)")
            #expect(databases.state.condition == .good, comment)
            #expect(store.nextIDs(9).count == 9, comment)
            store.noteServed("g", .gif, uid: 1)
            #expect(await store.writeShuffles(), comment)
            _ = try await store.lastServed(.fact, uid: 1)
            let favorites = Favorites(databases: databases)
            let items = try await favorites.list(uid: 1, cursor: nil, limit: 9).items
            if !["favorites.uid", "favorites.digest"].contains(column.name) {
                #expect(items.map(\.title) == ["The text of f."], comment)
            }
            #expect(try await favorites.add(Favorite(fact: .upstream("g")), uid: 1), comment)
            let recents = RecentSearches(databases: databases)
            recents.record(uid: 1, kind: .fact, query: "punch")
            #expect(await recents.write(), comment)
            #expect(try await recents.list(uid: 1).first?.query == "punch", comment)
            let marks = ReadMarks(databases: databases)
            _ = await marks.read(uid: 1)
            let marked = try await marks.mark(uid: 1, [.sample("a:8", number: 8)])
            // A watermark that is too high covers the post already.
            if column.name != "read_watermarks.number" { #expect(marked == 1, comment) }
            try await marks.markAll(uid: 1, .sample(["a"], upTo: 7))
            #expect(await marks.read(uid: 1).contains(.sample("a:7", number: 7)), comment)
            _ = await ScheduleRecords(databases: databases).all()
            let quota = QuotaLedger(source: "gifs", databases: databases)
            #expect(await quota.take(.user, limit: 5) == .granted, comment)
            let day = try #require(CivilDate("2026-01-03"))
            #expect(store.factOfTheDay(day, today: day, source: .all) != nil, comment)
            #expect(databases.faults == [], comment)
            databases.close()
        }
    }

    private func update(_ column: Column, _ value: Int64, in path: String) throws {
        let pool = try DatabasePool(path: path)
        try pool.withWriter { database in
            try database.execute("PRAGMA foreign_keys = OFF")
            try database.execute("UPDATE OR IGNORE \(column.table) SET \(column.column) = ?", [value])
        }
        try pool.close()
    }

    @Test func aDamagedIndexOfTheStateIsBuiltAgain() async throws {
        try await fillState()
        let pool = try DatabasePool(path: fixture.folder("state/state.db"))
        try pool.withWriter { database in
            // Creates an index row without a table row.
            try database.execute("PRAGMA writable_schema = ON")
            try database.execute("CREATE TABLE kept AS SELECT sql FROM sqlite_schema WHERE name = 'favorites_by_time'")
            try database.execute(
                "UPDATE sqlite_schema SET sql = 'CREATE INDEX favorites_by_time ON favorites (uid, title)' WHERE name = 'favorites_by_time'"
            )
        }
        try pool.close()
        let changed = try DatabasePool(path: fixture.folder("state/state.db"))
        try changed.withWriter { database in
            try database.execute("REINDEX favorites_by_time")
            try database.execute("PRAGMA writable_schema = ON")
            try database.execute(
                "UPDATE sqlite_schema SET sql = (SELECT sql FROM kept) WHERE name = 'favorites_by_time'; DROP TABLE kept"
            )
        }
        try changed.close()
        let databases = try fixture.databases()
        #expect(databases.state.condition == .good)
        #expect(try await Favorites(databases: databases).list(uid: 1, cursor: nil, limit: 9).items.map(\.id) == ["f"])
        databases.close()
    }

    @Test func aDamagedTextOfAFavoriteLeavesTheFavorite() async throws {
        try await fillState()
        let databases = try fixture.databases()
        try await databases.state.writer.write {
            try $0.execute("UPDATE favorites SET content = replace(content, 'The', 'Tje')")
        }
        let items = try await Favorites(databases: databases).list(uid: 1, cursor: nil, limit: 9).items
        #expect(items.map(\.id) == ["f"] && items.map(\.title) == ["f"] && items[0].fact == nil)
        databases.close()
    }

    @Test("A wrong byte in the header of a database is corrected", arguments: ["state/state.db", "cache/cache.db"])
    func headers(file: String) async throws {
        try await fillState()
        for pragma in ["application_id = 77", "application_id = -1", "user_version = -5", "user_version = 16777216"] {
            let copy = try fixture.killed()
            let pool = try DatabasePool(path: copy.folder(file))
            try pool.withWriter { try $0.execute("PRAGMA \(pragma)") }
            try pool.close()
            let store = try copy.open()
            #expect(store.databases.faults == [], "\(pragma)")
            #expect(store.catalogue.upstreamCount == 9)
            store.databases.close()
        }
    }

    @Test("With any wrong byte in the header of the state the daemon starts and stores", arguments: [0x00, 0x03, 0xFF])
    func headerBytes(value: UInt8) async throws {
        try await fillState()
        // Bytes 60 to 63 contain the schema version, and a newer norrisd may have written the file.
        for offset in 0..<100 where !(60..<64).contains(offset) {
            let copy = try fixture.killed()
            // Merges the log, because the log contains a copy of the header page.
            try DatabasePool(path: copy.folder("state/state.db")).close()
            var bytes = try copy.folder.bytes("state/state.db")
            bytes[offset] = value
            _ = try copy.folder.write("state/state.db", bytes)
            let store: FactStore
            do {
                store = try copy.open()
            } catch let error as StoreError {
                #expect(error.reason == .foreign && 68..<72 ~= offset, "byte \(offset): \(error)")
                continue
            }
            #expect(store.databases.state.condition.isWritable, "byte \(offset): \(store.databases.state.condition)")
            store.databases.close()
        }
    }

    // MARK: Cache

    @Test("A cache with a damaged integer is quarantined at the start or when it is read", arguments: extremes)
    func extremesOfTheCache(value: Int64) async throws {
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<9, categories: ["dev"]))
            try await PostStore(databases: store.databases).fetch([.sample("a:1", at: 5)], at: 10)
        }
        let files = Databases.Content.cached.map { "cache/" + $0.kind.fileName }
        for (file, column) in try files.flatMap({ file in try columns(of: file).map { (file, $0) } }) {
            let copy = try fixture.killed()
            try update(column, value, in: copy.folder(file))
            let store = try copy.open()
            let databases = store.databases
            let comment = Comment(rawValue: "\(file) \(column.name) = \(value)")
            let posts = PostStore(databases: databases)
            _ = GifStore(databases: databases)
            func use() async {
                for fact in store.nextFacts(9) where !fact.isLocal {
                    #expect(fact.text == "The text of \(fact.id).", comment)
                }
                _ = store.nextFacts(9, filter: FactFilter(categories: ["dev"], maxLength: 50))
                _ = try? store.search(FactQuery(text: "text"))
                _ = try? await posts.page()
                _ = try? await posts.authors(sources: ["a"], cursor: nil, limit: 9)
                _ = await FetchRecords(databases: databases).record(of: "a")
                _ = try? await store.replaceUpstream(upstreamFacts(3..<20))
                _ = try? await posts.fetch([.sample("a:1"), .sample("a:2")], at: 20)
            }
            await use()
            // The maintenance of the daemon calls this function.
            _ = databases.recreateLostCaches(BlockingAccess())
            await use()
            #expect(store.nextFacts(9).count == 9, comment)
            #expect(!databases.isCacheLost, comment)
            databases.close()
        }
    }

    @Test func aDamagedTextIsNotServed() async throws {
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<2))
            try await PostStore(databases: store.databases).fetch([.sample("a:1", at: 5)], at: 10)
        }
        let changes = [
            (Databases.Content.posts, "UPDATE posts SET content = replace(content, 'text', 'tixt')"),
            (.posts, "UPDATE authors SET name = 'anna'"),
        ]
        for (content, sql) in changes {
            let copy = try fixture.killed()
            let store = try copy.open()
            let databases = store.databases
            try await databases.opened(content).writer.write { try $0.execute(sql) }
            let posts = try? await PostStore(databases: databases).page()
            #expect(posts == nil, "\(sql)")
            #expect(databases.isCacheLost, "\(sql)")
            databases.close()
        }
    }
}
