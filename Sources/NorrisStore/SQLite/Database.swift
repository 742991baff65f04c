import CSQLite
import NorrisProtocol
import NorrisThreads

/// An error of SQLite (https://sqlite.org/rescode.html). It names the statement, but never its values.
struct DatabaseError: Error, Equatable, CustomStringConvertible {
    let extendedResultCode: Int32
    let message: String
    let sql: String?
    /// The bytes that the transaction had written.
    var bytesWritten = 0

    init(_ extendedResultCode: Int32, message: String? = nil, sql: String? = nil) {
        self.extendedResultCode = extendedResultCode
        self.message = message ?? String(cString: sqlite3_errstr(extendedResultCode))
        self.sql = sql
    }

    /// One of the primary codes, such as `SQLITE_FULL`.
    var resultCode: Int32 { extendedResultCode & 0xFF }

    /// The error for a value that norrisd did not store in this form, because the file is damaged.
    static func damaged(_ problem: String) -> DatabaseError { DatabaseError(SQLITE_CORRUPT, message: problem) }

    /// Whether the file must be replaced: it is damaged, no database, or has an unknown schema format
    /// (https://sqlite.org/fileformat2.html).
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [SQLITE_CORRUPT, SQLITE_NOTADB].contains(error.resultCode)
            || error.resultCode == SQLITE_ERROR && error.message == "unsupported file format"
    }

    /// Whether a read took longer than its limit.
    var isTimeLimit: Bool { resultCode == SQLITE_INTERRUPT }

    var description: String {
        "SQLite error \(extendedResultCode): \(message)" + (sql.map { " - while executing `\($0)`" } ?? "")
    }
}

/// One connection to a database. Only one thread uses it at a time, which ``DatabasePool`` ensures.
final class Database {
    enum Access { case write, read }

    /// The maximum number of cached statements. Only lists of values with many lengths need more.
    private static let maximumStatements = 64

    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var afterCommit: [() -> Void] = []
    private var isClosed = false
    private var cancellations: [Cancellation] = []
    private var deadline: ContinuousClock.Instant?

