package import Logging
package import NorrisProtocol
import Synchronization

/// The calls that a source has made in the last hour, counted over restarts.
///
/// A call is on the disk before it is granted. Where the disk takes no writes it is counted in memory all the same, and
/// written together with the next.
package final class QuotaLedger: Sendable {
    private struct State {
        var window: QuotaWindow
        /// Calls that are not on the disk.
        var unwritten: [Timestamp] = []
    }

    private let source: String
    private let databases: Databases
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads what was counted before; blocking.
    package init(source: String, databases: Databases, logger: Logger) {
        self.source = source
        self.databases = databases
        self.logger = logger
        let calls = try? databases.read(.state, logger: logger) { database in
            try Int64.fetchAll(database, sql: "SELECT at FROM quota_calls WHERE source = ?", arguments: [source])
        }
        state = Mutex(State(window: QuotaWindow(calls: (calls ?? []).map(Timestamp.init(seconds:)))))
    }

    /// Counts a call that is about to be made, if there is one left.
    ///
    /// - Parameter limit: calls in an hour.
    package func take(
        _ purpose: QuotaWindow.Purpose, limit: Int, now: Timestamp = .now()
    ) async -> QuotaWindow.Answer {
        let (answer, calls) = state.withLock { state in
            let answer = state.window.take(purpose, limit: limit, now: now)
            guard answer == .granted else { return (answer, [Timestamp]()) }
            defer { state.unwritten = [] }
            return (answer, state.unwritten + [now])
        }
        guard answer == .granted else { return answer }
        do {
            try await databases.write(.state, logger: logger) { [source] database in
                try QuotaLedger.keep(calls, of: source, now: now, database)
            }
        } catch {
            state.withLock { $0.unwritten += calls }
        }
        return .granted
    }

    /// From memory, for whoever must not wait.
    package func status(limit: Int, now: Timestamp = .now()) -> SourceStatus.Quota {
        let window = state.withLock { $0.window }
        return SourceStatus.Quota(limit: limit, used: window.used(now: now), resetsAt: window.resetsAt(now: now))
    }

    /// When the next call may be taken, which may be now; nil for never. From memory.
    package func nextFree(_ purpose: QuotaWindow.Purpose, limit: Int, now: Timestamp = .now()) -> Timestamp? {
        state.withLock { $0.window }.nextFree(purpose, limit: limit, now: now)
    }

    /// Adds calls, and takes out those that no longer count.
    private static func keep(
        _ calls: [Timestamp], of source: String, now: Timestamp, _ database: Database
    ) throws {
        // As the window does, or a clock that was set back would leave rows that count after every start.
        try database.execute(
            sql: "UPDATE quota_calls SET at = ? WHERE source = ? AND at > ?",
            arguments: [now.seconds, source, now.seconds]
        )
        try database.execute(
            sql: "DELETE FROM quota_calls WHERE source = ? AND at <= ?",
            arguments: [source, now.seconds - QuotaWindow.length]
        )
        for call in calls {
            try database.execute(
                sql: "INSERT INTO quota_calls (source, at) VALUES (?, ?)", arguments: [source, call.seconds]
            )
        }
    }
}
