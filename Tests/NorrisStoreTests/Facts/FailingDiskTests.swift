import Glibc
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore

/// With a failing disk, the store continues to serve, reports the fault and loses no recoverable data.
struct FailingDiskTests {
    @Test func shufflesThatCannotBeWrittenAreWrittenLater() async throws {
        let fixture = StoreFixture()
        let facts = upstreamFacts(0..<40)
        var given: [String] = []
        let changes = Mutex(0)
        try await fixture.run { store in
            try await store.replaceUpstream(facts)
            store.databases.onFaultsChange { changes.withLock { $0 += 1 } }
            try await store.databases.state.refuseWrites(to: "shuffles")
            given += await store.nextIDs(10)
            #expect(await !store.writeShuffles())
            #expect(store.databases.isReadOnly)
            #expect(store.databases.faults.count == 1)
            #expect(store.databases.faults.first?.hasPrefix("The state takes no writes: ") == true)
            given += await store.nextIDs(10)
            #expect(await !store.writeShuffles())
            #expect(changes.withLock { $0 } == 1)
            try await store.databases.state.takeWritesAgain()
            #expect(await store.writeShuffles())
            #expect(changes.withLock { $0 } == 2)
            #expect(!store.databases.isReadOnly)
            #expect(store.databases.faults == [])
        }
        given += try await fixture.run { await $0.nextIDs(20) }
        #expect(Set(given).count == 40)
    }

    @Test func contentIsServedFromMemoryWhereTheCacheIsFull() async throws {
        let fixture = StoreFixture()
        let path = try fixture.folder.write("jokes", "One.\n%\nTwo.\n")
        try await fixture.run { store in
            // Causes SQLITE_FULL, as on a full disk.
            try store.databases.cache(.facts).writer.withWriter { database in
                let pages = try Int.fetchOne(database, "PRAGMA page_count") ?? 0
                try database.execute("PRAGMA max_page_count = \(pages)")
            }
            store.importStartingCollection()
            store.importFortunes([path])
            #expect(store.count == StartingCollection.facts().count + 2)
            #expect(await Set(store.nextIDs(9, ShuffleFilter(categories: ["jokes"]))).count == 2)
            #expect(store.databases.isReadOnly)
            #expect(store.databases.faults.count == 1)
            #expect(store.databases.faults.first?.contains("in memory: database or disk is full") == true)
        }
        try await fixture.run { store in
            store.importStartingCollection()
            store.importFortunes([path])
            #expect(store.databases.faults == [])
            let page = try await store.search(FactQuery(text: "two."), cursor: nil, limit: 5)
            #expect(page.items.count == 1)
        }
    }

    /// A fetch is atomic: its facts and its record are stored together or not at all.
    @Test(arguments: ["facts", "fetches", "fact_entries", "fact_texts"])
    func fetchThatCannotBeWrittenChangesNothing(table: String) async throws {
        let fixture = StoreFixture()
        let old = upstreamFacts(0..<20, categories: ["x"])
        let path = fixture.folder("cache/cache.db")
        let record = FetchRecord(settings: "old", fetchedAt: Timestamp(seconds: 1))
        try await fixture.run { store in
            let records = FetchRecords(databases: store.databases)
            try await store.replaceUpstream(old, isComplete: true, fetch: record)
            try await store.databases.cache(.facts).opened.refuseWrites(to: table)
            let error = await #expect(throws: StoreError.self) {
                try await store.replaceUpstream(upstreamFacts(10..<30, categories: ["x"]))
            }
            #expect(error?.path == path)
            #expect(error?.description.contains("could not be changed") == true)
            #expect(error?.description.contains("refused by the test") == true)
            #expect(store.databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            #expect(await Set(store.nextIDs(50)) == Set(old.map(\.id)))
            await #expect(records.record(of: "facts") == record)
            try await store.databases.cache(.facts).opened.takeWritesAgain()
            try await store.replaceUpstream(upstreamFacts(10..<30, categories: ["x"]))
            #expect(store.databases.faults == [])
        }
        try await fixture.run { #expect(await Set($0.nextIDs(50)) == Set(upstreamFacts(10..<30).map(\.id))) }
    }

