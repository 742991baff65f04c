package import NorrisProtocol
import Synchronization

/// The requests of a source in the last hour, counted across restarts.
///
/// A request is on disk before it is granted. If the disk accepts no writes, requests are counted in memory and written
/// together with a later one.
package final class QuotaLedger: Sendable {
    private let source: String
    private let databases: Databases
    private let window = Mutex(QuotaWindow())

    package init(source: String, databases: Databases) {
        (self.source, self.databases) = (source, databases)
    }

    /// Adds the stored requests of earlier processes to the requests of this process.
    package func read() async {
        let calls = try? await databases.read(databases.state) { [source] database in
            try database.value("SELECT calls FROM quotas WHERE source = ?", [source]) as String?
        }
        let times = calls.flatMap { $0 }?.split(separator: " ").compactMap { Int64($0).flatMap(QuotaLedger.time) }
        window.withLock { $0.add(times ?? []) }
    }

    /// nil for a time that norrisd did not store.
    private static func time(_ seconds: Int64) -> Timestamp? {
        0...1 << 40 ~= seconds ? Timestamp(seconds: seconds) : nil
    }

    /// Counts a request before it is sent, if the quota permits.
    ///
    /// - Parameters:
    ///   - uid: the user of the request, who has a share of the quota.
    ///   - limit: requests in an hour.
    package func take(
        _ purpose: QuotaWindow.Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp = .now()
    ) async -> QuotaWindow.Answer {
        let answer = window.withLock { $0.take(purpose, by: uid, limit: limit, now: now) }
        guard answer == .granted else { return answer }
        _ = try? await databases.write(databases.state) { [self] database in
            let calls = window.withLock { $0.calls }.map { String($0.seconds) }.joined(separator: " ")
            try database.execute("INSERT OR REPLACE INTO quotas (source, calls) VALUES (?, ?)", [source, calls])
        }
        return answer
    }

    /// From memory, for callers that must not wait.
    package func status(limit: Int, now: Timestamp = .now()) -> SourceStatus.Quota {
        let window = window.withLock { $0 }
        return SourceStatus.Quota(limit: limit, used: window.used(now: now), resetsAt: window.resetsAt(now: now))
    }

    /// The earliest time of the next request, which may be now; nil for never. From memory.
    package func nextFree(
        _ purpose: QuotaWindow.Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp = .now()
    ) -> Timestamp? { window.withLock { $0 }.nextFree(purpose, by: uid, limit: limit, now: now) }
}

/// A quota of requests in any 3,600 seconds, with a fifth reserved for users. A request counts from the second in which
/// it is granted.
///
/// The last tenth of the quota is left to users who had less than a tenth. The users of requests are not stored.
package struct QuotaWindow: Sendable, Equatable {
    /// The purpose of a request.
    package enum Purpose: Sendable {
        /// A user waits for the reply.
        case user
        case background
    }

    package enum Answer: Sendable, Equatable {
        case granted
        /// - Parameter until: the time of the next available request; nil for never.
        case exhausted(until: Timestamp?)
    }

    static let length: Int64 = 3_600
    /// The last tenth of the quota is for users who had less than a tenth, so that one user cannot use all of it.
    static let reservedForOthers = 10

    private struct UserCall: Equatable {
        let uid: UInt32
        var at: Timestamp
    }

    /// The times of the requests that may still count, oldest first.
    private(set) var calls: [Timestamp]
    /// The requests for users, oldest first.
    private var userCalls: [UserCall] = []

    package init(calls: [Timestamp] = []) { self.calls = calls.sorted() }

    /// Adds stored requests, except those of seconds that the window contains.
    mutating func add(_ stored: [Timestamp]) {
        let known = Set(calls)
        calls = (calls + stored.filter { !known.contains($0) }).sorted()
    }

    /// Counts a request if the quota permits.
    package mutating func take(_ purpose: Purpose, by uid: UInt32? = nil, limit: Int, now: Timestamp) -> Answer {
        calls = counting(at: now)
        userCalls = userCalls.map { UserCall(uid: $0.uid, at: min($0.at, now)) }
            .filter { QuotaWindow.end(of: $0.at) > now }
        let free = nextFree(purpose, by: uid, limit: limit, now: now)
        guard free == now else { return .exhausted(until: free) }
        calls.append(now)
        if let uid { userCalls.append(UserCall(uid: uid, at: now)) }
        return .granted
    }

    package func used(now: Timestamp) -> Int { counting(at: now).count }

    /// The time when the last request no longer counts.
    package func resetsAt(now: Timestamp) -> Timestamp { counting(at: now).last.map(QuotaWindow.end) ?? now }

    /// The earliest time of the next request, which may be now; nil for never.
    ///
    /// - Parameter uid: nil for a user without requests.
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

    /// The number of all requests up to which a request of this purpose is granted.
    private static func share(of purpose: Purpose, limit: Int) -> Int {
        switch purpose {
        case .user: limit
        case .background: limit - limit / 5 - (limit % 5).signum()
        }
    }

    /// The requests that count. A time in the future is from before a clock rollback, and counts as now.
    private func counting(at now: Timestamp) -> [Timestamp] {
        calls.map { min($0, now) }.filter { QuotaWindow.end(of: $0) > now }
    }

    private static func end(of call: Timestamp) -> Timestamp { Timestamp(seconds: call.seconds + length) }
}
