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

    /// The error of a value that norrisd has not stored like this: the file is damaged.
    static func damaged(_ problem: String) -> DatabaseError { DatabaseError(SQLITE_CORRUPT, message: problem) }

    /// Whether a file is damaged, or is no database.
    static func isCorruption(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [SQLITE_CORRUPT, SQLITE_NOTADB].contains(error.resultCode) || error.isUnknownFormat
    }

    /// Whether the header of a file names a schema format that no SQLite has (https://sqlite.org/fileformat2.html).
    private var isUnknownFormat: Bool { resultCode == SQLITE_ERROR && message == "unsupported file format" }

    /// Whether a read took longer than its limit.
    var isTimeLimit: Bool { resultCode == SQLITE_INTERRUPT }

    var description: String {
        "SQLite error \(extendedResultCode): \(message)" + (sql.map { " - while executing `\($0)`" } ?? "")
    }
}

/// Ends what runs on a connection, from any thread.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    func cancel() { flag.store(true, ordering: .relaxed) }
    var isCancelled: Bool { flag.load(ordering: .relaxed) }
}

/// One connection to a database. Only one thread uses it at a time, which ``DatabasePool`` ensures.
final class Database {
    enum Access { case write, read }

    /// How many prepared statements are cached. More are only reached by lists of values of many lengths.
    private static let maximumStatements = 64

    private let handle: OpaquePointer
    let isReadOnly: Bool
    /// What a row contains that was never stored; the transaction fails at the next row, at its end at the latest.
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
        // Every 1,000 instructions of its virtual machine, some 20 µs, SQLite calls the handler. The pointer is valid:
        // the handler runs only in calls that this object makes.
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
        // Where a statement is still held, the connection ends with it.
        if !isClosed { sqlite3_close_v2(handle) }
    }

    /// Closes the connection, which nobody may use any more.
    func close() throws {
        statements = [:]
        isClosed = true
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else {
            sqlite3_close_v2(handle)
            throw DatabaseError(code)
        }
    }

    /// How many rows the last statement changed.
    var changesCount: Int { Int(sqlite3_changes(handle)) }

    /// How many rows have changed since the connection was opened.
    var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }
    var lastInsertedNumber: SequenceNumber { SequenceNumber(columnValue: sqlite3_last_insert_rowid(handle)) }

    /// Prepares a statement for one use.
    func statement(_ sql: String) throws -> Statement {
        guard let (statement, _) = try prepare(sql, from: 0) else {
            throw DatabaseError(SQLITE_MISUSE, message: "no statement", sql: sql)
        }
        return statement
    }

    /// A statement that is prepared once and cached; another while the rows of that one are being read.
    func cachedStatement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement.isBusy ? try self.statement(sql) : statement }
        let statement = try statement(sql)
        if statements.count >= Database.maximumStatements { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs one statement with values, which is cached.
    func execute(_ sql: String, _ arguments: StatementArguments) throws { try cachedStatement(sql).execute(arguments) }

    /// Runs all statements of a text.
    func execute(_ sql: String) throws {
        var position = 0
        while let (statement, end) = try prepare(sql, from: position) {
            try statement.execute()
            position = end
        }
    }

    /// Reads the rows of a result while the transaction lasts. A statement with values is cached.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> Rows {
        try Rows(arguments.isEmpty ? statement(sql) : cachedStatement(sql), arguments)
    }

    /// The first row of a result as a value; nil where there is none.
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

    /// Prepares the first statement behind a position in bytes; nil where only space and comments are left.
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

    /// Calls the body once the transaction is committed; never if it is rolled back.
    func afterCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }

    /// Runs a body that can be cancelled, and may take no longer than a limit.
    func interruptible<Value>(
        by cancellation: Cancellation, limit: Duration?, _ body: (Database) throws -> Value
    ) throws -> Value {
        (self.cancellation, deadline) = (cancellation, limit.map { .now + $0 })
        defer { (self.cancellation, deadline) = (nil, nil) }
        return try body(self)
    }

    /// Reads one state of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN", body) }

    /// Changes the database: all of it, or nothing.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try transaction("BEGIN IMMEDIATE", body) }

    private func transaction<Value>(_ begin: String, _ body: (Database) throws -> Value) throws -> Value {
        damage = nil
        try cachedStatement(begin).execute()
        do {
            let value = try body(self)
            try checkDamage()
            try cachedStatement("COMMIT").execute()
            // What is committed is also applied to memory.
            (cancellation, deadline) = (nil, nil)
            let committed = afterCommit
            afterCommit = []
            for body in committed { body() }
            return value
        } catch {
            afterCommit = []
            (cancellation, deadline, damage) = (nil, nil, nil)
            // Some errors have rolled back already (https://sqlite.org/c3ref/get_autocommit.html). Where this fails
            // too, the transaction ends with the connection; the first error says more.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Why what runs has to end.
    private var interruption: (any Error)? {
        if cancellation?.isCancelled == true { return CancellationError() }
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return DatabaseError(SQLITE_INTERRUPT, message: "the time limit has passed")
    }

    /// Throws if a row contained a damaged value: no loop continues with a placeholder.
    func checkDamage() throws { if let damage { throw DatabaseError.damaged(damage) } }

    func checkInterruption() throws { if let interruption { throw interruption } }

    func failure(_ code: Int32, sql: String?) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT, let interruption { return interruption }
        return DatabaseError(code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }
}
