import CSQLite
import Dispatch
import Glibc
import Logging
import NorrisProtocol
import Synchronization
import NorrisTestSupport
import Testing

@testable import NorrisStore

@Suite(.timeLimit(.minutes(2))) struct DatabasePoolTests {
    private let folder = TemporaryFolder()

    private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    private func open(readers: Int) throws -> DatabasePool {
        let pool = try DatabasePool(path: folder("db"), readers: readers) { database in
            if !database.isReadOnly { try database.execute("PRAGMA journal_mode = WAL") }
        }
        try pool.write { try $0.execute("CREATE TABLE IF NOT EXISTS t (a INTEGER NOT NULL) STRICT") }
        return pool
    }

    private func withPool(readers: Int, _ body: (DatabasePool) async throws -> Void) async throws {
        let pool = try open(readers: readers)
        try await body(pool)
        try pool.close()
    }

    /// Selects the blocking overloads in asynchronous tests.
    private func sync<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }

    /// Calls the body while it has exclusive use of `count` reader connections.
    private func withReaders(
        _ count: Int, of pool: DatabasePool, _ held: [Database] = [], _ body: ([Database]) throws -> Void
    ) throws {
        if held.count == count { return try body(held) }
        try pool.read { try withReaders(count, of: pool, held + [$0], body) }
    }

    @Test func everyConnectionHasItsSettings() async throws {
        try await withPool(readers: 3) { pool in
            try withReaders(3, of: pool) { readers in
                #expect(Set(readers.map(ObjectIdentifier.init)).count == 3)
                for settings in try readers.map(settings) { #expect(settings == [1, 1, 5_000]) }
            }
            #expect(try pool.withWriter(settings) == [1, 0, 5_000])
        }
        let databases = try Databases(cacheFolder: nil, stateFolder: folder("state"), logger: .silent)
        defer { databases.close() }
        for opened in [databases.state, databases.cache(.facts).opened] {
            // A migration switches foreign keys off temporarily.
            #expect(try opened.writer.withWriter(settings) == [1, 0, 5_000])
        }
    }

    private func settings(_ database: Database) throws -> [Int?] {
        try ["foreign_keys", "query_only", "busy_timeout"].map { try Int.fetchOne(database, "PRAGMA \($0)") }
    }

    @Test func readMayNotWrite() async throws {
        try await withPool(readers: 2) { pool in
            for sql in ["INSERT INTO t VALUES (1)", "DROP TABLE t", "PRAGMA user_version = 9"] {
                let error = await #expect(throws: DatabaseError.self) { try await pool.read { try $0.execute(sql) } }
                #expect(error?.resultCode == SQLITE_READONLY)
            }
        }
    }

    @Test func readSeesOneState() throws {
        let pool = try open(readers: 1)
        let count = "SELECT count(*) FROM t"
        try pool.read { reader in
            #expect(try Int.fetchOne(reader, count) == 0)
            try pool.write { try $0.execute("INSERT INTO t VALUES (1)") }
            #expect(try Int.fetchOne(reader, count) == 0)
        }
        #expect(try pool.read { try Int.fetchOne($0, count) } == 1)
        try pool.close()
    }

    @Test(arguments: [0, 1]) func cancellationEndsAStatementAndTheNextRuns(readers: Int) async throws {
        try await withPool(readers: readers) { pool in
            for isWrite in [false, true] {
                let (started, continuation) = AsyncStream<Void>.makeStream()
                let task = Task {
                    let body: @Sendable (Database) throws -> Int? = { database in
                        if isWrite { try database.execute("INSERT INTO t VALUES (1)") }
                        continuation.yield()
                        return try Int.fetchOne(database, Self.endless)
                    }
                    return isWrite ? try await pool.write(body) : try await pool.read(body)
                }
                for await _ in started { break }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(try await pool.read { try Int.fetchOne($0, "SELECT count(*) FROM t") } == 0)
                try await pool.write { try $0.execute("INSERT INTO t VALUES (2); DELETE FROM t") }
            }
            // A task that is canceled before its write changes nothing.
            let early = Task {
                while !Task.isCancelled { await Task.yield() }
                try await pool.write { try $0.execute("INSERT INTO t VALUES (3)") }
            }
            early.cancel()
            await #expect(throws: CancellationError.self) { try await early.value }
            #expect(try await pool.read { try Int.fetchOne($0, "SELECT count(*) FROM t") } == 0)
        }
    }

    @Test(arguments: [0, 1]) func timeLimitEndsAStatementAndTheNextRuns(readers: Int) async throws {
        try await withPool(readers: readers) { pool in
            for limit in [Duration.zero, .milliseconds(10)] {
                let error = await #expect(throws: DatabaseError.self) {
                    try await pool.read(within: limit) { try Int.fetchOne($0, Self.endless) }
                }
                #expect(error?.isTimeLimit == true)
            }
            // The limit also applies between short statements.
            let error = await #expect(throws: DatabaseError.self) {
                try await pool.read(within: .milliseconds(10)) { database in
                    while true { _ = try database.cachedStatement("SELECT 1").execute() }
                }
            }
            #expect(error?.isTimeLimit == true)
            let limited = try await pool.read(within: .seconds(60)) { try Int.fetchOne($0, "SELECT 2") }
            let unlimited = try await pool.read { try Int.fetchOne($0, "SELECT 3") }
            #expect((limited, unlimited) == (2, 3))
        }
    }

    @Test func searchThatTakesTooLongIsAnsweredAsBusy() async throws {
        let databases = try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent)
        let error = await #expect(throws: ResponseError.self) {
            try await databases.read(.gifs, within: .milliseconds(10)) { database in
                try Int.fetchOne(database, Self.endless)
            }
        }
        #expect(error == Databases.searchTimedOut)
        databases.close()
    }

    @Test func everySearchHasTheLimit() async throws {
        let databases = try Databases(cacheFolder: nil, stateFolder: nil, searchLimit: .zero, logger: .silent)
        defer { databases.close() }
        await #expect(throws: Databases.searchTimedOut) {
            try await Favorites(databases: databases)
                .list(nil, matching: SearchWords("kick"), uid: 1, cursor: nil, limit: 1)
        }
        await #expect(throws: Databases.searchTimedOut) {
            try await GifStore(databases: databases)
                .search(text: "kick", rating: "g", cursor: nil, limit: 1, notBefore: .start)
        }
        let posts = try PostQuery(sources: ["a"], search: SearchWords("kick"))
        await #expect(throws: Databases.searchTimedOut) {
            try await PostStore(databases: databases).list(posts, read: ReadPosts(), cursor: nil, limit: 1)
        }
    }

    @Test func nothingRunsAfterClose() async throws {
        let pool = try open(readers: 2)
        try pool.close()
        let tally = Tally()
        let body: @Sendable (Database) throws -> Void = { _ in tally.atOnce.withLock { $0.most += 1 } }
        let error = #expect(throws: DatabaseError.self) { try sync { try pool.read(body) } }
        #expect(error?.resultCode == SQLITE_MISUSE)
        #expect(throws: DatabaseError.self) { try sync { try pool.write(body) } }
        #expect(throws: DatabaseError.self) { try pool.withWriter(body) }
        await #expect(throws: DatabaseError.self) { try await pool.read(body) }
        await #expect(throws: DatabaseError.self) { try await pool.write(body) }
        #expect(tally.atOnce.withLock { $0.most } == 0)
    }

    @Test func closeWaitsForWhatRuns() async throws {
        let pool = try open(readers: 1)
        let release = DispatchSemaphore(value: 0)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        async let written: Void = pool.write { database in
            continuation.yield()
            release.wait()
            try database.execute("INSERT INTO t VALUES (1)")
        }
        for await _ in started { break }
        async let closed: Void = withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "close").async { continuation.resume(with: Result { try pool.close() }) }
        }
        release.signal()
        _ = try await (written, closed)
        #expect(try folder.names() == ["db"])
        let reopened = try open(readers: 0)
        #expect(try reopened.withWriter { try Int.fetchAll($0, "SELECT a FROM t") } == [1])
        try reopened.close()
    }

    private final class Tally: Sendable {
        let threads = Mutex<Set<pthread_t>>([])
        let atOnce = Mutex((now: 0, most: 0))
    }

    /// Blocked readers do not block the writer, and each connection uses at most one thread at a time.
    @Test func blockedReadersDoNotBlockTheWriter() async throws {
        try await withPool(readers: CacheDatabase.readers) { pool in
            let release = DispatchSemaphore(value: 0)
            let tally = Tally()
            try await withThrowingTaskGroup { group in
                let (started, continuation) = AsyncStream<Void>.makeStream()
                for _ in 0..<200 {
                    group.addTask {
                        try await pool.read { _ in
                            tally.threads.withLock { _ = $0.insert(pthread_self()) }
                            tally.atOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                            continuation.yield()
                            release.wait()
                            tally.atOnce.withLock { $0.now -= 1 }
                        }
                    }
                }
                var blocked = 0
                for await _ in started {
                    blocked += 1
                    if blocked == CacheDatabase.readers { break }
                }
                #expect(tally.threads.withLock { $0.count } == CacheDatabase.readers)
                for number in 0..<20 {
                    let thread = try await pool.write { database in
                        try database.execute("INSERT INTO t VALUES (?)", [number])
                        return pthread_self()
                    }
                    #expect(!tally.threads.withLock { $0.contains(thread) })
                }
                #expect(tally.atOnce.withLock { $0.now } == CacheDatabase.readers)
                for _ in 0..<200 { release.signal() }
                try await group.waitForAll()
            }
            #expect(tally.atOnce.withLock { $0.most } == CacheDatabase.readers)
            #expect(try await pool.read { try Int.fetchOne($0, "SELECT count(*) FROM t") } == 20)
        }
    }
}
