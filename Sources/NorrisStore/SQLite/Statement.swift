import CSQLite

/// A value of SQLite (https://sqlite.org/datatype3.html). The schema has no REAL.
enum DatabaseValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// What can be bound to a statement and read from a column.
protocol DatabaseValueConvertible: Sendable {
    var databaseValue: DatabaseValue { get }
    /// nil for a value of another type.
    static func from(_ value: DatabaseValue) -> Self?
    /// What stands for a value of another type until the transaction fails.
    init()
}

extension DatabaseValueConvertible where Self: FixedWidthInteger {
    var databaseValue: DatabaseValue { .integer(Int64(self)) }
    static func from(_ value: DatabaseValue) -> Self? { Int64.from(value).flatMap(Self.init(exactly:)) }
}

extension Int: DatabaseValueConvertible {}

extension Int64: DatabaseValueConvertible {
    static func from(_ value: DatabaseValue) -> Int64? { if case .integer(let integer) = value { integer } else { nil } }
}

extension Bool: DatabaseValueConvertible {
    var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }
    static func from(_ value: DatabaseValue) -> Bool? { Int64.from(value).map { $0 != 0 } }
}

extension String: DatabaseValueConvertible {
    var databaseValue: DatabaseValue { .text(self) }
    static func from(_ value: DatabaseValue) -> String? { if case .text(let text) = value { text } else { nil } }
}

extension [UInt8]: DatabaseValueConvertible {
    var databaseValue: DatabaseValue { .blob(self) }
    static func from(_ value: DatabaseValue) -> [UInt8]? { if case .blob(let bytes) = value { bytes } else { nil } }
}

extension DatabaseValueConvertible {
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
struct StatementArguments: ExpressibleByArrayLiteral, Sendable {
    fileprivate var values: [DatabaseValue]

    init(_ elements: some Sequence<some DatabaseValueConvertible>) { values = elements.map(\.databaseValue) }
    init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        values = elements.map { $0?.databaseValue ?? .null }
    }

    var isEmpty: Bool { values.isEmpty }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.values += right.values
        return sum
    }
    static func += (left: inout Self, right: Self) { left = left + right }
}

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
    /// Whether it changes nothing.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
    /// Whether its rows are being read.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Runs the statement to its end; rows are dropped.
    func execute(_ arguments: StatementArguments = []) throws {
        let rows = try Rows(self, arguments)
        while try rows.next() {}
    }

    /// Binds new values. Text and blobs are copied by SQLite.
    fileprivate func bind(_ arguments: StatementArguments) throws {
        try database.check(self)
        precondition(arguments.values.count == sqlite3_bind_parameter_count(handle), "One value for each question mark")
        for (number, value) in zip(Int32(1)..., arguments.values) {
            let code =
                switch value {
                case .null: sqlite3_bind_null(handle, number)
                case .integer(let integer): sqlite3_bind_int64(handle, number, integer)
                case .text(let text): text.withCString { norris_sqlite_bind_text(handle, number, $0, UInt64(text.utf8.count)) }
                // A nil address would bind NULL.
                case .blob([]): sqlite3_bind_zeroblob(handle, number, 0)
                case .blob(let bytes): norris_sqlite_bind_blob(handle, number, bytes, UInt64(bytes.count))
                }
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

/// Notes that a column has another type than it was read as: the statement is wrong, or, because tables are STRICT, the
/// file is damaged. The transaction fails at its end; nothing crashes.
final class ColumnMismatch {
    private var detail: String?

    fileprivate func note(_ column: Int, _ type: Any.Type) { detail = "column \(column) is no \(type)" }
    func forget() { detail = nil }
    func check() throws { if let detail { throw DatabaseError(SQLITE_MISMATCH, message: detail) } }
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

    /// A column that is never NULL.
    subscript<Value: DatabaseValueConvertible>(_ column: Int) -> Value {
        if let value = Value.from(value(column)) { return value }
        statement.database.mismatch.note(column, Value.self)
        return Value()
    }

    /// A column that may be NULL.
    subscript<Value: DatabaseValueConvertible>(_ column: Int) -> Value? {
        if case .null = value(column) { return nil }
        return self[column] as Value
    }

    func value(_ column: Int) -> DatabaseValue {
        let number = Int32(column)
        switch sqlite3_column_type(statement.handle, number) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement.handle, number))
        case SQLITE_TEXT: return .text(withBytes(column) { String(decoding: $0, as: UTF8.self) })
        case SQLITE_BLOB: return .blob(withBytes(column) { Array($0) })
        default: return .null
        }
    }

    /// Calls the body with a text or a blob in SQLite's own memory, which is valid in the body only. NULL is empty.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let (handle, number) = (statement.handle, Int32(column))
        switch sqlite3_column_type(handle, number) {
        case SQLITE_TEXT, SQLITE_BLOB:
            // Neither call converts the value. The address of an empty one is nil.
            let bytes = sqlite3_column_blob(handle, number)
            return try body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, number))))
        case SQLITE_NULL: break
        default: statement.database.mismatch.note(column, UnsafeRawBufferPointer.self)
        }
        return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
