import CSQLite
import NorrisProtocol
import Testing

@testable import NorrisStore

struct DatabaseTests {
    private let database: Database

    init() throws { database = try Database(path: ":memory:", .write) }

    @Test func valueThatNorrisdDidNotStoreIsDamage() throws {
        for value in ["'text'", "NULL", "1.5", "x'00'", "-1", "1 << 32"] { expectDamage(value, Int.self) }
        for value in ["'1'", "NULL", "1.5", "-9007199254740993"] { expectDamage(value, Int64.self) }
        for value in ["'1'", "NULL", "1.5"] { expectDamage(value, UInt64.self) }
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

    @Test func errorsHaveCodeAndStatementButNoValues() throws {
        try database.execute("CREATE TABLE users (name TEXT UNIQUE) STRICT")
        let sql = "INSERT INTO users (name) VALUES (?)"
        try database.execute(sql, ["a secret"])
        let error = try #require(throws: DatabaseError.self, performing: { try database.execute(sql, ["a secret"]) })
        #expect(
            error.description == """
                SQLite error 2067: UNIQUE constraint failed: users.name - while executing `\(sql)`
                """)
        #expect(!DatabaseError.isDamage(error) && !error.isTimeLimit)
        #expect(DatabaseError.isDamage(DatabaseError(SQLITE_ERROR, message: "unsupported file format")))
    }

    /// proc(5) reports no free space.
    @Test func aFullDiskIsNamed() {
        let error = DatabaseError(10, message: "disk I/O error", sql: "SELECT 1")
        #expect(error.summary(path: "/none/state.db") == "disk I/O error (SQLite error 10)")
        #expect(error.summary(path: "/proc/version") == "disk I/O error (SQLite error 10): the disk is full")
    }
}