    @Test func cancelledFetchChangesNothing() async throws {
        let fixture = StoreFixture()
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<600))
            await #expect(throws: StoreError(path: fixture.folder("cache/cache.db"), .cancelled)) {
                try await withThrowingTaskGroup { tasks in
                    tasks.addTask { _ = try await store.replaceUpstream(upstreamFacts(500..<700)) }
                    tasks.cancelAll()
                    try await tasks.next()
                }
            }
            #expect(await Set(store.nextIDs(1_000)) == Set(upstreamFacts(0..<600).map(\.id)))
            #expect(store.databases.faults == [])
        }
        try await fixture.run { #expect($0.count == 600) }
    }

    @Test func withoutAnyFolderTheDaemonServes() async throws {
        let folder = TemporaryFolder()
        let file = try folder.write("file", "")
        let databases = try Databases(cacheFolder: file + "/c", stateFolder: file + "/s", logger: .silent)
        let store = FactStore(databases: databases)
        store.importStartingCollection()
        #expect(await Set(store.nextIDs(100)).count == 100)
        #expect(await store.writeShuffles())
        #expect(try await store.search(FactQuery(text: "chuck"), cursor: nil, limit: 5).items.count == 5)
        let day = try #require(CivilDate("2026-02-28"))
        let fact = await store.factOfTheDay(day, today: day, source: .all)
        #expect(fact != nil)
        #expect(await store.factOfTheDay(day, today: day, source: .all) == fact)
        #expect(databases.isReadOnly)
        #expect(databases.faults.count == 2)
        #expect(databases.faults.allSatisfy { $0.contains(file) && $0.contains("in memory") })
        #expect(databases.sizes == (0, 0))
        databases.close()
    }

    /// Folders of another user: the databases are read, and never written.
    @Test func foreignDatabasesAreRead() async throws {
        let fixture = StoreFixture()
        let before = try fixture.open()
        try await before.replaceUpstream(upstreamFacts(0..<20))
        var given = await before.nextIDs(15)
        await before.writeShuffles()
        // An unclean stop: the log is read too.
        let foreign = try fixture.killed()
        before.databases.close()
        for folder in ["cache", "state"] {
            for name in try foreign.folder.names(folder) { chmod(foreign.folder("\(folder)/\(name)"), 0o444) }
            chmod(foreign.folder(folder), 0o555)
        }
        defer { for folder in ["cache", "state"] { chmod(foreign.folder(folder), 0o755) } }
        let store = try asNobody { try foreign.open() }
        #expect(store.databases.isReadOnly)
        #expect(store.databases.faults.count == 2)
        #expect(store.databases.faults.allSatisfy { $0.contains(".db is read-only: ") })
        #expect(store.count == 20)
        given += await store.nextIDs(5)
        #expect(Set(given).count == 20)
        #expect(await !store.writeShuffles())
        await #expect(throws: StoreError.self) { try await store.replaceUpstream([]) }
        #expect(store.databases.faults.count == 2, "what fails for that is no further fault")
        #expect(try await store.search(FactQuery(text: "text of"), cursor: nil, limit: 5).total == 20)
        store.databases.close()
    }

    /// The log and its index do not exist and cannot be created.
    @Test func databasesOfACleanStopAreReadWhereNothingCanBeMade() async throws {
        let fixture = StoreFixture()
        // SQLite receives the paths as URIs.
        let folder = fixture.folder("a ?#%41é")
        func open() throws -> FactStore {
            let databases = try Databases(cacheFolder: folder + "/c", stateFolder: folder + "/s", logger: .silent)
            return FactStore(databases: databases)
        }
        let before = try open()
        try await before.replaceUpstream(upstreamFacts(0..<20))
        let kept = Favorite(fact: .upstream("f"), at: Timestamp(seconds: 1))
        #expect(try await Favorites(databases: before.databases).add(kept, uid: 1))
        before.databases.close()
        for (name, file) in [("c", "cache"), ("s", "state")] {
            chmod("\(folder)/\(name)/\(file).db", 0o444)
            chmod("\(folder)/\(name)", 0o555)
        }
        defer { for name in ["c", "s"] { chmod("\(folder)/\(name)", 0o755) } }
        // The parent folder belongs to the user who runs the tests.
        chmod(folder, 0o755)
        let store = try asNobody { try open() }
        defer { store.databases.close() }
        let faults = store.databases.faults.map { $0.prefix { $0 != ":" } }
        #expect(faults == ["state.db is read-only", "cache.db is read-only"])
        #expect(store.count == 20)
        let favorites = Favorites(databases: store.databases)
        #expect(try await favorites.list(uid: 1, cursor: nil, limit: 9).items == [kept])
        let error = ResponseError.storage(
            "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
        await #expect(throws: error) { try await favorites.remove(.fact, id: "f", uid: 1) }
    }
}

extension OpenedDatabase {
    /// Makes every insertion into a table fail, on the writer connection.
    func refuseWrites(to table: String) async throws { try await refuse("INSERT", on: table) }

    func refuse(_ statement: String, on table: String) async throws {
        try writer.withWriter { database in
            try database.execute(
                """
                CREATE TEMP TRIGGER refused BEFORE \(statement) ON main.\(table)
                BEGIN SELECT RAISE(ABORT, 'refused by the test'); END
                """)
        }
    }

    func takeWritesAgain() async throws {
        try writer.withWriter { try $0.execute("DROP TRIGGER refused") }
    }
}
