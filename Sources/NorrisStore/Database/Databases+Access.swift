import Logging
import NorrisProtocol

/// Reading and writing everything but the facts. Failures are noted, and thrown as the caller's kind of error.
extension Databases {
    /// How long a search may take.
    static let searchLimit = Duration.seconds(1)

    /// Reads one state of the database that holds the content.
    ///
    /// - Parameter limit: how long the body may take; ``searchLimit`` for what reads all rows.
    /// - Throws: `-32005`, `-32004` when the limit passes, and a response that the body throws.
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
    /// - Throws: `failed` or `cancelled`.
    func write<Value: Sendable>(
        _ contents: Content..., logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return note(try await opened(contents[0]).writer.write { try Written(body, $0) }, contents, logger)
        } catch {
            throw writeFailure(error, contents[0], logger)
        }
    }

    /// The same on the calling thread.
    func write<Value>(
        _ contents: Content..., logger: Logger, _ body: (Database) throws -> Value
    ) throws(StoreError) -> Value {
        do {
            return note(try opened(contents[0]).writer.write { try Written(body, $0) }, contents, logger)
        } catch {
            throw writeFailure(error, contents[0], logger)
        }
    }

    /// Changes the state for a request, in memory where there is no disk.
    ///
    /// - Throws: `-32005`, and a response that the body throws.
    func writeState<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do {
            return note(try await state.writer.write { try Written(body, $0) }, [.state], logger)
        } catch let error as ResponseError {
            throw error
        } catch is CancellationError {
            throw .shuttingDown
        } catch {
            noteWriteFailure(error, of: .state, logger)
            throw .storage("The state takes no writes now.", hint: "norrisctl status says why.")
        }
    }

    /// Changes the state for a request; the change is on the disk when this returns.
    ///
    /// - Throws: `-32005`, also where the change would be lost with the process; and a response that the body throws.
    func changeState<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        if case .inMemory = state.condition {
            throw .storage("The state is in memory only and would be lost.", hint: "norrisctl status says why.")
        }
        checkState(logger)
        guard !isStateLost else {
            throw .storage("The state's file was deleted under the daemon.", hint: "Restart norrisd.")
        }
        return try await writeState(logger, body)
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
        // A transaction without changes has not shown that the disk takes writes.
        if written.isChange { for content in contents { noteWriteSuccess(of: content, logger) } }
        return written.value
    }

    private func writeFailure(_ error: any Error, _ content: Content, _ logger: Logger) -> StoreError {
        let path = opened(content).path ?? "\(content.name).db in memory"
        // A cancelled task says nothing about the disk.
        if error is CancellationError { return StoreError(path: path, .cancelled) }
        noteWriteFailure(error, of: content, logger)
        return StoreError(path: path, .failed("\(error)"))
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
