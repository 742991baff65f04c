import CSQLite
import Dispatch
import NorrisSystem
import Synchronization

/// A database: one connection that writes, and some that read what was committed while it writes.
///
/// Without readers the writing connection reads too. The bodies of asynchronous calls run on the queue of their
/// connection, which has a thread of its own while it works. The other calls block the calling thread, so they take a
/// ``BlockingAccess``. Requests for a connection are served in order.
final class DatabasePool: Sendable {
    private let writers: Connections
    private let readers: Connections?

    /// - Parameters:
    ///   - path: nil for a database in memory.
    ///   - readers: how many connections read beside the one that writes; the file must be in WAL mode then.
    ///   - prepare: runs on each new connection.
    init(
        path: String?, _ mode: Database.Access = .write, readers: Int = 0, _ access: BlockingAccess,
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws {
        writers = Connections(count: 1, path ?? ":memory:", mode, prepare)
        self.readers = path.flatMap {
            readers > 0 ? Connections(count: readers, $0, .read, isReader: true, prepare) : nil
        }
        // An error of the file belongs to the caller. Readers open the file when they are first needed.
        try writers.withConnection(access) { _ in }
    }

    /// Reads one state of the database.
    func read<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        do {
            return try (readers ?? writers).withConnection(access) { try $0.read(body) }
        } catch is ReaderUnavailable {
            return try writers.withConnection(access) { try $0.read(body) }
        }
    }

    /// Reads one state of the database.
    ///
    /// - Parameter limit: how long the body may take, once it runs.
    /// - Throws: ``CancellationError`` if the task is cancelled, and a ``DatabaseError`` when the limit passes, both
    ///   also in the middle of a statement.
    func read<Value: Sendable>(
        within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await (readers ?? writers).run(limit: limit) { try $0.read(body) }
        } catch is ReaderUnavailable {
            return try await writers.run(limit: limit) { try $0.read(body) }
        }
    }

    /// Changes the database: all of it, or nothing.
    func write<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection(access) { try $0.write(body) }
    }

    /// Changes the database: all of it, or nothing.
    ///
    /// - Throws: ``CancellationError`` if the task is cancelled before the commit.
    func write<Value: Sendable>(
        isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value { try await writers.run(limit: nil, isCancellable: isCancellable) { try $0.write(body) } }

    /// Lends the connection that writes, without a transaction.
    func withWriter<Value>(_ access: BlockingAccess, _ body: (Database) throws -> Value) throws -> Value {
        try writers.withConnection(access, body)
    }

    /// Closes all connections once what runs and waits is done, the writing one last, so that it writes the log back
    /// and removes it.
    func close(_ access: BlockingAccess) throws {
        let closed = Result { try readers?.close(access) }
        try writers.close(access)
        try closed.get()
    }
}

/// A reading connection cannot be opened, for example because the file was deleted: the writing connection still has it.
private struct ReaderUnavailable: Error {}

/// Connections that are lent to one user at a time, and opened when they are first lent.
private final class Connections: Sendable {
    /// - @unchecked Sendable: only its borrower uses it.
    private final class Connection: @unchecked Sendable {
        var database: Database?
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

    /// Runs a body on the calling thread, which waits for a connection.
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

    private func wait(_: BlockingAccess) throws -> Connection {
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
