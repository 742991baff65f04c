import GRDB
import Logging
import NorrisProtocol

/// How the cache is reached: anew for each call, for it is made anew when its file is gone.
extension GifStore {
    /// - Throws: `failed`, which the status then tells of too, or `cancelled`; in both cases nothing has changed.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        let cache = databases.cache
        do {
            let (result, isChange) = try await cache.opened.writer.write { [self] database in
                let changes = database.totalChangesCount
                let result = try body(database)
                let isChange = database.totalChangesCount != changes
                if isChange {
                    let count = try GifRecord.count(database)
                    // Not before it is true, and in the order of the changes.
                    database.afterNextTransaction { _ in self.note(count) }
                }
                return (result, isChange)
            }
            // What changed nothing has not been on the disk.
            if isChange { databases.noteWriteSuccess(of: .gifs, logger) }
            return result
        } catch is CancellationError {
            throw StoreError(path: cache.name, .cancelled)
        } catch {
            databases.noteWriteFailure(error, of: .gifs, logger)
            throw StoreError(path: cache.name, .failed("\(error)"))
        }
    }

    /// - Throws: `-32005`.
    func read<Result: Sendable>(
        _ cache: CacheDatabase, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(ResponseError) -> Result {
        do {
            return try await cache.opened.writer.read(body)
        } catch {
            // Of a task that was called off nobody waits for the answer, and the disk is not to blame.
            if !(error is CancellationError) { logger.error("gifs.unreadable", metadata: ["error": "\(error)"]) }
            throw .storage("The cache cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    func readOr<Result: Sendable>(
        _ fallback: Result, _ body: @escaping @Sendable (Database) throws -> Result
    ) async -> Result {
        (try? await read(databases.cache, body)) ?? fallback
    }
}
