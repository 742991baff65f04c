import CSQLite

/// The values for the question marks of a statement, in order.
typealias StatementArguments = [(any DatabaseValue)?]

/// `?,?,?`: the question marks for a list of values.
func databaseQuestionMarks(count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ",") }

/// A prepared statement (https://sqlite.org/c3ref/stmt.html), used only on the thread of its database.
final class Statement {
    fileprivate let handle: OpaquePointer
    /// Statements do not leave their transaction, so the database is closed after them.
    fileprivate unowned let database: Database

    /// - Parameter handle: finalized with this object.
    init(_ handle: OpaquePointer, _ database: Database) {
        self.handle = handle
        self.database = database
    }

    // The result is the code of the last step, which was reported before.
    deinit { sqlite3_finalize(handle) }
    var sql: String? { sqlite3_sql(handle).map { String(cString: $0) } }
    /// Whether the statement's rows are being read.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Runs the statement to its end, and ignores its rows.
    func execute(_ arguments: StatementArguments = []) throws {
        let rows = try Rows(self, arguments)
        while try rows.next() {}
    }

    /// Binds new values. Text and blobs are copied by SQLite.
    fileprivate func bind(_ arguments: StatementArguments) throws {
        try database.checkInterruption()
        precondition(arguments.count == sqlite3_bind_parameter_count(handle), "One value for each question mark")
        for (number, value) in zip(Int32(1)..., arguments) {
            let code = value?.bind(to: handle, number) ?? sqlite3_bind_null(handle, number)
            // SQLite's message would belong to an earlier call.
            if code == SQLITE_RANGE { throw DatabaseError(code, message: "value \(number) is out of range", sql: sql) }
            guard code == SQLITE_OK else { throw database.failure(code, sql: sql) }
        }
    }

    fileprivate func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw database.failure(code, sql: sql)
        }
    }

    fileprivate func reset() {
        // The result is the code of the last step, which was reported before.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

/// The rows of a result during the transaction. Columns belong to the current row, by position.
final class Rows {
    private let statement: Statement
    /// Whether the statement must be reset.
    private var isOpen = true

    init(_ statement: Statement, _ arguments: StatementArguments = []) throws {
        // First, so that this object does not reset a statement whose rows are being read.
        try statement.bind(arguments)
        self.statement = statement
    }

    // An open statement would prevent the end of the transaction.
    deinit { if isOpen { statement.reset() } }

    func next() throws -> Bool {
        try statement.database.checkDamage()
        guard isOpen else { return false }
        isOpen = false
        defer { if !isOpen { statement.reset() } }
        isOpen = try statement.step()
        return isOpen
    }

    /// A column that is never NULL. A value of another type or out of range fails the transaction as damage, at the
    /// next row or at the end.
    subscript<Value: ColumnValue>(_ column: Int) -> Value {
        if let value = Value.read(self, column) { return value }
        noteDamage("column \(column) contains no \(Value.self)")
        return Value.placeholder
    }

    /// A column that may be NULL.
    subscript<Value: ColumnValue>(_ column: Int) -> Value? { type(column) == SQLITE_NULL ? nil : self[column] as Value }

    /// Fails the transaction, because the row contains a value that was never stored.
    func noteDamage(_ problem: String) {
        statement.database.damage = problem + (statement.sql.map { " - in `\($0)`" } ?? "")
    }

    func type(_ column: Int) -> Int32 { sqlite3_column_type(statement.handle, Int32(column)) }

    fileprivate func integer(_ column: Int) -> Int64? {
        type(column) == SQLITE_INTEGER ? sqlite3_column_int64(statement.handle, Int32(column)) : nil
    }

    /// A text or a blob in SQLite's memory, which is valid until the next row. NULL is empty.
    func bytes(_ column: Int) -> UnsafeRawBufferPointer { withBytes(column) { $0 } }

    /// Calls the body with a text or a blob in SQLite's memory, which is valid only in the body. NULL is empty.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let type = type(column)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB else {
            if type != SQLITE_NULL { noteDamage("column \(column) is neither text nor blob") }
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        // Neither call converts the value. The address of an empty value is nil.
        let bytes = sqlite3_column_blob(statement.handle, Int32(column))
        return try body(
            UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement.handle, Int32(column)))))
    }
}

// In this file, so that no other file can read an integer without its range.
extension ColumnInteger {
    static func read(_ row: Rows, _ column: Int) -> Self? {
        row.integer(column).flatMap { columnRange.contains($0) ? Self(columnValue: $0) : nil }
    }
}
