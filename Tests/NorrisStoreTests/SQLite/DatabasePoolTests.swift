import CSQLite
import Dispatch
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore

@Suite(.timeLimit(.minutes(2))) struct DatabasePoolTests {
    private let folder = TemporaryFolder()

    private static let count = "SELECT count(*) FROM t"
    private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    private func open(readers: Int) throws -> DatabasePool {
        let path = folder("db")
        return DatabasePool(try writer(), readers: readers) { try Database(path: path, .read) }
    }

    private func writer() throws -> sending Database {
        let database = try Database(path: folder("db"), .write)
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t (a INTEGER NOT NULL) STRICT")
        return database
    }

    private func withPool(readers: Int, _ body: (DatabasePool) async throws -> Void) async throws {
        let pool = try open(readers: readers)
        try await body(pool)
        await pool.close()
    }

    private func rows(_ pool: DatabasePool) async throws -> Int? { try await pool.read { try $0.value(Self.count) } }

    @Test func everyConnectionHasItsSettings() async throws {
        let settings: @Sendable (Database) throws -> [Int?] = { database in
            try ["foreign_keys", "busy_timeout"].map { try database.value("PRAGMA \($0)") }
        }
        try await withPool(readers: 1) { pool async throws in
            #expect(try await pool.read(settings) == [1, 5_000])
            #expect(try await pool.write(settings) == [1, 5_000])
        }
    }

    @Test(arguments: ["INSERT INTO t VALUES (1)", "DROP TABLE t", "PRAGMA user_version = 9"])
    func readMayNotWrite(sql: String) async throws {
        try await withPool(readers: 1) { pool in
            let error = await #expect(throws: DatabaseError.self) { try await pool.read { try $0.execute(sql) } }
            #expect(error?.resultCode == SQLITE_READONLY)
        }
    }

    @Test func readSeesOneState() async throws {
        try await withPool(readers: 1) { pool in
            let isWritten = DispatchSemaphore(value: 0)
            let (started, continuation) = AsyncStream<Void>.makeStream()
            async let counts = pool.read { database in
                let before: Int? = try database.value(Self.count)
                continuation.yield()
                isWritten.wait()
                return [before, try database.value(Self.count)]
            }
            for await _ in started { break }
            try await pool.write { try $0.execute("INSERT INTO t VALUES (1)") }
            isWritten.signal()
            #expect(try await counts == [0, 0])
            #expect(try await rows(pool) == 1)
        }
    }

    @Test func writerReadsIfNoReaderCanBeOpened() async throws {
        let pool = DatabasePool(try writer(), readers: 1) { throw DatabaseError(SQLITE_CANTOPEN) }
        #expect(try await rows(pool) == 0)
        await pool.close()
    }

    // MARK: Cancellation and limits

    @Test(arguments: [0, 1], [false, true])
    func cancellationEndsAStatementAndTheNextRuns(readers: Int, isWrite: Bool) async throws {
        try await withPool(readers: readers) { pool in
            let (started, continuation) = AsyncStream<Void>.makeStream()
            let task = Task {
                let body: @Sendable (Database) throws -> Int? = { database in
                    if isWrite { try database.execute("INSERT INTO t VALUES (1)") }
                    continuation.yield()
                    return try database.value(Self.endless)
                }
                return isWrite ? try await pool.write(body) : try await pool.read(body)
            }
            for await _ in started { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await rows(pool) == 0)
            try await pool.write { try $0.execute("INSERT INTO t VALUES (2)") }
            #expect(try await rows(pool) == 1)
        }
    }

    @Test(arguments: [false, true]) func cancelledTaskWritesOnlyWhatIsNotCancellable(isCancellable: Bool) async throws {
        try await withPool(readers: 1) { pool in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await pool.write(isCancellable: isCancellable) { try $0.execute("INSERT INTO t VALUES (3)") }
            }
            task.cancel()
            if isCancellable {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                try await task.value
            }
            #expect(try await rows(pool) == (isCancellable ? 0 : 1))
        }
    }

    @Test(arguments: [0, 1]) func timeLimitEndsAStatementAndTheNextRuns(readers: Int) async throws {
        try await withPool(readers: readers) { pool async throws in
            for limit in [Duration.zero, .milliseconds(10)] {
                let error = await #expect(throws: DatabaseError.self) {
                    try await pool.read(within: limit) { try $0.value(Self.endless) as Int? }
                }
                #expect(error?.isTimeLimit == true)
            }
            // The limit also applies between short statements.
            let error = await #expect(throws: DatabaseError.self) {
                try await pool.read(within: .milliseconds(10)) { database in
                    while true { _ = try database.value("SELECT 1") as Int? }
                }
            }
            #expect(error?.isTimeLimit == true)
            #expect(try await pool.read(within: .seconds(3_600)) { try $0.value("SELECT 2") as Int? } == 2)
            #expect(try await pool.read { try $0.value("SELECT 3") as Int? } == 3)
        }
    }

    @Test func everySearchHasTheLimit() async throws {
        let databases = try await StoreFixture().databases(searchLimit: .zero)
        let favorites = Favorites(databases: databases)
        await #expect(throws: Databases.searchTimedOut) {
            try await favorites.list(matching: SearchWords("kick"), uid: 1, cursor: nil, limit: 1)
        }
        let gifs = await GifStore(databases: databases)
        await #expect(throws: Databases.searchTimedOut) {
            try await gifs.search(text: "kick", rating: "g", cursor: nil, limit: 1, notBefore: .start)
        }
        let posts = await PostStore(databases: databases)
        let query = try PostQuery(sources: ["a"], search: SearchWords("kick"))
        await #expect(throws: Databases.searchTimedOut) {
            try await posts.list(query, read: ReadPosts(), cursor: nil, limit: 1)
        }
        await databases.close()
    }

    // MARK: Closing

    @Test(arguments: [0, 2]) func nothingRunsAfterClose(readers: Int) async throws {
        let pool = try open(readers: readers)
        await pool.close()
        let body: @Sendable (Database) throws -> Void = { _ in Issue.record("The body runs.") }
        let error = await #expect(throws: DatabaseError.self) { try await pool.read(body) }
        #expect(error?.resultCode == SQLITE_MISUSE)
        await #expect(throws: DatabaseError.self) { try await pool.write(body) }
    }

    @Test func closeWaitsForRunningWork() async throws {
        let pool = try open(readers: 1)
        let release = DispatchSemaphore(value: 0)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        async let written: Void = pool.write { database in
            continuation.yield()
            release.wait()
            try database.execute("INSERT INTO t VALUES (1)")
        }
        for await _ in started { break }
        async let closed: Void = pool.close()
        release.signal()
        _ = try await (written, closed)
        // The log was written back.
        #expect(try folder.names() == ["db"])
        try await withPool(readers: 0) { pool async throws in #expect(try await rows(pool) == 1) }
    }

    @Test(arguments: [0, 1]) func replacementEndsAllWorkWithDamage(readers: Int) async throws {
        let pool = try open(readers: readers)
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let running = Task {
            try await pool.read { database in
                continuation.yield()
                return try database.value(Self.endless) as Int?
            }
        }
        for await _ in started { break }
        await pool.close(isReplaced: true)
        let error = await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(error.map(DatabaseError.isDamage) == true)
        let later = await #expect(throws: DatabaseError.self) { try await rows(pool) }
        #expect(later.map(DatabaseError.isDamage) == true)
    }

    private final class Tally: Sendable {
        let reads = Mutex((now: 0, most: 0))
    }

    @Test func blockedReadersDoNotBlockTheWriter() async throws {
        let readers = 6
        try await withPool(readers: readers) { pool in
            let release = DispatchSemaphore(value: 0)
            let tally = Tally()
            try await withThrowingTaskGroup { group in
                let (started, continuation) = AsyncStream<Void>.makeStream()
                for _ in 0..<50 {
                    group.addTask {
                        try await pool.read { _ in
                            tally.reads.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                            continuation.yield()
                            release.wait()
                            tally.reads.withLock { $0.now -= 1 }
                        }
                    }
                }
                var blocked = 0
                for await _ in started {
                    blocked += 1
                    if blocked == readers { break }
                }
                for number in 0..<20 { try await pool.write { try $0.execute("INSERT INTO t VALUES (?)", [number]) } }
                #expect(tally.reads.withLock { $0.now } == readers)
                for _ in 0..<50 { release.signal() }
                try await group.waitForAll()
            }
            #expect(tally.reads.withLock { $0.most } == readers)
            #expect(try await rows(pool) == 20)
        }
    }
}
