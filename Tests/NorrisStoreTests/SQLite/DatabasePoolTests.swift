import Dispatch
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

@Suite(.timeLimit(.minutes(2))) struct DatabasePoolTests {
    private let folder = TemporaryFolder()

    private static let count = "SELECT count(*) FROM t"
    private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    private func withPool(readers: Int, _ body: (DatabasePool) async throws -> Void) async throws {
        let path = folder("db")
        let writer = try Database(path: path, .write)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER NOT NULL) STRICT")
        let pool = DatabasePool(writer, readers: readers) { try Database(path: path, .read) }
        try await body(pool)
        await pool.close()
    }

    private func rows(_ pool: DatabasePool) async throws -> Int? { try await pool.read { try $0.value(Self.count) } }

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

    @Test(arguments: [0, 1]) func timeLimitEndsAStatementAndTheNextRuns(readers: Int) async throws {
        try await withPool(readers: readers) { pool async throws in
            let error = await #expect(throws: DatabaseError.self) {
                try await pool.read(within: .milliseconds(10)) { try $0.value(Self.endless) as Int? }
            }
            #expect(error?.isTimeLimit == true)
            // The limit also applies between short statements.
            let later = await #expect(throws: DatabaseError.self) {
                try await pool.read(within: .milliseconds(10)) { database in
                    while true { _ = try database.value("SELECT 1") as Int? }
                }
            }
            #expect(later?.isTimeLimit == true)
            #expect(try await pool.read(within: .seconds(3_600)) { try $0.value("SELECT 2") as Int? } == 2)
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
            try await posts.list(query, read: ReadPosts())
        }
        await databases.close()
    }

    @Test func blockedReadersDoNotBlockTheWriter() async throws {
        let readers = 6
        try await withPool(readers: readers) { pool in
            let release = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup { group in
                let (started, continuation) = AsyncStream<Void>.makeStream()
                for _ in 0..<50 {
                    group.addTask {
                        try await pool.read { _ in
                            continuation.yield()
                            release.wait()
                        }
                    }
                }
                var blocked = 0
                for await _ in started {
                    blocked += 1
                    if blocked == readers { break }
                }
                for number in 0..<20 { try await pool.write { try $0.execute("INSERT INTO t VALUES (?)", [number]) } }
                for _ in 0..<50 { release.signal() }
                try await group.waitForAll()
            }
            #expect(try await rows(pool) == 20)
        }
    }
}
