import CSQLite
import Synchronization

/// An error of SQLite (https://sqlite.org/rescode.html). It names the statement, but never its values.
struct DatabaseError: Error, Equatable, CustomStringConvertible {
    let extendedResultCode: Int32
    let message: String
    let sql: String?

    init(_ extendedResultCode: Int32, message: String? = nil, sql: String? = nil) {
        self.extendedResultCode = extendedResultCode
        self.message = message ?? String(cString: sqlite3_errstr(extendedResultCode))
        self.sql = sql
    }

    /// One of the primary codes, such as `SQLITE_FULL`.
    var resultCode: Int32 { extendedResultCode & 0xFF }

    /// The error for a value that norrisd did not store in this form, because the file is damaged.
    static func damaged(_ problem: String) -> DatabaseError { DatabaseError(SQLITE_CORRUPT, message: problem) }

    /// Whether a file is damaged or not a database.
    static func isCorruption(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [SQLITE_CORRUPT, SQLITE_NOTADB].contains(error.resultCode) || error.isUnknownFormat
    }

    /// Whether the header of a file names an unknown schema format (https://sqlite.org/fileformat2.html).
    private var isUnknownFormat: Bool { resultCode == SQLITE_ERROR && message == "unsupported file format" }

    /// Whether a read took longer than its limit.
    var isTimeLimit: Bool { resultCode == SQLITE_INTERRUPT }

    var description: String {
        "SQLite error \(extendedResultCode): \(message)" + (sql.map { " - while executing `\($0)`" } ?? "")
    }
}

/// Cancels work, from any thread.
package final class Cancellation: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func cancel() { flag.store(true, ordering: .relaxed) }
    package var isCancelled: Bool { flag.load(ordering: .relaxed) }
}

/// One connection to a database. Only one thread uses it at a time, which ``DatabasePool`` ensures.
final class Database {
    enum Access { case write, read }

    /// The maximum number of cached statements. Only lists of values with many lengths need more.
    private static let maximumStatements = 64

    private let handle: OpaquePointer
    let isReadOnly: Bool
    /// The description of a damaged value in a row; the transaction fails at the next row, or at its end.
    var damage: String?
    private var statements: [String: Statement] = [:]
    private var afterCommit: [() -> Void] = []
    private var isClosed = false
    private var cancellation: Cancellation?
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
        isReadOnly = access == .read
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
        try execute("PRAGMA foreign_keys = ON")
        if isReadOnly { try execute("PRAGMA query_only = ON") }
    }

    deinit {
        statements = [:]
        // The connection ends even if a statement still exists.
        if !isClosed { sqlite3_close_v2(handle) }
    }

    /// Closes the connection, which must not be used afterwards.
    func close() throws {
        statements = [:]
        isClosed = true
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else {
            sqlite3_close_v2(handle)
            throw DatabaseError(code)
        }
    }

    /// The number of rows that the last statement changed.
    var changesCount: Int { Int(sqlite3_changes(handle)) }

    /// The number of rows that changed since the connection was opened.
    var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }
    var lastInsertedNumber: SequenceNumber { SequenceNumber(columnValue: sqlite3_last_insert_rowid(handle)) }

    /// Prepares a statement for one use.
    func statement(_ sql: String) throws -> Statement {
        guard let (statement, _) = try prepare(sql, from: 0) else {
            throw DatabaseError(SQLITE_MISUSE, message: "no statement", sql: sql)
        }
        return statement
    }

    /// A cached statement; a second statement while the rows of the first are being read.
    func cachedStatement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement.isBusy ? try self.statement(sql) : statement }
        let statement = try statement(sql)
        if statements.count >= Database.maximumStatements { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs one cached statement with values.
    func execute(_ sql: String, _ arguments: StatementArguments) throws { try cachedStatement(sql).execute(arguments) }

    /// Runs all statements of a text.
    func execute(_ sql: String) throws {
        var position = 0
        while let (statement, end) = try prepare(sql, from: position) {
            try statement.execute()
            position = end
        }
    }

    /// Reads the rows of a result during the transaction. A statement with values is cached.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> Rows {
        try Rows(arguments.isEmpty ? statement(sql) : cachedStatement(sql), arguments)
    }

    /// The first row of a result as a value; nil if there is no row.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], _ body: (Rows) throws -> Value
    ) throws -> Value? {
        let rows = try rows(sql, arguments)
        let value = try rows.next() ? body(rows) : nil
        try checkDamage()
        return value
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

    /// Calls the body after the commit; never after a rollback.
    func afterCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }

    /// Runs a body that can be cancelled, and that has a time limit.
    func interruptible<Value>(
        by cancellation: Cancellation, limit: Duration?, _ body: (Database) throws -> Value
    ) throws -> Value {
        (self.cancellation, deadline) = (cancellation, limit.map { .now + $0 })
        defer { (self.cancellation, deadline) = (nil, nil) }
        return try body(self)
    }

    /// Reads one snapshot of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN", body) }

    /// Changes the database completely or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN IMMEDIATE", body) }

    private func transaction<Value>(_ begin: String, _ body: (Database) throws -> Value) throws -> Value {
        damage = nil
        try cachedStatement(begin).execute()
        do {
            let value = try body(self)
            try checkDamage()
            try cachedStatement("COMMIT").execute()
            // Committed changes must also be applied to memory.
            (cancellation, deadline) = (nil, nil)
            let committed = afterCommit
            afterCommit = []
            for body in committed { body() }
            return value
        } catch {
            afterCommit = []
            (cancellation, deadline, damage) = (nil, nil, nil)
            // Some errors have already rolled back (https://sqlite.org/c3ref/get_autocommit.html). If this also fails,
            // the transaction ends with the connection, and the first error says more.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The reason to interrupt the current statement.
    private var interruption: (any Error)? {
        if cancellation?.isCancelled == true { return CancellationError() }
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return DatabaseError(SQLITE_INTERRUPT, message: "the time limit has passed")
    }

    /// Throws if a row contained a damaged value, so that no loop continues with a placeholder.
    func checkDamage() throws { if let damage { throw DatabaseError.damaged(damage) } }

    func checkInterruption() throws { if let interruption { throw interruption } }

    func failure(_ code: Int32, sql: String?) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT, let interruption { return interruption }
        return DatabaseError(code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }
}
