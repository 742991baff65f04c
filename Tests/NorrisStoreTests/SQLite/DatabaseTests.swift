import CSQLite
import NorrisProtocol
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

    private func names() throws -> [String] { try database.map("SELECT name FROM users ORDER BY number") { try $0[0] } }

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

    // MARK: Values

    @Test func valuesComeBackAsTheyWere() throws {
        for number in [0, 1, -1, -(1 << 53), 1 << 53] as [Int64] { try expectSame(number) }
        for hash in [0, 1, .max] as [UInt64] { try expectSame(hash) }
        for count in [0, 1, Int(UInt32.max)] { try expectSame(count) }
        for seconds in [-62_167_305_600, 0, 253_402_387_200] as [Int64] { try expectSame(Timestamp(seconds: seconds)) }
        for flag in [false, true] { try expectSame(flag) }
        for title in ["", "a", "\0", "nul \0 inside", "naïve 𝄞 \u{FEFF}", String(repeating: "x", count: 70_000)] {
            try expectSame(title)
        }
        for bytes in [[], [0], [0, 255, 0], [UInt8](repeating: 7, count: 70_000)] as [[UInt8]] {
            try expectSame(bytes)
        }
        #expect(try database.first("SELECT ?", [nil as String?]) { try $0[0] as String? } == .some(nil))
    }

    private func expectSame<Value: ColumnValue & Equatable>(_ value: Value) throws {
        #expect(try database.value("SELECT ?", [value]) as Value? == value)
        // Not NULL, and of the bound type: '' and x'' differ.
        let type = value is String ? "text" : value is [UInt8] ? "blob" : "integer"
        #expect(try database.value("SELECT typeof(?)", [value]) as String? == type)
    }

    @Test func valueThatNorrisdDidNotStoreIsDamage() throws {
        for value in ["'text'", "NULL", "1.5", "x'00'", "-1", "1 << 32"] { expectDamage(value, Int.self) }
        for value in ["'1'", "NULL", "1.5", "x'00'"] {
            expectDamage(value, Int64.self)
            expectDamage(value, UInt64.self)
        }
        for value in ["9223372036854775807", "-9007199254740993"] { expectDamage(value, Int64.self) }
        for value in ["-1", "2", "'1'"] { expectDamage(value, Bool.self) }
        for value in ["-62167305601", "253402387201", "''"] { expectDamage(value, Timestamp.self) }
        for value in ["NULL", "1", "x'00'"] { expectDamage(value, String.self) }
        for value in ["NULL", "1", "''"] { expectDamage(value, [UInt8].self) }
    }

    private func expectDamage<Value: ColumnValue>(_ value: String, _ type: Value.Type) {
        let sql = "SELECT \(value)"
        let error = #expect(throws: DatabaseError.self) { try database.first(sql) { try $0[0] as Value } }
        #expect(error.map(DatabaseError.isDamage) == true)
        #expect(error?.message == "column 0 contains no \(type)" && error?.sql == sql)
    }

    @Test func bytesAreReadWithoutACopy() throws {
        let rows = try database.rows(
            "SELECT ?, ?, ?, ?, NULL, 7", ["nul \0 inside", "", [0, 255] as [UInt8], [] as [UInt8]])
        #expect(try rows.next())
        let expected: [[UInt8]] = [Array("nul \0 inside".utf8), [], [0, 255], [], []]
        for (column, bytes) in expected.enumerated() { #expect(try Array(rows.bytes(column)) == bytes) }
        #expect(try rows.bytes(0).baseAddress == rows.bytes(0).baseAddress)
        let error = #expect(throws: DatabaseError.self) { try rows.bytes(5).count }
        #expect(error.map(DatabaseError.isDamage) == true)
        #expect(try !rows.next())
        #expect(try !rows.next(), "the end stays the end")
    }

    // MARK: Statements

    @Test func otherStatementsRunWhileRowsAreRead() throws {
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"
        let rows = try database.rows(sql, [3])
        var seen: [Int] = []
        while try rows.next() {
            #expect(try database.map(sql, [2]) { try $0[0] as Int } == [1, 2])
            // More statements than are cached.
            for number in 0..<100 { #expect(try database.value("SELECT \(number)") as Int? == number) }
            seen.append(try rows[0])
        }
        #expect(seen == [1, 2, 3])
    }

    @Test func statementServesAgainAfterAnError() throws {
        let insert = "INSERT INTO users (name) VALUES (?)"
        try database.execute(insert, ["Chuck"])
        #expect(throws: DatabaseError.self) { try database.execute(insert, ["Chuck"]) }
        try database.execute(insert, ["Norris"])
        #expect(try names() == ["Chuck", "Norris"])
        #expect(database.changesCount == 1)
        #expect(database.lastInsertedNumber == 2)
    }

    @Test func errorsHaveCodeAndStatementButNoValues() throws {
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
        #expect(!DatabaseError.isDamage(error) && !error.isTimeLimit)
        // The error names the statement that failed.
        let second = #expect(throws: DatabaseError.self) { try database.execute("SELECT 1; DELETE FROM missing") }
        #expect(second?.message == "no such table: missing")
    }

    // MARK: Transactions

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
        // SQLite itself rolls this transaction back.
        #expect(throws: DatabaseError.self) {
            try database.write { database in
                try database.execute("INSERT INTO users (name) VALUES ('gone')")
                try database.execute("INSERT OR ROLLBACK INTO users (name) VALUES ('gone')")
            }
        }
        #expect(committed == 0)
        try database.write { database in
            try database.execute("INSERT INTO users (name) VALUES ('kept')")
            database.afterCommit { committed += 1 }
            #expect(committed == 0)
        }
        #expect(committed == 1)
        #expect(try names() == ["kept"])
    }

    // MARK: Damage

    @Test func damageIsRecognized() throws {
        let folder = TemporaryFolder()
        try folder.write("text", String(repeating: "no database at all ", count: 99))
        let notADatabase = #expect(throws: DatabaseError.self) { try Database(path: folder("text"), .read).readAll() }
        #expect(notADatabase.map(DatabaseError.isDamage) == true)

        let written = try Database(path: folder("db"), .write)
        try written.execute("PRAGMA page_size = 1024; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(9999))")
        written.close()
        var bytes = try folder.bytes("db")
        bytes.replaceSubrange(1024..<1040, with: repeatElement(0x5A, count: 16))
        try folder.write("db", bytes)
        let damaged = #expect(throws: DatabaseError.self) { try Database(path: folder("db"), .read).readAll() }
        #expect(damaged.map(DatabaseError.isDamage) == true)

        #expect(DatabaseError.isDamage(DatabaseError(SQLITE_ERROR, message: "unsupported file format")))
        #expect(!DatabaseError.isDamage(DatabaseError(SQLITE_ERROR)))
        #expect(!DatabaseError.isDamage(DatabaseError(SQLITE_FULL)))
    }
}

extension Database {
    fileprivate func readAll() throws -> [Int] { try map("SELECT length(a) FROM t") { try $0[0] } }
}
