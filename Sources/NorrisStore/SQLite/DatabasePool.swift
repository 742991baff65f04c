import CSQLite
import Dispatch
import NorrisThreads
import Synchronization

/// A database with one writing connection, and reading connections that read committed data in parallel.
///
/// Without readers the writing connection also reads. The bodies of asynchronous calls run on the queue of their
/// connection, which has a thread while it works. The other calls block the calling thread, so they require a
/// ``BlockingAccess``. Requests for a connection are served in order.
final class DatabasePool: Sendable {
    private let writers: Connections
    private let readers: Connections?

    /// - Parameters:
    ///   - path: nil for a database in memory.
    ///   - readers: the number of reading connections, which require WAL mode.
    ///   - prepare: runs on each new connection.
    init(
        path: String?, _ mode: Database.Access = .write, readers: Int = 0, _ access: BlockingAccess,
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws {
        writers = Connections(count: 1, path ?? ":memory:", mode, prepare)
        self.readers = path.flatMap {
            readers > 0 ? Connections(count: readers, $0, .read, isReader: true, prepare) : nil
        }
        // An error of the file must reach the caller. Readers open the file at their first use.
        try writers.withConnection(access) { _ in }
    }

    /// Reads one snapshot of the database.
    func read<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        do {
            return try (readers ?? writers).withConnection(access) { try $0.read(body) }
        } catch is ReaderUnavailable {
            return try writers.withConnection(access) { try $0.read(body) }
        }
    }

    /// Reads one snapshot of the database.
    ///
    /// - Parameter limit: the longest time of the body.
    /// - Throws: ``CancellationError`` if the task is cancelled, and a ``DatabaseError`` after the limit; both also in
    ///   the middle of a statement.
    func read<Value: Sendable>(
        within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await (readers ?? writers).run(limit: limit) { try $0.read(body) }
        } catch is ReaderUnavailable {
            return try await writers.run(limit: limit) { try $0.read(body) }
        }
    }

    /// Changes the database completely or not at all.
    func write<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection(access) { try $0.write(body) }
    }

    /// Changes the database completely or not at all.
    ///
    /// - Throws: ``CancellationError`` if the task is cancelled before the commit.
    func write<Value: Sendable>(
        isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value { try await writers.run(limit: nil, isCancellable: isCancellable) { try $0.write(body) } }

    /// Calls `body` with the writing connection, without a transaction.
    func withWriter<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection(access, body)
    }

    /// Closes all connections after all running and waiting work. The writing connection is last, so that it writes
    /// back and removes the log.
    func close(_ access: BlockingAccess) throws {
        let closed = Result { try readers?.close(access) }
        try writers.close(access)
        try closed.get()
    }
}

/// A reading connection cannot be opened, for example because the file was deleted; the writing connection is used
/// instead.
private struct ReaderUnavailable: Error {}

/// Connections that are used by one borrower at a time, and opened at their first use.
private final class Connections: Sendable {
    /// - @unchecked Sendable: only the borrower uses the connection.
    private final class Connection: @unchecked Sendable {
        var database: Database?
        // A serial queue has its own thread when it works, however many other queues are blocked. A concurrent queue
        // would have as many threads as there are cores, so two slow reads would block the writer.
        let queue = DispatchQueue(label: "norrisd.sqlite")
    }

    private typealias Borrower = @Sendable (Result<Connection, any Error>) -> Void

    private struct State {
        var idle: [Connection]
        var waiting: [Borrower] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let count: Int
    private let connect: @Sendable () throws -> Database

    init(
        count: Int, _ path: String, _ mode: Database.Access, isReader: Bool = false,
        _ prepare: @escaping @Sendable (Database) throws -> Void
    ) {
        self.count = count
        connect = {
            do {
                let database = try Database(path: path, mode)
                try prepare(database)
                return database
            } catch {
                throw isReader ? ReaderUnavailable() : error
            }
        }
        let connections = (0..<count).map { _ in Connection() }
        state = Mutex(State(idle: connections))
    }

    /// The database of a connection, on a thread that may block.
    private func database(of connection: Connection) throws -> Database {
        if let database = connection.database { return database }
        let database = try connect()
        connection.database = database
        return database
    }

    /// Runs a body on the queue of a connection.
    func run<Value: Sendable>(
        limit: Duration?, isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                borrow { [self] lent in
                    switch lent {
                    case .failure(let error): continuation.resume(throwing: error)
                    case .success(let connection):
                        connection.queue.async { [self] in
                            let result = Result {
                                try database(of: connection).interruptible(by: cancellation, limit: limit, body)
                            }
                            putBack(connection)
                            continuation.resume(with: result)
                        }
                    }
                }
            }
        } onCancel: {
            if isCancellable { cancellation.cancel() }
        }
    }

    /// Runs a body on the calling thread, after waiting for a connection.
    func withConnection<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        let connection = try wait(access)
        defer { putBack(connection) }
        return try body(database(of: connection))
    }

    /// Waits for all connections, and closes them.
    func close(_ access: BlockingAccess) throws {
        let all = try (0..<count).map { _ in try wait(access) }
        let waiting = state.withLock { state in
            defer { (state.isClosed, state.waiting) = (true, []) }
            return state.waiting
        }
        for body in waiting { body(.failure(Self.closed)) }
        for connection in all { try connection.database?.close() }
    }

    /// Calls the body with a connection, now or when one is returned.
    private func borrow(_ body: @escaping Borrower) {
        let lent: Result<Connection, any Error>? = state.withLock { state in
            if state.isClosed { return .failure(Self.closed) }
            // The last connection has the most recent pages and statements.
            if let connection = state.idle.popLast() { return .success(connection) }
            state.waiting.append(body)
            return nil
        }
        if let lent { body(lent) }
    }

    private func putBack(_ connection: Connection) {
        let next = state.withLock { state -> Borrower? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.idle.append(connection)
            return nil
        }
        next?(.success(connection))
    }

    private func wait(_: BlockingAccess) throws -> Connection {
        let semaphore = DispatchSemaphore(value: 0)
        // Written once before the signal, and read after it.
        nonisolated(unsafe) var lent = Result<Connection, any Error>.failure(Self.closed)
        borrow {
            lent = $0
            semaphore.signal()
        }
        semaphore.wait()
        return try lent.get()
    }

    private static let closed = DatabaseError(SQLITE_MISUSE, message: "the database is closed")
}
