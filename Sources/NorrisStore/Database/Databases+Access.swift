import Logging
import NorrisProtocol

/// How all content but the facts is read and written. What fails is noted, and thrown in the words of the caller.
extension Databases {
    /// How long a search may take.
    static let searchLimit = Duration.seconds(1)

    /// Reads one state of the database that holds the content.
    ///
    /// - Parameter limit: how long the body may take; ``searchLimit`` for what looks through all rows.
    /// - Throws: `-32005`, `-32004` when the limit passes, and whatever response the body throws.
    func read<Value: Sendable>(
        _ content: Content, within limit: Duration? = nil, logger: Logger,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do {
            return try await opened(content).writer.read(within: limit, body)
        } catch {
            throw readFailure(error, content, logger)
        }
    }

    /// The same on the calling thread.
    func read<Value>(
        _ content: Content, logger: Logger, _ body: (Database) throws -> Value
    ) throws(ResponseError) -> Value {
        do {
            return try opened(content).writer.read(body)
        } catch {
            throw readFailure(error, content, logger)
        }
    }

    /// Changes the database that holds the contents: all of it, or nothing where the body throws.
    ///
    /// - Parameter contents: a failure is noted of the first, a success of all.
    /// - Throws: what became of the failure, and whatever `Failure` the body throws.
    func write<Value: Sendable, Failure: AccessError>(
        _ contents: Content..., logger: Logger, throwing: Failure.Type = StoreError.self,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(Failure) -> Value {
        let opened = opened(contents[0])
        do {
            let written = try await opened.writer.write { try Written(body, $0) }
            return note(written, contents, logger)
        } catch {
            throw writeFailure(error, contents[0], opened, logger)
        }
    }

    /// The same on the calling thread.
    func write<Value, Failure: AccessError>(
        _ contents: Content..., logger: Logger, throwing: Failure.Type = StoreError.self,
        _ body: (Database) throws -> Value
    ) throws(Failure) -> Value {
        let opened = opened(contents[0])
        do {
            let written = try opened.writer.write { try Written(body, $0) }
            return note(written, contents, logger)
        } catch {
            throw writeFailure(error, contents[0], opened, logger)
        }
    }

    /// Changes the state; what the body did is on the disk when this returns.
    ///
    /// - Throws: `-32005`, also where what is written would be lost with the process; and whatever response the body
    ///   throws.
    func changeState<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        if case .inMemory = state.opened.condition {
            throw .storage("The state is in memory only and would be lost.", hint: "norrisctl status says why.")
        }
        checkState(logger)
        guard !isStateLost else {
            throw .storage("The state's file was deleted under the daemon.", hint: "Restart norrisd.")
        }
        return try await write(.state, logger: logger, throwing: ResponseError.self, body)
    }

    private func readFailure(_ error: any Error, _ content: Content, _ logger: Logger) -> ResponseError {
        switch error {
        case let error as ResponseError: return error
        case is CancellationError: return .shuttingDown
        case let error as DatabaseError where error.isTimeLimit:
            return .busy("The search took too long.", hint: "Search for a longer or rarer text.")
        default:
            if content != .state { noteDamage(error) }
            logger.error("database.unreadable", metadata: ["content": "\(content)", "error": "\(error)"])
            return .storage("The \(content.name) cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    private func note<Value>(_ written: Written<Value>, _ contents: [Content], _ logger: Logger) -> Value {
        // A change that came to nothing has not shown that the disk takes writes.
        if written.isChange { for content in contents { noteWriteSuccess(of: content, logger) } }
        return written.value
    }

    private func writeFailure<Failure: AccessError>(
        _ error: any Error, _ content: Content, _ opened: OpenedDatabase, _ logger: Logger
    ) -> Failure {
        if let error = error as? Failure { return error }
        // A task that was cancelled says nothing about the disk.
        if !(error is CancellationError) { noteWriteFailure(error, of: content, logger) }
        return Failure(writing: content, path: opened.path ?? "\(content.name).db in memory", cause: error)
    }
}

/// What a body returned, and whether it changed anything.
private struct Written<Value> {
    let value: Value
    let isChange: Bool

    init(_ body: (Database) throws -> Value, _ database: Database) throws {
        let before = database.totalChangesCount
        value = try body(database)
        isChange = database.totalChangesCount > before
    }
}

extension Written: Sendable where Value: Sendable {}

/// An error that tells a caller of a failed write.
protocol AccessError: Error {
    /// - Parameters:
    ///   - path: how messages name the database.
    ///   - cause: also `CancellationError`.
    init(writing content: Databases.Content, path: String, cause: any Error)
}

extension StoreError: AccessError {
    init(writing content: Databases.Content, path: String, cause: any Error) {
        self.init(path: path, cause is CancellationError ? .cancelled : .failed("\(cause)"))
    }
}

extension ResponseError: AccessError {
    init(writing content: Databases.Content, path: String, cause: any Error) {
        // Nobody waits for the answer of a task that was cancelled.
        self = cause is CancellationError
            ? .shuttingDown : .storage("The \(content.name) takes no writes now.", hint: "norrisctl status says why.")
    }
}
