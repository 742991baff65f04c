import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore
@testable import NorrisSystem

/// Files become shorter when much is removed, those of earlier versions after one VACUUM.
struct SpaceTests {
    private let fixture = StoreFixture()
    private static let kinds = ["state.db", "cache.db"]

    private static func kind(_ name: String) -> DatabaseKind { name == "state.db" ? .state : .facts }

    /// Opens a database in a folder of its own, and closes it after the body.
    private func with<Value>(
        _ name: String, willTakeLong: () -> Void = {}, _ body: (OpenedDatabase) throws -> Value
    ) throws -> Value {
        let opened = try OpenedDatabase.open(
            SpaceTests.kind(name), folder: fixture.folder.path, logger: .silent, BlockingAccess(),
            willTakeLong: willTakeLong
        )
        #expect(opened.condition == .good)
        let value = try body(opened)
        try opened.close()
        return value
    }

    private func number(_ sql: String, _ opened: OpenedDatabase) throws -> Int? {
        try opened.writer.read { try Int.fetchOne($0, sql) }
    }

    private func size(_ name: String) -> Int { Folder.size(ofDatabase: fixture.folder[name]) }

    /// Makes a file as earlier versions did: it cannot become shorter, and half of it is free.
    private func makeOlder(_ name: String, bytes: Int = 8 << 20) throws {
        let path = fixture.folder[name]
        try with(name) { opened throws in
            try opened.writer.withWriter { database in
                try database.execute(
                    """
                        PRAGMA auto_vacuum = NONE;
                        VACUUM;
                        CREATE TABLE content (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
                        """
                )
                for _ in 0..<bytes >> 16 {
                    let values = "(randomblob(32768)), (randomblob(32768))"
                    try database.execute("INSERT INTO content (bytes) VALUES \(values)")
                }
                try database.execute("DELETE FROM content WHERE number % 2")
            }
        }
        #expect(Folder.size(of: path) > bytes)
    }

    private func isWhole(_ opened: OpenedDatabase) throws -> Bool {
        let sums = "SELECT count(*) = sum(length(bytes)) / 32768 AND min(number) = 2 FROM content"
        return try opened.writer.read { database in
            try String.fetchOne(database, "PRAGMA integrity_check") == "ok"
                && Bool.fetchOne(database, sums) == true
        }
    }

    @Test(arguments: kinds)
    func newFileCanBecomeShorter(name: String) throws {
        for _ in 0..<2 {
            try with(name, willTakeLong: { Issue.record("Nothing takes long") }) { opened throws in
                #expect(try number("PRAGMA auto_vacuum", opened) == 2)
            }
        }
    }

    @Test(arguments: kinds)
    func olderFileIsVacuumedOnce(name: String) throws {
        try makeOlder(name)
        let before = size(name)
        var announced = 0
        for _ in 0..<2 {
            try with(name, willTakeLong: { announced += 1 }) { opened throws in
                #expect(try number("PRAGMA auto_vacuum", opened) == 2)
                #expect(try isWhole(opened))
                #expect(size(name) < before * 6 / 10)
            }
            #expect(announced == 1)
        }
    }

    @Test func vacuumThatFailsIsNoFault() async throws {
        try makeOlder("state.db")
        let (path, limit) = (fixture.folder.path, 2 << 20)
        await #expect(processExitsWith: .success) { [path = path as String, limit = limit as Int] in
            SpaceTests.limitFiles(to: limit)
            signal(SIGXFSZ, SIG_IGN)
            let recorder = LogRecorder()
            let opened = try OpenedDatabase.open(.state, folder: path, logger: recorder.logger, BlockingAccess())
            #expect(opened.condition == .good)
            #expect(recorder.lines == ["warning database.not-vacuumed"])
            try await opened.writer.write { try $0.execute("DELETE FROM shuffles") }
            // There is nothing to be done, and it ends.
            try opened.releaseFreePages(BlockingAccess())
            try opened.close()
        }
        try with("state.db") { opened throws in #expect(try isWhole(opened)) }
    }

    private static func limitFiles(to bytes: Int) {
        // A parent may have had it ignored, and the threads of libdispatch block it.
        signal(SIGXFSZ, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    @Test func removingManyFavoritesGivesSpaceBack() async throws {
        let databases = try fixture.databases()
        let favorites = Favorites(databases: databases)
        let text = String(repeating: "x", count: 60_000)
        try await databases.state.writer.write { database in
            for number in 0..<200 {
                try Favorites.store(Favorite(fact: .upstream("\(number)", text)), uid: 1, database)
            }
        }
        let full = databases.sizes.state
        #expect(full > 12 << 20)
        for number in 10..<15 { #expect(try await favorites.remove(.fact, id: "\(number)", uid: 1)) }
        try await databases.state.writer.write { database in
            try database.execute("DELETE FROM favorites WHERE CAST(id AS INTEGER) >= 15")
        }
        databases.releaseFreePages()
        let opened = databases.state
        let free = try #require(try number("PRAGMA freelist_count", opened))
        #expect(free <= OpenedDatabase.spareFreePages && free > OpenedDatabase.spareFreePages - 256)
        // What is left, what is spared, and a log of 1,000 pages.
        #expect(databases.sizes.state < 11 << 20)
        #expect(Folder.size(of: fixture.folder["state/state.db"]) < 6 << 20)
        #expect(try await favorites.list(uid: 1, cursor: nil, limit: 50).items.count == 10)
        let check = try await opened.writer.read { try String.fetchOne($0, "PRAGMA integrity_check") }
        #expect(check == "ok")
        #expect(databases.faults == [])
        databases.close()
    }
}
