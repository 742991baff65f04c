import GRDB
import Logging
import NorrisProtocol

/// Reading and changing for somebody who waits for a reply: what fails is said in the words of the protocol.
extension Databases {
    /// - Throws: `-32005`, and whatever response the body throws.
    func readCache<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do {
            return try await cache.opened.writer.read(body)
        } catch {
            throw Databases.response(to: error) {
                logger.error("cache.unreadable", metadata: ["error": "\(error)"])
                return .storage("The cache cannot be read now.", hint: "The daemon's log says why.")
            }
        }
    }

    /// - Throws: `-32005`, and whatever response the body throws.
    func readState<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do {
            return try await state.opened.writer.read(body)
        } catch {
            throw Databases.response(to: error) {
                logger.error("state.unreadable", metadata: ["error": "\(error)"])
                return .storage("The state cannot be read now.", hint: "The daemon's log says why.")
            }
        }
    }

    /// Changes the state; what the body did is on the disk when this returns, and all undone when it throws.
    ///
    /// - Throws: `-32005`, also where what is written would be gone with the process; and whatever response the body
    ///   throws.
    func changeState<Value: Sendable>(
        _ logger: Logger, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        if case .inMemory = state.opened.condition {
            throw .storage("The state is in memory only and would be lost.", hint: "server.status says why.")
        }
        checkState(logger)
        guard !isStateLost else {
            throw .storage("The state's file was deleted under the daemon.", hint: "Restart norrisd.")
        }
        do {
            let (value, isWritten) = try await state.opened.writer.write { database in
                let before = database.totalChangesCount
                let value = try body(database)
                return (value, database.totalChangesCount > before)
            }
            // A change that came to nothing has not shown that the disk takes writes.
            if isWritten { noteWriteSuccess(of: .state, logger) }
            return value
        } catch {
            throw Databases.response(to: error) {
                noteWriteFailure(error, of: .state, logger)
                return .storage("The state takes no writes now.", hint: "server.status says why.")
            }
        }
    }

    /// - Parameter failure: what the disk's own failures become.
    private static func response(to error: any Error, failure: () -> ResponseError) -> ResponseError {
        switch error {
        case let error as ResponseError: error
        // Nobody waits any more, and nothing is wrong with the disk.
        case is CancellationError: .shuttingDown
        default: failure()
        }
    }
}
