package import NorrisProtocol
package import NorrisSystem
import Synchronization

/// The calls that a source has made in the last hour, counted over restarts.
///
/// A call is on the disk before it is granted. Where the disk takes no writes it is counted in memory all the same, and
/// written together with the next.
package final class QuotaLedger: Sendable {
    private let source: String
    private let databases: Databases
    private let window: Mutex<QuotaWindow>

    /// Reads the calls of earlier runs.
    package init(source: String, databases: Databases, _ access: BlockingAccess) {
        self.source = source
        self.databases = databases
        let calls = try? databases.read(.state, access) { database in
            try Timestamp.fetchAll(database, "SELECT at FROM quota_calls WHERE source = ?", [source])
        }
        window = Mutex(QuotaWindow(calls: calls ?? []))
    }

    /// Counts a call that is about to be made, if there is one left.
    ///
    /// - Parameters:
    ///   - uid: the user that it is made for, which has a share of the quota.
    ///   - limit: calls in an hour.
    package func take(
        _ purpose: QuotaWindow.Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp = .now()
    ) async -> QuotaWindow.Answer {
        let (answer, isRolledBack) = window.withLock { window in
            (window.take(purpose, by: uid, limit: limit, now: now), window.rolledBackTo != nil)
        }
        guard answer == .granted || isRolledBack else { return answer }
        // Writes run one after the other, each with all calls that the ones before did not write.
        _ = try? await databases.write(.state) { [self] database in
            let (calls, rolledBackTo) = window.withLock { ($0.calls.suffix($0.unwritten), $0.rolledBackTo) }
            if let rolledBackTo {
                let sql = "UPDATE quota_calls SET at = ? WHERE source = ? AND at > ?"
                try database.execute(sql, [rolledBackTo, source, rolledBackTo])
            }
            // The oldest have the lowest numbers, so no row behind the first that counts is read.
            try database.execute(
                """
                DELETE FROM quota_calls WHERE source = ? AND rowid < ifnull((
                    SELECT rowid FROM quota_calls WHERE source = ? AND at > ? ORDER BY rowid LIMIT 1
                ), \(Int64.max))
                """, [source, source, now.seconds - QuotaWindow.length])
            for call in calls {
                try database.execute("INSERT INTO quota_calls (source, at) VALUES (?, ?)", [source, call])
            }
            database.afterCommit { [self] in
                window.withLock { window in
                    window.unwritten = max(window.unwritten - calls.count, 0)
                    if window.rolledBackTo == rolledBackTo { window.rolledBackTo = nil }
                }
            }
        }
        return answer
    }

    /// From memory, for callers that must not wait.
    package func status(limit: Int, now: Timestamp = .now()) -> SourceStatus.Quota {
        let window = window.withLock { $0 }
        return SourceStatus.Quota(limit: limit, used: window.used(now: now), resetsAt: window.resetsAt(now: now))
    }

    /// When the next call may be taken, which may be now; nil for never. From memory.
    package func nextFree(
        _ purpose: QuotaWindow.Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp = .now()
    ) -> Timestamp? { window.withLock { $0 }.nextFree(purpose, by: uid, limit: limit, now: now) }
}

/// A quota of calls in any 3,600 seconds, a fifth of it reserved for users. A call counts from the second it is taken.
///
/// A user is granted a call while fewer calls were made for that user than are left for all: whoever uses the quota up
/// to that leaves half of it to the others, who leave half of that, and so on. Who calls were made for is not stored.
package struct QuotaWindow: Sendable, Equatable {
    /// Who a call is for.
    package enum Purpose: Sendable {
        /// A user waits for the reply.
        case user
        case background
    }

    package enum Answer: Sendable, Equatable {
        case granted
        /// - Parameter until: when there is a call again; nil for never, as the limit is.
        case exhausted(until: Timestamp?)
    }

    static let length: Int64 = 3_600
    /// The last tenth of the calls is for users who have had less than a tenth: one user cannot take them all.
    static let reservedForOthers = 10

    private struct UserCall: Equatable {
        let uid: UInt32
        var at: Timestamp
    }

    /// When those that may still count were made, oldest first.
    private(set) var calls: [Timestamp]
    /// Those that were made for users, oldest first.
    private var userCalls: [UserCall] = []
    /// How many of the newest are not on the disk yet.
    fileprivate(set) var unwritten = 0
    /// The time that replaced later ones after a clock rollback, until it does so on the disk too.
    fileprivate(set) var rolledBackTo: Timestamp?

    package init(calls: [Timestamp] = []) { self.calls = calls.sorted() }

    /// Counts a call, if there is one left.
    package mutating func take(_ purpose: Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp) -> Answer {
        if let last = calls.last, last > now { rolledBackTo = now }
        calls = counting(at: now)
        userCalls = userCalls.map { UserCall(uid: $0.uid, at: min($0.at, now)) }
            .filter { QuotaWindow.end(of: $0.at) > now }
        let free = nextFree(purpose, by: uid, limit: limit, now: now)
        guard free == now else { return .exhausted(until: free) }
        calls.append(now)
        if let uid { userCalls.append(UserCall(uid: uid, at: now)) }
        unwritten = min(unwritten + 1, calls.count)
        return .granted
    }

    package func used(now: Timestamp) -> Int { counting(at: now).count }

    /// When the last of the calls no longer counts.
    package func resetsAt(now: Timestamp) -> Timestamp { counting(at: now).last.map(QuotaWindow.end) ?? now }

    /// When the next call may be taken, which may be now; nil for never.
    ///
    /// - Parameter uid: nil for any user that had no call yet.
    package func nextFree(_ purpose: Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp) -> Timestamp? {
        let allowed = QuotaWindow.share(of: purpose, limit: limit)
        guard allowed > 0 else { return nil }
        var left = counting(at: now)[...]
        let reserve = limit / QuotaWindow.reservedForOthers
        var own = userCalls.filter { $0.uid == uid }.map { min($0.at, now) }[...]
        var time = left.count < allowed ? now : QuotaWindow.end(of: left[left.count - allowed])
        while true {
            left = left.drop { QuotaWindow.end(of: $0) <= time }
            own = own.drop { QuotaWindow.end(of: $0) <= time }
            guard uid != nil, own.count >= reserve, limit - left.count <= reserve, let oldest = left.first else {
                return time
            }
            time = QuotaWindow.end(of: oldest)
        }
    }

    /// How many of all calls there may be when one of this purpose is the last.
    private static func share(of purpose: Purpose, limit: Int) -> Int {
        switch purpose {
        case .user: limit
        case .background: limit - limit / 5 - (limit % 5).signum()
        }
    }

    /// The calls that count. One in the future was made before a clock rollback, and counts as made now.
    private func counting(at now: Timestamp) -> [Timestamp] {
        calls.map { min($0, now) }.filter { QuotaWindow.end(of: $0) > now }
    }

    private static func end(of call: Timestamp) -> Timestamp { Timestamp(seconds: call.seconds + length) }
}