    /// - Parameter path: a file, a URI that begins with `file:` (https://sqlite.org/uri.html), or `:memory:`.
    init(path: String, _ access: Access) throws {
        var handle: OpaquePointer?
        let flags = access == .read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // The pool allows one thread at a time, so SQLite's own lock is not needed.
        let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nil)
        guard code == SQLITE_OK, let handle else {
            let error = handle.map { DatabaseError(code, message: String(cString: sqlite3_errmsg($0))) }
            sqlite3_close(handle)
            throw error ?? DatabaseError(code)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5_000)  // Milliseconds.
        // A misspelt column is an error, not a text.
        norris_sqlite_forbid_double_quoted_strings(handle)
        // SQLite calls the handler after every 1,000 instructions of its virtual machine, about 20 µs. The pointer is
        // valid, because the handler runs only in calls by this object.
        let this = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, 1000,
            { this in
                guard let this else { return 0 }
                return Unmanaged<Database>.fromOpaque(this).takeUnretainedValue().interruption == nil ? 0 : 1
            }, this)
        // In KiB. The data is small, and the operating system caches the file too.
        try execute("PRAGMA foreign_keys = ON; PRAGMA cache_size = -512")
    }

    deinit { close() }

    /// Closes the connection, which must not be used afterwards. The last connection of a file writes back and removes
    /// the write-ahead log.
    func close() {
        statements = [:]
        // The connection ends even if a statement still exists.
        if !isClosed { sqlite3_close_v2(handle) }
        isClosed = true
    }

    /// The number of rows that the last statement changed.
    var changesCount: Int { Int(sqlite3_changes(handle)) }
    /// The number of rows that changed since the connection was opened.
    var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }
    /// The bytes of the pages that the current or last transaction has written.
    var bytesWritten: Int { writtenPages(resets: false) * 4_096 }

    private func writtenPages(resets: Bool) -> Int {
        var (pages, highest): (CInt, CInt) = (0, 0)
        // The call fails only for an unknown counter.
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, resets ? 1 : 0)
        return Int(pages)
    }

    var lastInsertedNumber: Int64 { sqlite3_last_insert_rowid(handle) }

    /// A cached statement; a new one while the rows of the first are being read.
    private func cachedStatement(_ sql: String) throws -> Statement {
        if let statement = statements[sql], !statement.isBusy { return statement }
        guard let (statement, _) = try prepare(sql, from: 0) else {
            throw DatabaseError(SQLITE_MISUSE, message: "no statement", sql: sql)
        }
        if statements.count >= Database.maximumStatements { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs one cached statement with values.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        let rows = try rows(sql, arguments)
        while try rows.next() {}
    }

    /// Runs all statements of a text.
    func execute(_ sql: String) throws {
        var position = 0
        while let (statement, end) = try prepare(sql, from: position) {
            let rows = try Rows(statement, [])
            while try rows.next() {}
            position = end
        }
    }

    /// Reads the rows of a result during the transaction.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> Rows {
        try Rows(cachedStatement(sql), arguments)
    }

    /// The first row of a result as a value; nil if there is no row.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ body: (Rows) throws -> Value
    ) throws -> Value? {
        let rows = try rows(sql, arguments)
        return try rows.next() ? body(rows) : nil
    }

    /// The first column of the first row; nil if there is no row, or the column is NULL.
    func value<Value: ColumnValue>(_ sql: String, _ arguments: StatementArguments = []) throws -> Value? {
        try first(sql, arguments) { try $0[0] as Value? } ?? nil
    }

    /// The rows of a result as values.
    func map<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ body: (Rows) throws -> Value
    ) throws -> [Value] {
        let rows = try rows(sql, arguments)
        var all: [Value] = []
        while try rows.next() { all.append(try body(rows)) }
        return all
    }

    /// Prepares the first statement after a position in bytes; nil if only space and comments remain.
    private func prepare(_ sql: String, from position: Int) throws -> (Statement, end: Int)? {
        try sql.withCString { text in
            var tail: UnsafePointer<CChar>? = text + position
            while let start = tail, start.pointee != 0 {
                var prepared: OpaquePointer?
                let code = sqlite3_prepare_v2(handle, start, -1, &prepared, &tail)
                guard code == SQLITE_OK, let tail else { throw failure(code, sql: sql) }
                if let prepared { return (Statement(prepared, self), tail - text) }
            }
            return nil
        }
    }

    // MARK: Transactions

    /// Calls the body after the commit; never after a rollback.
    func afterCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }

    /// Runs a body that can be cancelled, and that has a time limit.
    func interruptible<Value>(
        by cancellations: [Cancellation], limit: Duration?, _ body: (Database) throws -> Value
    ) throws -> Value {
        (self.cancellations, deadline) = (cancellations, limit.map { .now + $0 })
        defer { (self.cancellations, deadline) = ([], nil) }
        return try body(self)
    }

    /// Reads one snapshot of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN", body) }

    /// Changes the database completely or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN IMMEDIATE", body) }

    private func transaction<Value>(_ begin: String, _ body: (Database) throws -> Value) throws -> Value {
        _ = writtenPages(resets: true)
        try execute(begin, [])
        do {
            let value = try body(self)
            try execute("COMMIT", [])
            // Committed changes must also be applied to memory.
            (cancellations, deadline) = ([], nil)
            let committed = afterCommit
            afterCommit = []
            for body in committed { body() }
            return value
        } catch {
            afterCommit = []
            (cancellations, deadline) = ([], nil)
            // Some errors have already rolled back (https://sqlite.org/c3ref/get_autocommit.html). If this also fails,
            // the transaction ends with the connection, and the first error says more.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The reason to interrupt the current statement.
    private var interruption: (any Error)? {
        if cancellations.contains(where: \.isCancelled) { return CancellationError() }
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return DatabaseError(SQLITE_INTERRUPT, message: "the time limit has passed")
    }

    fileprivate func checkInterruption() throws { if let interruption { throw interruption } }

    fileprivate func failure(_ code: Int32, sql: String?) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT, let interruption { return interruption }
        var error = DatabaseError(code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
        error.bytesWritten = bytesWritten
        return error
    }
}

// MARK: - Statements and rows

/// The values for the question marks of a statement, in order.
typealias StatementArguments = [(any ColumnValue)?]

/// `?,?,?`: the question marks for a list of values.
func databaseQuestionMarks(count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ",") }

/// A prepared statement (https://sqlite.org/c3ref/stmt.html), used only on the thread of its database.
final class Statement {
    fileprivate let handle: OpaquePointer
    /// Statements do not leave their transaction, so the database is closed after them.
    fileprivate unowned let database: Database

    fileprivate init(_ handle: OpaquePointer, _ database: Database) {
        (self.handle, self.database) = (handle, database)
    }

    // The result is the code of the last step, which was reported before.
    deinit { sqlite3_finalize(handle) }

    fileprivate var sql: String? { sqlite3_sql(handle).map { String(cString: $0) } }
    /// Whether the statement's rows are being read.
    fileprivate var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }
}

/// The rows of a result during the transaction. Columns belong to the current row, by position.
final class Rows {
    private let statement: Statement
    /// Whether the statement must be reset.
    private var isOpen = true

    /// Binds the values. Text and blobs are copied by SQLite.
    fileprivate init(_ statement: Statement, _ arguments: StatementArguments) throws {
        try statement.database.checkInterruption()
        self.statement = statement
        let handle = statement.handle
        precondition(arguments.count == sqlite3_bind_parameter_count(handle), "One value for each question mark")
        for (number, value) in zip(Int32(1)..., arguments) {
            let code = value?.bind(to: handle, number) ?? sqlite3_bind_null(handle, number)
            guard code == SQLITE_OK else { throw statement.database.failure(code, sql: statement.sql) }
        }
    }

