import Glibc
package import Logging
import NorrisProtocol
package import NorrisThreads
import Synchronization

/// The daemon's two databases: the cache, and the state of users and schedules.
///
/// Failed reads and writes are thrown as the caller's kind of error. Damage is never thrown, because the file is
/// replaced (``DatabaseFile``).
package final class Databases: Sendable {
    let cache: DatabaseFile
    let state: DatabaseFile
    let logger: Logger
    /// The longest time of a search.
    let searchLimit: Duration
    /// The longest time of a search outside tests.
    static let searchLimit = Duration.seconds(1)
    /// The key of the cursors of all lists.
    package let cursorKey: UInt64
    private let measuredSpace = Mutex(Space())
    /// How often each source's content was cleared, or the source became another one.
    private let clears = Mutex<[String: Int]>([:])

    /// Opens both files, and creates missing files.
    ///
    /// - Parameters:
    ///   - searchLimit: the longest time of a search.
    ///   - willTakeLong: called before each step that may take longer than a usual start.
    /// - Throws: for a file of a newer norrisd or of another program, which stays unchanged.
    package init(
        cacheFolder: String, stateFolder: String, searchLimit: Duration = Databases.searchLimit, logger: Logger,
        willTakeLong: @escaping @Sendable () -> Void = {}
    ) async throws(StoreError) {
        state = try await DatabaseFile(.state, folder: stateFolder, logger: logger, willTakeLong: willTakeLong)
        cache = try await DatabaseFile(.cache, folder: cacheFolder, logger: logger)
        (self.logger, self.searchLimit) = (logger, searchLimit)
        let key = try? await state.read { try $0.value("SELECT key FROM cursor_key") as UInt64? }
        cursorKey = key.flatMap { $0 } ?? .random(in: .min ... .max)
        // At the priority of the process, because the start waits for it.
        await BackgroundThreads.starting.run { _ in measureSpace() }
    }

    /// Closes both files, and writes back their write-ahead logs.
    package func close() async {
        await cache.close()
        await state.close()
    }

    // MARK: Reading and writing

    static let searchTimedOut = ResponseError.busy(
        "The search took too long.", hint: "Search for a longer or rarer text.")

    /// Reads one snapshot of a database.
    ///
    /// - Parameter limit: the longest time of the body; ``searchLimit`` for a scan of all rows.
    /// - Throws: `-32005`, `-32004` after the limit, and a response error of the body.
    func read<Value: Sendable>(
        _ file: DatabaseFile, within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do { return try await file.read(within: limit, body) } catch let error as ResponseError {
            throw error
        } catch let error as DatabaseError where error.isTimeLimit {
            throw Databases.searchTimedOut
        } catch is CancellationError {
            throw .shuttingDown
        } catch {
            logger.error("database.unreadable", metadata: ["file": "\(file.kind.fileName)", "error": "\(error)"])
            let name = file.kind.isState ? "state" : "cache"
            throw .storage("The \(name) cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    /// Changes a database: completely, or not at all if the body throws.
    ///
    /// - Throws: `failed`, or the body's error.
    func write<Value: Sendable>(
        _ file: DatabaseFile, isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await file.write(isCancellable: isCancellable, body) } catch let error as StoreError {
            throw error
        } catch {
            throw .notChanged(file.path, "\(error)")
        }
    }

    /// Changes the state for a request; the change is on disk when this returns.
    ///
    /// - Throws: `-32005`, also if the change would be lost with the process; and a response error of the body.
    func changeState<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        let refusal = ResponseError.storage(
            "Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
        do {
            return try await state.write { [state] database in
                // Here, because a write that met damage is repeated on the file's replacement.
                guard state.condition.isWritable else { throw refusal }
                return try body(database)
            }
        } catch let error as ResponseError {
            throw error
        } catch is CancellationError {
            throw .shuttingDown
        } catch {
            throw refusal
        }
    }

    // MARK: Fetches in steps

    /// The generation of a source's content; see ``SourceImport``.
    func generation(of source: String) -> Int { clears.withLock { $0[source] ?? 0 } + cache.generation }

    /// Ends the generation: in each transaction that clears the content, and when the source becomes another one.
    func noteCleared(_ source: String) { clears.withLock { $0[source, default: 0] += 1 } }

    /// The error of an import whose generation has ended.
    static let contentGone = StoreError(
        DatabaseKind.cache.fileName, .contentGone, "the content was removed while it was stored; it is fetched again")

    // MARK: Faults

    /// - Parameter body: called on any thread when ``faults`` or a file may have changed.
    package func onChange(_ body: @escaping @Sendable () -> Void) {
        for file in [cache, state] { file.changes.set(body) }
    }

    /// The number of replacements of each file, after which its content in memory must be read or written again; and
    /// whether the cache cannot be written.
    package struct Condition: Sendable {
        package let cacheGeneration: Int
        package let stateGeneration: Int
        package let isCacheFailing: Bool
    }

    package var condition: Condition {
        Condition(
            cacheGeneration: cache.generation, stateGeneration: state.generation,
            isCacheFailing: cache.isFailing)
    }

    /// The faults of the databases, one sentence each.
    package var faults: [String] {
        [cache, state].flatMap { file in
            let name = file.kind.fileName
            let condition: String? =
                switch file.condition {
                case .good: nil
                case .replaced(let sentence): sentence
                case .readOnly(let detail): "\(name) is read-only: \(detail)"
                case .inMemory(let detail): "\(name) is in memory: \(detail)"
                }
            return [condition, file.writeFailure.map { "\(name) takes no writes: \($0)" }].compactMap { $0 }
        }
    }

    /// Whether a database cannot be written now.
    package var isReadOnly: Bool { cache.isFailing || state.isFailing }

    /// Measures the space, tries to use the disks again after a failure, and notices deleted files.
    package func heal() async {
        // One job, because each wakes up the services.
        let places = await BackgroundThreads.background.run { [self] _ in
            measureSpace()
            return [cache.place, state.place]
        }
        for (file, place) in zip([cache, state], places) { await file.heal(place) }
    }

    /// Makes `state.db.bak` if the state has changed since the last copy.
    ///
    /// - Parameter limit: the time after which an unfinished copy is given up.
    package func backUp(within limit: Duration? = nil, isCancelled: Cancellation = Cancellation()) async {
        await state.backUp(within: limit, isCancelled: isCancelled)
    }

    /// The bytes of the databases on disk, and the free bytes.
    package struct Space: Equatable, Sendable {
        package var cache = 0
        package var state = 0
        /// The free bytes for this user, on the fuller of the file systems; nil without a file.
        package var free: Int?
    }

    /// The space at the start, or at the last ``heal()``. From memory, for callers that must not wait for a file
    /// system.
    package var space: Space { measuredSpace.withLock { $0 } }

    /// Blocking.
    private func measureSpace() {
        let free = [cache.path, state.path].compactMap(Folder.freeBytes(besides:)).min()
        let space = Space(cache: cache.sizeOnDisk, state: state.sizeOnDisk, free: free)
        measuredSpace.withLock { $0 = space }
    }
}

/// The reason why a folder or a database cannot be used, and the correction.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Another daemon uses the folder.
        case locked
        /// A newer norrisd or another program has written the file, which stays unchanged.
        case refused
        /// The content of the file prevents a migration.
        case failedMigration
        /// The folder or file cannot be created, written or changed, or the change was cancelled.
        case failed
        /// The content of the source was removed while a fetch was stored.
        case contentGone

        /// The exit status of a start that ends (sysexits.h). nil if norrisd goes on without the file, and tries again.
        package var exitStatus: CInt? {
            switch self {
            case .locked: EX_TEMPFAIL
            case .refused: EX_CONFIG
            case .failedMigration, .failed, .contentGone: nil
            }
        }
    }

    package let path: String
    package let reason: Reason
    /// The reason in words, and the correction.
    private let problem: String

    init(_ path: String, _ reason: Reason, _ problem: String) {
        (self.path, self.reason, self.problem) = (path, reason, problem)
    }

    static func notWritable(_ path: String, _ detail: String) -> StoreError {
        let correction = "check the folder's owner and permissions, and the disk's space"
        return StoreError(path, .failed, "cannot be written (\(detail)); \(correction)")
    }

    static func notChanged(_ path: String, _ detail: String) -> StoreError {
        StoreError(path, .failed, "could not be changed (\(detail)); check the disk, its space, and who owns the file")
    }

    package var description: String { "\(path): \(problem)" }
}
