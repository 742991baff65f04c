import CSQLite
import NorrisTestSupport
import Testing

@testable import NorrisStore

@Suite struct DatabaseTests {
    private let database: Database

    init() throws {
        database = try Database(path: ":memory:", .write)
        try database.execute(
            """
            CREATE TABLE users (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE things (
                owner INTEGER REFERENCES users (number), count INTEGER, title TEXT, bytes BLOB
            ) STRICT;
            """)
    }

    @Test func foreignKeysAreOn() throws {
        let error = #expect(throws: DatabaseError.self) {
            try database.execute("INSERT INTO things (owner) VALUES (9)")
        }
        #expect(error?.extendedResultCode == 787)  // SQLITE_CONSTRAINT_FOREIGNKEY
    }

    @Test(arguments: ["SELECT \"no column\" FROM users", "CREATE INDEX quoted ON users (\"no column\")"])
    func doubleQuotedStringsAreRefused(_ sql: String) {
        let error = #expect(throws: DatabaseError.self) { try database.execute(sql) }
        #expect(error?.resultCode == SQLITE_ERROR)
        #expect(error?.message == "no such column: no column" || error?.message.contains("no column named") == true)
    }

    @Test func valuesComeBackAsTheyWere() throws {
        for count in [0, 1, -1, Int64.min, Int64.max] { try expectSame(OpaqueInteger(columnValue: count)) }
        for title in ["", "a", "\0", "nul \0 inside", "naïve 𝄞 \u{FEFF}", String(repeating: "x", count: 70_000)] {
            try expectSame(title)
        }
        for bytes in [[], [0], [0, 255, 0], [UInt8](repeating: 7, count: 70_000)] as [[UInt8]] {
            try expectSame(bytes)
        }
        for flag in [false, true] { try expectSame(flag) }
        #expect(try database.first("SELECT ?", [nil as String?]) { $0[0] as String? } == .some(nil))
    }

    private func expectSame<Value: ColumnValue & Equatable>(_ value: Value) throws {
        #expect(try Value.fetchOne(database, "SELECT ?", [value]) == value)
        // Not NULL, and of the bound type: '' and x'' differ.
        let type = value is String ? "text" : value is [UInt8] ? "blob" : "integer"
        #expect(try String.fetchOne(database, "SELECT typeof(?)", [value]) == type)
    }

    @Test func bytesAreReadWithoutACopy() throws {
        let rows = try Rows(
            database.statement("SELECT ?, ?, ?, ?, NULL"), ["nul \0 inside", "", [0, 255] as [UInt8], [] as [UInt8]])
        #expect(try rows.next())
        let expected: [[UInt8]] = [Array("nul \0 inside".utf8), [], [0, 255], [], []]
        for (column, bytes) in expected.enumerated() { #expect(rows.withBytes(column) { Array($0) } == bytes) }
        #expect(rows.withBytes(0) { $0.baseAddress } == rows.withBytes(0) { $0.baseAddress })
        #expect(try !rows.next())
        #expect(try !rows.next(), "the end stays the end")
    }

    @Test func keptStatementIsPreparedOnce() throws {
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"
        let statement = try database.cachedStatement(sql)
        #expect(try Int.fetchAll(database, sql, [3]) == [1, 2, 3])
        #expect(try database.cachedStatement(sql) === statement)
        #expect(try Int.fetchAll(database, sql, [2]) == [1, 2])

        // While the rows of a cached statement are read, another statement runs the same SQL.
        let rows = try Rows(statement, [3])
        var seen: [Int] = []
        while try rows.next() {
            #expect(try Int.fetchAll(database, sql, [2]) == [1, 2])
            seen.append(rows[0])
        }
        #expect(seen == [1, 2, 3])
        #expect(try database.cachedStatement(sql) === statement)
    }

    @Test func statementServesAgainAfterAnError() throws {
        let insert = try database.cachedStatement("INSERT INTO users (name) VALUES (?)")
        try insert.execute(["Chuck"])
        #expect(throws: DatabaseError.self) { try insert.execute(["Chuck"]) }
        try insert.execute(["Norris"])
        #expect(try String.fetchAll(database, "SELECT name FROM users ORDER BY number") == ["Chuck", "Norris"])
        #expect(database.changesCount == 1)
        #expect(database.lastInsertedNumber == SequenceNumber(columnValue: 2))
    }

    @Test func errorsCarryCodeAndStatementButNoValues() throws {
        let sql = "INSERT INTO users (name) VALUES (?)"
        try database.execute(sql, ["a secret"])
        let error = try #require(throws: DatabaseError.self, performing: { try database.execute(sql, ["a secret"]) })
        #expect(error.resultCode == SQLITE_CONSTRAINT)
        #expect(error.extendedResultCode == 2067)  // SQLITE_CONSTRAINT_UNIQUE
        #expect(error.sql == sql)
        #expect(
            error.description == """
                SQLite error 2067: UNIQUE constraint failed: users.name - while executing `\(sql)`
                """)
        // The error names the statement that failed.
        let second = #expect(throws: DatabaseError.self) { try database.execute("SELECT 1; DELETE FROM missing") }
        #expect(second?.message == "no such table: missing")
        #expect(!DatabaseError.isCorruption(error) && !error.isTimeLimit)
    }

    @Test func thrownErrorRollsBack() throws {
        struct Refused: Error {}
        var committed = 0
        #expect(throws: Refused.self) {
            try database.write { database in
                try database.execute("INSERT INTO users (name) VALUES ('gone')")
                database.afterCommit { committed += 1 }
                throw Refused()
            }
        }
        #expect(committed == 0)
        // SQLite itself rolls this transaction back.
        #expect(throws: DatabaseError.self) {
            try database.write { database in
                try database.execute("INSERT INTO users (name) VALUES ('gone')")
                try database.execute("INSERT OR ROLLBACK INTO users (name) VALUES ('gone')")
            }
        }
        try database.write { database in
            try database.execute("INSERT INTO users (name) VALUES ('kept')")
            database.afterCommit { committed += 1 }
            #expect(committed == 0)
        }
        #expect(committed == 1)
        #expect(try String.fetchAll(database, "SELECT name FROM users") == ["kept"])
    }

    @Test func columnOfAnotherTypeFailsTheTransaction() throws {
        try database.execute("INSERT INTO users (name) VALUES ('Chuck')")
        for sql in ["SELECT 'text'", "SELECT NULL", "SELECT 1.5", "SELECT x'00'", "SELECT -1", "SELECT 1 << 32"] {
            let error = #expect(throws: DatabaseError.self) {
                try database.write { database in
                    let count: Int = try Int.fetchOne(database, sql) ?? -1
                    try database.execute("UPDATE users SET name = ?", ["\(count)"])
                }
            }
            #expect(error.map(DatabaseError.isCorruption) == true)
            #expect(error?.message == "column 0 contains no Int - in `\(sql)`")
        }
        #expect(throws: DatabaseError.self) {
            try database.read { database in
                let rows = try Rows(database.statement("SELECT 7"))
                _ = try rows.next()
                return rows.withBytes(0) { $0.count }
            }
        }
        #expect(try database.read { try String.fetchAll($0, "SELECT name FROM users") } == ["Chuck"])
    }

    @Test func damageIsTold() throws {
        let folder = TemporaryFolder()
        try folder.write("text", String(repeating: "no database at all ", count: 99))
        let notADatabase = #expect(throws: DatabaseError.self) { try Database(path: folder("text"), .read).readAll() }
        #expect(notADatabase.map { DatabaseError.isCorruption($0) } == true)

        let written = try Database(path: folder("db"), .write)
        try written.execute("PRAGMA page_size = 1024; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(9999))")
        try written.close()
        var bytes = try folder.bytes("db")
        bytes.replaceSubrange(1024..<1040, with: repeatElement(0x5A, count: 16))
        try folder.write("db", bytes)
        let damaged = #expect(throws: DatabaseError.self) { try Database(path: folder("db"), .read).readAll() }
        #expect(damaged?.resultCode == SQLITE_CORRUPT)
        #expect(!DatabaseError.isCorruption(DatabaseError(SQLITE_FULL)))
    }
}

extension Database { fileprivate func readAll() throws -> [Int] { try Int.fetchAll(self, "SELECT length(a) FROM t") } }
