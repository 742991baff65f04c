import CSQLite
import NorrisProtocol

/// What can be bound to a statement and read from a column. The schema has no REAL
/// (https://sqlite.org/datatype3.html).
protocol DatabaseValue: Sendable {
    /// - Returns: SQLite's result code.
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32
    /// nil for a value of another type.
    static func read(_ row: Rows, _ column: Int) -> Self?
    /// What stands for a value of another type until the transaction fails.
    init()
}

extension Int64: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { sqlite3_bind_int64(statement, number, self) }
    static func read(_ row: Rows, _ column: Int) -> Int64? { row.type(column) == SQLITE_INTEGER ? row.integer(column) : nil }
}

extension Int: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { Int64(self).bind(to: statement, number) }
    static func read(_ row: Rows, _ column: Int) -> Int? { Int64.read(row, column).map { Int($0) } }
}

extension Bool: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { (self ? 1 : 0).bind(to: statement, number) }
    static func read(_ row: Rows, _ column: Int) -> Bool? { Int64.read(row, column).map { $0 != 0 } }
}

extension Timestamp: DatabaseValue {
    init() { self.init(seconds: 0) }
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { seconds.bind(to: statement, number) }
    static func read(_ row: Rows, _ column: Int) -> Timestamp? { Int64.read(row, column).map(Timestamp.init(seconds:)) }
}

extension String: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        withCString { norris_sqlite_bind_text(statement, number, $0, UInt64(utf8.count)) }
    }
    static func read(_ row: Rows, _ column: Int) -> String? {
        row.type(column) == SQLITE_TEXT ? row.withBytes(column) { String(decoding: $0, as: UTF8.self) } : nil
    }
}

extension [UInt8]: DatabaseValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        // A nil address would bind NULL.
        if isEmpty { return sqlite3_bind_zeroblob(statement, number, 0) }
        return norris_sqlite_bind_blob(statement, number, self, UInt64(count))
    }
    static func read(_ row: Rows, _ column: Int) -> [UInt8]? {
        row.type(column) == SQLITE_BLOB ? row.withBytes(column) { Array($0) } : nil
    }
}

extension DatabaseValue {
    /// The first column of all rows.
    static func fetchAll(_ database: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> [Self] {
        try database.map(sql, arguments) { $0[0] }
    }

    /// The first column of the first row; nil where there is none.
    static func fetchOne(_ database: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> Self? {
        try database.first(sql, arguments) { $0[0] }
    }
}

/// The values for the question marks of a statement, in order.
typealias StatementArguments = [(any DatabaseValue)?]

/// `?,?,?`: for a list of so many values.
func databaseQuestionMarks(count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ",") }

/// A prepared statement (https://sqlite.org/c3ref/stmt.html), used where its database may be used.
final class Statement {
    fileprivate let handle: OpaquePointer
    /// The database closes no sooner than its statements end: they do not leave its transaction.
    fileprivate unowned let database: Database

    /// - Parameter handle: is finalized with this object.
    init(_ handle: OpaquePointer, _ database: Database) {
        self.handle = handle
        self.database = database
    }

    // The code is that of the last step, which has been reported.
    deinit { sqlite3_finalize(handle) }
    var sql: String? { sqlite3_sql(handle).map { String(cString: $0) } }
    /// Whether its rows are being read.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Runs the statement to its end; rows are dropped.
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
        // The code is that of the last step, which has been reported.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

/// The rows of a result, one by one, while the transaction lasts. Columns are those of the current row, by position.
final class Rows {
    private let statement: Statement
    /// Whether the statement has to be reset.
    private var isOpen = true

    init(_ statement: Statement, _ arguments: StatementArguments = []) throws {
        // First, so that a statement that is being read is not reset with this object.
        try statement.bind(arguments)
        self.statement = statement
    }

    // An open statement would keep the transaction from ending.
    deinit { if isOpen { statement.reset() } }

    func next() throws -> Bool {
        guard isOpen else { return false }
        isOpen = false
        defer { if !isOpen { statement.reset() } }
        isOpen = try statement.step()
        return isOpen
    }

    /// A column that is never NULL. One of another type fails the transaction at its end: the statement is wrong, or,
    /// because tables are STRICT, the file is damaged.
    subscript<Value: DatabaseValue>(_ column: Int) -> Value {
        if let value = Value.read(self, column) { return value }
        statement.database.mismatch = "column \(column) is no \(Value.self)"
        return Value()
    }

    /// A column that may be NULL.
    subscript<Value: DatabaseValue>(_ column: Int) -> Value? {
        type(column) == SQLITE_NULL ? nil : self[column] as Value
    }

    fileprivate func type(_ column: Int) -> Int32 { sqlite3_column_type(statement.handle, Int32(column)) }
    fileprivate func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement.handle, Int32(column)) }

    /// Calls the body with a text or a blob in SQLite's own memory, which is valid in the body only. NULL is empty.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let type = type(column)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB else {
            if type != SQLITE_NULL { statement.database.mismatch = "column \(column) is neither text nor blob" }
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        // Neither call converts the value. The address of an empty one is nil.
        let bytes = sqlite3_column_blob(statement.handle, Int32(column))
        return try body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement.handle, Int32(column)))))
    }
}
