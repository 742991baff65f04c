import Glibc
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore

/// With a failing disk, the store continues to serve, reports the fault and loses no recoverable data.
struct FailingDiskTests {
    private let only = FactFilter(categories: ["only"])

    /// Folders of another user: the databases are read, and never written.
    @Test func foreignDatabasesAreRead() async throws {
        let fixture = StoreFixture()
        let before = try fixture.open()
        try await before.replaceUpstream(upstreamFacts(0..<20, categories: ["only"]))
        var given = before.nextIDs(15, only)
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
        #expect(store.catalogue.upstreamCount == 20)
        given += store.nextIDs(5, only)
        #expect(Set(given).count == 20)
        #expect(await !store.writeShuffles())
        await #expect(throws: StoreError.self) { try await store.replaceUpstream([]) }
        #expect(store.databases.faults.count == 2, "what fails for that is no further fault")
        #expect(try store.search(FactQuery(text: "text of")).total == 20)
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
        #expect(store.catalogue.upstreamCount == 20)
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
