import CSQLite
import Dispatch
import NorrisThreads
import Synchronization

/// A database with one writing connection, and reading connections that read committed data in parallel.
///
/// The body of each call runs on the queue of its connection, which has a thread while it works, so no call blocks the
/// thread of its caller. Requests for a connection are served in order.
final class DatabasePool: Sendable {
    private let writers: Connections
    private let readers: Connections?
    /// Ends running and waiting work.
    private let isReplaced = Cancellation()

    /// - Parameters:
    ///   - writer: an open connection, which also reads if there are no readers.
    ///   - readers: the number of reading connections. They are opened at their first use.
    init(_ writer: sending Database, readers: Int, openReader: @escaping @Sendable () throws -> Database) {
        writers = Connections([Connections.Connection(writer)]) { throw DatabasePool.closed }
        self.readers =
            readers == 0 ? nil : Connections((0..<readers).map { _ in Connections.Connection(nil) }, openReader)
    }

    /// Reads one snapshot of the database.
    ///
    /// - Parameter limit: the longest time of the body.
    /// - Throws: ``CancellationError`` if the task is cancelled, and a ``DatabaseError`` after the limit; both also in
    ///   the middle of a statement. Damage if the file is replaced.
    func read<Value: Sendable>(
        within limit: Duration? = nil, isCancellable: Bool = true,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await run(readers ?? writers, limit, isCancellable) { try $0.read(body) }
        } catch is Connections.Unavailable {
            return try await run(writers, limit, isCancellable) { try $0.read(body) }
        }
    }

    /// Changes the database completely or not at all.
    ///
    /// - Throws: ``CancellationError`` if the task is cancelled before the commit.
    func write<Value: Sendable>(
        isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value { try await run(writers, nil, isCancellable) { try $0.write(body) } }

    /// Writes the log back to the file and frees its space, if no reader prevents it.
    func truncateLog() async {
        _ = try? await run(writers, nil, true) { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    private func run<Value: Sendable>(
        _ connections: Connections, _ limit: Duration?, _ isCancellable: Bool,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await connections.run(limit, isCancellable: isCancellable, isReplaced, body)
        } catch is CancellationError where isReplaced.isCancelled {
            throw DatabasePool.replaced
        }
    }

    /// Closes all connections after the running work. The writing connection is last, so that it writes back and
    /// removes the log.
    ///
    /// - Parameter isReplaced: whether the work ends at once, with damage, because the file is replaced.
    func close(isReplaced: Bool = false) async {
        if isReplaced { self.isReplaced.cancel() }
        let error = isReplaced ? DatabasePool.replaced : DatabasePool.closed
        await readers?.close(error)
        await writers.close(error)
    }

    private static let closed = DatabaseError(SQLITE_MISUSE, message: "the database is closed")
    private static let replaced = DatabaseError.damaged("the file is being replaced")
}

/// Connections that are used by one borrower at a time.
private final class Connections: Sendable {
    /// The connection cannot be opened, for example because all descriptors are in use.
    struct Unavailable: Error {}

    /// - @unchecked Sendable: only the borrower uses the connection.
    final class Connection: @unchecked Sendable {
        var database: Database?
        // A serial queue has its own thread when it works, however many other queues are blocked. A concurrent queue
        // would have as many threads as there are cores, so two slow reads would block the writer.
        let queue = DispatchQueue(label: "norrisd.sqlite")

        init(_ database: Database?) { self.database = database }
    }

    private typealias Borrower = @Sendable (Result<Connection, any Error>) -> Void

    private struct State {
        var idle: [Connection]
        var waiting: [Borrower] = []
        /// The error of calls after ``Connections/close(_:)``.
        var closed: DatabaseError?
        /// The calls that wait until all connections are idle.
        var closing: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let connections: [Connection]
    private let open: @Sendable () throws -> Database

    init(_ connections: [Connection], _ open: @escaping @Sendable () throws -> Database) {
        state = Mutex(State(idle: connections))
        (self.connections, self.open) = (connections, open)
    }

    /// Runs a body on the queue of a connection.
    func run<Value: Sendable>(
        _ limit: Duration?, isCancellable: Bool, _ isReplaced: Cancellation,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let isCancelled = Cancellation()
        return try await withTaskCancellationHandler {
            let connection = try await borrow()
            return try await withCheckedThrowingContinuation { continuation in
                connection.queue.async { [self] in
                    let result = Result {
                        try database(of: connection).interruptible(by: [isCancelled, isReplaced], limit: limit, body)
                    }
                    putBack(connection)
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            if isCancellable { isCancelled.cancel() }
        }
    }

    private func database(of connection: Connection) throws -> Database {
        if let database = connection.database { return database }
        do {
            let database = try open()
            connection.database = database
            return database
        } catch {
            throw Unavailable()
        }
    }

    /// Waits for the running work, and closes all connections.
    ///
    /// - Parameter error: the error of waiting and later calls.
    func close(_ error: DatabaseError) async {
        let waiting = state.withLock { state in
            if state.closed == nil { state.closed = error }
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in waiting { body(.failure(error)) }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.idle.count == connections.count { return true }
                state.closing.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        for connection in connections {
            await withCheckedContinuation { continuation in
                connection.queue.async {
                    connection.database?.close()
                    continuation.resume()
                }
            }
        }
    }

    /// A connection, now or when one is returned.
    private func borrow() async throws -> Connection {
        try await withCheckedThrowingContinuation { continuation in
            let lent: Result<Connection, any Error>? = state.withLock { state in
                if let closed = state.closed { return .failure(closed) }
                // The last connection has the most recent pages and statements.
                if let connection = state.idle.popLast() { return .success(connection) }
                state.waiting.append { continuation.resume(with: $0) }
                return nil
            }
            if let lent { continuation.resume(with: lent) }
        }
    }

    private func putBack(_ connection: Connection) {
        let (next, closing) = state.withLock { state -> (Borrower?, [CheckedContinuation<Void, Never>]) in
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), []) }
            state.idle.append(connection)
            guard state.idle.count == connections.count else { return (nil, []) }
            defer { state.closing = [] }
            return (nil, state.closing)
        }
        next?(.success(connection))
        for continuation in closing { continuation.resume() }
    }
}
