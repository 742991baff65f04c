import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct DatabasesTests {
    private let fixture = StoreFixture()

    private func open() throws -> Databases { try fixture.databases() }

    @Test func freshFoldersAreMade() throws {
        let databases = try open()
        #expect(databases.faults == [])
        #expect(!databases.isReadOnly)
        #expect(databases.sizes.cache > 0 && databases.sizes.state > 0)
        databases.close()
        for name in ["cache", "state"] { #expect(try fixture.folder.mode(name) == 0o700) }
        // No log file remains.
        #expect(try fixture.folder.names("state") == ["state.db"])
        #expect(try fixture.folder.names("cache") == ["cache.db", "cache.db-gifs", "cache.db-posts"])
    }

    /// umask(2) affects the whole process, so this test needs a separate process.
    @Test func filesAreTheirUsersOwn() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let fixture = StoreFixture()
            let databases = try fixture.databases()
            for name in ["cache", "state"] {
                let files = try fixture.folder.names(name)
                #expect(files.contains("\(name).db-wal"))
                for file in files { #expect(try fixture.folder.mode("\(name)/\(file)") == 0o600, "\(file)") }
            }
            databases.close()
        }
    }

    @Test func fileSaysWhoseItIs() throws {
        try open().close()
        for (kind, name, id) in [(DatabaseKind.facts, "cache", "NRRC"), (.state, "state", "NRRS")] {
            // Header offsets 60 and 68: user_version and application_id (SQLite, "Database File Format").
            let header = try fixture.folder.bytes("\(name)/\(name).db")
            #expect(header[68..<72].elementsEqual(id.utf8))
            #expect(header[60..<64].elementsEqual([0, 0, 0, UInt8(kind.schemaVersion)]))
        }
    }

    @Test(arguments: ["cache", "state"]) func newerSchemaIsLeftUntouched(name: String) throws {
        try open().close()
        try execute("PRAGMA user_version = 700", on: name)
        let before = try fixture.folder.bytes("\(name)/\(name).db")
        let error = try #require(throws: StoreError.self) { try open() }
        let kind = name == "cache" ? DatabaseKind.facts : .state
        let alternative = kind.isDurable ? "give another folder" : "delete it, because its content is fetched again"
        #expect(error.reason == .newerSchema(found: 700, known: kind.schemaVersion, alternative: alternative))
        #expect(error.path == fixture.folder("\(name)/\(name).db"))
        #expect(error.description.contains("newer norrisd") && error.description.contains("left untouched"))
        #expect(try fixture.folder.bytes("\(name)/\(name).db") == before)
    }

    /// After an unclean stop, the version may be only in the log.
    @Test func newerSchemaInTheLogIsLeftUntouched() async throws {
        let databases = try open()
        try databases.state.writer.withWriter { database in try database.execute("PRAGMA user_version = 900") }
        let killed = try fixture.killed()
        databases.close()
        let before = try ["", "-wal"].map { try killed.folder.bytes("state/state.db" + $0) }
        let error = #expect(throws: StoreError.self) { try killed.databases() }
        let known = DatabaseKind.state.schemaVersion
        #expect(error?.reason == .newerSchema(found: 900, known: known, alternative: "give another folder"))
        #expect(try ["", "-wal"].map { try killed.folder.bytes("state/state.db" + $0) } == before)
    }

    @Test(arguments: ["cache", "state"]) func databaseOfAnotherProgramIsLeftUntouched(name: String) throws {
        try fixture.folder.write("\(name)/\(name).db", "")
        try execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1); PRAGMA application_id = 42", on: name)
        let before = try fixture.folder.bytes("\(name)/\(name).db")
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.reason == .foreign)
        #expect(error?.description.contains("another program") == true)
        #expect(try fixture.folder.bytes("\(name)/\(name).db") == before)
        #expect(try !fixture.folder.names(name).contains { $0.contains("damaged") })
    }

    /// Only root can give a file away.
    @Test(.enabled(if: geteuid() == 0), arguments: ["cache", "state"], ["file", "link", "dangling link"])
    func fileOfAnotherUserIsNotUsed(name: String, kind: String) throws {
        let (path, target) = (fixture.folder("\(name)/\(name).db"), fixture.folder("target"))
        try fixture.folder.write("\(name)/unused", "")
        if kind == "link" { try fixture.folder.write("target", "") }
        if kind == "file" { try fixture.folder.write("\(name)/\(name).db", "") } else { symlink(target, path) }
        #expect(lchown(path, 60_001, 60_001) == 0)
        let recorder = LogRecorder()
        let databases = try Databases(
            cacheFolder: fixture.cacheFolder, stateFolder: fixture.stateFolder, logger: recorder.logger)
        let reason = "the file belongs to user 60001; remove it, or change its owner"
        #expect(databases.faults == ["\(name).db is in memory: \(reason)"])
        #expect(recorder.lines == ["error database.unwritable"])
        #expect(Folder.size(of: path) == 0)
        #expect((Folder.identity(of: target) != nil) == (kind == "link"))
        databases.close()
    }

    @Test func emptyFileBecomesADatabase() throws {
        try fixture.folder.write("state/state.db", "")
        let databases = try open()
        #expect(databases.faults == [])
        databases.close()
    }

    @Test(arguments: ["cache", "state"]) func anUnfinishedCreationIsRolledBack(name: String) async throws {
        let path = fixture.folder("\(name)/\(name).db")
        try fixture.folder.write("\(name)/unused", "")
        // A transaction that has written to the file before its commit, as on a full disk.
        let database = try Database(path: path, .write)
        try database.execute("PRAGMA cache_size = 1; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
        try database.execute("BEGIN; UPDATE t SET a = randomblob(100000); INSERT INTO t VALUES (zeroblob(100000))")
        let killed = try fixture.killed()
        try database.execute("ROLLBACK; DROP TABLE t")
        try database.close()
        #expect(try killed.folder.bytes("\(name)/\(name).db-journal").count > 512)
        let error = #expect(throws: StoreError.self) { try killed.databases() }
        // The table is that of another program; before the rollback, no connection could tell.
        #expect(error?.description.contains("another program") == true)
        #expect(!killed.folder.exists("\(name)/\(name).db-journal"))
    }

    @Test(arguments: ["cache", "state"]) func garbageIsQuarantined(name: String) async throws {
        let garbage = Array(repeating: UInt8(ascii: "x"), count: 5_000)
        try fixture.folder.write("\(name)/\(name).db", garbage)
        try fixture.folder.write("\(name)/\(name).db-wal", "log")
        let aside = fixture.folder("\(name)/\(name).db.damaged")
        let salvage = name == "state" ? "; none of its favorites can be read" : ""
        try await fixture.run { store in
            #expect(store.databases.faults == ["A damaged database was quarantined as \(aside)\(salvage)"])
            #expect(!store.databases.isReadOnly)
        }
        #expect(try fixture.folder.bytes("\(name)/\(name).db.damaged") == garbage)
        #expect(try fixture.folder.bytes("\(name)/\(name).db.damaged-wal") == Array("log".utf8))

        // The database is intact now. A second quarantine keeps the files of the first quarantine.
        try await fixture.run { #expect($0.databases.faults == []) }
        try fixture.folder.write("\(name)/\(name).db", garbage.reversed() + [1])
        try await fixture.run {
            #expect($0.databases.faults == ["A damaged database was quarantined as \(aside).2\(salvage)"])
        }
        #expect(try fixture.folder.bytes("\(name)/\(name).db.damaged") == garbage)
    }

    @Test(arguments: ["cache", "state"], [Damage.truncated, .overwritten])
    func damagedDatabaseIsQuarantined(name: String, damage: Damage) async throws {
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<500, categories: ["x", "y"]))
            for length in 1...30 { _ = store.nextIDs(3, FactFilter(maxLength: 100 * length)) }
        }
        var bytes = try fixture.folder.bytes("\(name)/\(name).db")
        let pageSize = 4_096
        try #require(bytes.count > 8 * pageSize)
        switch damage {
        case .truncated: bytes.removeLast(bytes.count / 2)
        case .overwritten:
            bytes.replaceSubrange(pageSize..<4 * pageSize, with: repeatElement(0x5A, count: 3 * pageSize))
        }
        try fixture.folder.write("\(name)/\(name).db", bytes)
        try await fixture.run { store in
            // The daemon checks the cache after it has begun to serve.
            store.databases.checkCache()
            _ = store.databases.recreateLostCache()
            #expect(store.databases.faults.map { $0.contains("quarantined") } == [true])
            try await store.replaceUpstream(upstreamFacts(0..<500, categories: ["x", "y"]))
            #expect(store.nextIDs(100).count == 100)
        }
        #expect(try fixture.folder.bytes("\(name)/\(name).db.damaged") == bytes)
        try await fixture.run { store in
            #expect(store.databases.faults == [])
            #expect(store.catalogue.upstreamCount == 500)
        }
    }

    enum Damage { case truncated, overwritten }

    @Test func folderThatCannotBeMadeLeavesTheOtherDatabaseOnDisk() throws {
        let file = try fixture.folder.write("file", "plain")
        let databases = try Databases(cacheFolder: file + "/below", stateFolder: fixture.stateFolder, logger: .silent)
        #expect(databases.faults.count == 1)
        #expect(databases.faults.first?.contains("\(file)/below: cannot be written") == true)
        #expect(databases.isReadOnly)
        #expect(databases.sizes.cache == 0)
        #expect(databases.sizes.state > 0)
        databases.close()
        #expect(try fixture.folder.bytes("file") == Array("plain".utf8))
    }

    @Test func importDoesNotLeaveALargeLogBehind() async throws {
        let store = try fixture.open()
        let text = String(repeating: "lorem ipsum dolor sit amet ", count: 40)
        try await store.replaceUpstream((0..<3_000).map { .upstream("\($0)", "\($0) \(text)") })
        try await store.replaceUpstream([])
        try await store.replaceUpstream([.upstream("a")])
        #expect(try fixture.folder.bytes("cache/cache.db-wal").count < 2_000_000)
        #expect(try fixture.folder.bytes("cache/cache.db").count > 4_000_000)
        store.databases.close()
    }

    @Test("The file is deleted, or replaced by another, under the daemon", arguments: [true, false])
    func stateThatIsDeletedTakesNothingThatWouldBeLost(isReplaced: Bool) async throws {
        let databases = try open()
        defer { databases.close() }
        let favorites = Favorites(databases: databases)
        #expect(try await favorites.add(Favorite(fact: .upstream("f")), uid: 1))
        databases.checkState()
        #expect(databases.faults == [] && !databases.isReadOnly)

        rename(fixture.folder("state/state.db"), fixture.folder("state/old.db"))
        if isReplaced { try fixture.folder.write("state/state.db", "") }
        // A write detects the deletion itself.
        let error = ResponseError.storage("state.db was deleted while norrisd was running.", hint: "Restart norrisd.")
        await #expect(throws: error) { try await favorites.add(Favorite(fact: .upstream("g")), uid: 1) }
        #expect(databases.faults == ["state.db was deleted under the daemon: restart it"])
        #expect(databases.isReadOnly)
        let marks = ReadMarks(databases: databases)
        await #expect(throws: error) { try await marks.mark(uid: 1, [.sample("a:1")]) }
        #expect(try await favorites.list(uid: 1, cursor: nil, limit: 9).items.map(\.id) == ["f"])
    }

    @Test func stateThatIsDeletedIsToldOfWithoutAChange() throws {
        let databases = try open()
        defer { databases.close() }
        try fixture.folder.remove("state/state.db")
        #expect(databases.faults == [])
        databases.checkState()
        databases.checkState()
        #expect(databases.faults == ["state.db was deleted under the daemon: restart it"])
        #expect(databases.isReadOnly)
        let inMemory = try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent)
        inMemory.checkState()
        #expect(inMemory.faults.count == 2)
    }

    @Test func freeBytesAreKnownWhereADatabaseIsOnADisk() throws {
        let databases = try open()
        defer { databases.close() }
        let free = try #require(databases.freeBytes)
        #expect(free > 0 && free <= 1 << 53)
        let half = try Databases(cacheFolder: nil, stateFolder: fixture.folder("other"), logger: .silent)
        #expect(half.freeBytes != nil)
        half.close()
        #expect(try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent).freeBytes == nil)
    }

    private func execute(_ sql: String, on name: String) throws {
        let queue = try DatabasePool(path: fixture.folder("\(name)/\(name).db"))
        try queue.withWriter { try $0.execute(sql) }
        try queue.close()
    }
}