    // An open statement would prevent the end of the transaction.
    deinit { if isOpen { reset() } }

    private func reset() {
        // The result is the code of the last step, which was reported before.
        sqlite3_reset(statement.handle)
        sqlite3_clear_bindings(statement.handle)
    }

    func next() throws -> Bool {
        guard isOpen else { return false }
        isOpen = false
        defer { if !isOpen { reset() } }
        switch sqlite3_step(statement.handle) {
        case SQLITE_ROW: isOpen = true
        case SQLITE_DONE: break
        case let code: throw statement.database.failure(code, sql: statement.sql)
        }
        return isOpen
    }

    /// A column that is never NULL.
    ///
    /// - Throws: damage for a value of another type.
    subscript<Value: ColumnValue>(_ column: Int) -> Value {
        get throws {
            guard let value = Value(self, column) else { throw damage("column \(column) contains no \(Value.self)") }
            return value
        }
    }

    /// A column that may be NULL.
    subscript<Value: ColumnValue>(_ column: Int) -> Value? {
        get throws { type(column) == SQLITE_NULL ? nil : try self[column] as Value }
    }

    /// The error for a row that contains a value that was never stored.
    func damage(_ problem: String) -> DatabaseError {
        DatabaseError(SQLITE_CORRUPT, message: problem, sql: statement.sql)
    }

    fileprivate func type(_ column: Int) -> Int32 { sqlite3_column_type(statement.handle, Int32(column)) }

    fileprivate func integer(_ column: Int) -> Int64? {
        type(column) == SQLITE_INTEGER ? sqlite3_column_int64(statement.handle, Int32(column)) : nil
    }

    /// A text or a blob in SQLite's memory, which is valid until the next row. NULL is empty.
    func bytes(_ column: Int) throws -> UnsafeRawBufferPointer {
        switch type(column) {
        case SQLITE_TEXT, SQLITE_BLOB:
            // Neither call converts the value. The address of an empty value is nil.
            let start = sqlite3_column_blob(statement.handle, Int32(column))
            let count = Int(sqlite3_column_bytes(statement.handle, Int32(column)))
            return UnsafeRawBufferPointer(start: start, count: count)
        case SQLITE_NULL: return UnsafeRawBufferPointer(start: nil, count: 0)
        default: throw damage("column \(column) is neither text nor blob")
        }
    }
}

// MARK: - Values

/// A value of a column. The schema has no REAL (https://sqlite.org/datatype3.html).
protocol ColumnValue: Sendable {
    /// - Returns: SQLite's result code.
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32

    /// nil for a value of another type.
    init?(_ row: Rows, _ column: Int)
}

/// An integer that JSON can represent, so that a sum of two never overflows.
extension Int64: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { sqlite3_bind_int64(statement, number, self) }

    init?(_ row: Rows, _ column: Int) {
        guard let value = row.integer(column), -(1 << 53)...1 << 53 ~= value else { return nil }
        self = value
    }
}

/// A count, a size, an offset or a position: at least 0, and small enough for any sum.
extension Int: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { Int64(self).bind(to: statement, number) }

    init?(_ row: Rows, _ column: Int) {
        guard let value = row.integer(column), 0...Int64(UInt32.max) ~= value else { return nil }
        self = Int(value)
    }
}

extension Bool: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { Int64(self ? 1 : 0).bind(to: statement, number) }

    init?(_ row: Rows, _ column: Int) {
        guard let value = row.integer(column), 0...1 ~= value else { return nil }
        self = value == 1
    }
}

/// The times that RFC 3339 can represent, with a day for the offset at both ends.
extension Timestamp: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 { seconds.bind(to: statement, number) }

    init?(_ row: Rows, _ column: Int) {
        guard let value = row.integer(column), -62_167_305_600...253_402_387_200 ~= value else { return nil }
        self.init(seconds: value)
    }
}

/// A hash.
extension UInt64: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        Int64(bitPattern: self).bind(to: statement, number)
    }

    init?(_ row: Rows, _ column: Int) {
        guard let value = row.integer(column) else { return nil }
        self.init(bitPattern: value)
    }
}

extension String: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        withCString { norris_sqlite_bind_text(statement, number, $0, UInt64(utf8.count)) }
    }

    init?(_ row: Rows, _ column: Int) {
        guard row.type(column) == SQLITE_TEXT, let bytes = try? row.bytes(column) else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8]: ColumnValue {
    func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
        // A nil address would bind NULL.
        if isEmpty { return sqlite3_bind_zeroblob(statement, number, 0) }
        return norris_sqlite_bind_blob(statement, number, self, UInt64(count))
    }

    init?(_ row: Rows, _ column: Int) {
        guard row.type(column) == SQLITE_BLOB, let bytes = try? row.bytes(column) else { return nil }
        self.init(bytes)
    }
}
