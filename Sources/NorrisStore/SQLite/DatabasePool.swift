import CSQLite
import Dispatch
import Synchronization

/// A database: one connection that writes, and some that read what was committed while it writes.
///
/// Without readers the writing connection reads too. Bodies block: those of asynchronous calls run on the queue of
/// their connection, which has a thread of its own while it works, the others on the calling thread. Requests for a
/// connection are served in order.
final class DatabasePool: Sendable {
    private let writers: Connections
    private let readers: Connections?

    /// - Parameters:
    ///   - path: nil for a database in memory.
    ///   - readers: how many connections read beside the one that writes; the file must be in WAL mode then.
    ///   - prepare: runs on each new connection.
    init(
        path: String?, access: Database.Access = .write, readers: Int = 0,
        prepare: (Database) throws -> Void = { _ in }
    ) throws {
        func connect(_ path: String, _ access: Database.Access) throws -> Database {
            let database = try Database(path: path, access)
            try prepare(database)
            return database
        }
        writers = Connections([try connect(path ?? ":memory:", access)])
        // Opened now: an error belongs to the start, and an idle connection takes little memory.
        self.readers = try path.flatMap { path in
            readers > 0 ? Connections(try (0..<readers).map { _ in try connect(path, .read) }) : nil
        }
    }

    /// Reads one state of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try (readers ?? writers).withConnection { try $0.read(body) }
    }

    /// Reads one state of the database.
    ///
    /// - Parameter limit: how long the body may take, once it runs.
    /// - Throws: ``CancellationError`` if the task is cancelled, and a ``DatabaseError`` when the limit passes, both
    ///   also in the middle of a statement.
    func read<Value: Sendable>(
        within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await (readers ?? writers).run(limit: limit) { try $0.read(body) }
    }

    /// Changes the database: all of it, or nothing.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection { try $0.write(body) }
    }

    /// Changes the database: all of it, or nothing.
    ///
    /// - Throws: ``CancellationError`` if the task is cancelled before the commit.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await writers.run(limit: nil) { try $0.write(body) }
    }

    func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection(body)
    }

    /// Closes all connections once what runs and waits is done, the writing one last, so that it writes the log back
    /// and removes it.
    func close() throws {
        let closed = Result { try readers?.close() }
        try writers.close()
        try closed.get()
    }
}

/// Connections that are lent to one user at a time.
private final class Connections: Sendable {
    /// - @unchecked Sendable: only its borrower uses it.
    private struct Connection: @unchecked Sendable {
        let database: Database
        // A serial queue gets a thread however many others are blocked, and returns it when idle. A concurrent one
        // would get as many as there are cores: two slow reads would stall the writer.
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

    init(_ databases: [Database]) {
        count = databases.count
        let connections = databases.map(Connection.init)
        state = Mutex(State(idle: connections))
    }

    /// Runs a body on the queue of a connection.
    func run<Value: Sendable>(
        limit: Duration?, _ body: @escaping @Sendable (Database) throws -> Value
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
                                try connection.database.interruptible(by: cancellation, limit: limit, body)
                            }
                            putBack(connection)
                            continuation.resume(with: result)
                        }
                    }
                }
            }
        } onCancel: { cancellation.cancel() }
    }

    /// Runs a body on the calling thread, which waits for a connection.
    func withConnection<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let connection = try wait()
        defer { putBack(connection) }
        return try body(connection.database)
    }

    /// Waits for all connections, and closes them.
    func close() throws {
        let all = try (0..<count).map { _ in try wait() }
        let waiting = state.withLock { state in
            defer { (state.isClosed, state.waiting) = (true, []) }
            return state.waiting
        }
        for body in waiting { body(.failure(Self.closed)) }
        for connection in all { try connection.database.close() }
    }

    /// Calls the body with a connection, at once or when one is put back.
    private func borrow(_ body: @escaping Borrower) {
        let lent: Result<Connection, any Error>? = state.withLock { state in
            if state.isClosed { return .failure(Self.closed) }
            // The last is the one whose pages and statements are the freshest.
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

    private func wait() throws -> Connection {
        let semaphore = DispatchSemaphore(value: 0)
        // Written once, before the signal, and read after it.
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
