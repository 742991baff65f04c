package import NorrisProtocol

/// A budget of calls in any 3,600 seconds, a fifth of it kept for users. A call counts from the second it is taken in.
package struct QuotaWindow: Sendable, Equatable {
    /// Who a call is for.
    package enum Purpose: Sendable {
        /// Somebody waits for the answer.
        case user
        case background
    }

    package enum Answer: Sendable, Equatable {
        case granted
        /// - Parameter until: when to ask again; nil for never, as the limit is.
        case exhausted(until: Timestamp?)
    }

    static let length: Int64 = 3_600

    /// When those that may still count were made, oldest first.
    private(set) var calls: [Timestamp]

    package init(calls: [Timestamp] = []) {
        self.calls = calls.sorted()
    }

    /// Counts a call, if there is one left.
    package mutating func take(_ purpose: Purpose, limit: Int, now: Timestamp) -> Answer {
        calls = counting(at: now)
        let free = nextFree(purpose, limit: limit, now: now)
        guard free == now else { return .exhausted(until: free) }
        calls.append(now)
        return .granted
    }

    package func used(now: Timestamp) -> Int {
        counting(at: now).count
    }

    /// When the last of the calls is back, and the budget whole.
    package func resetsAt(now: Timestamp) -> Timestamp {
        counting(at: now).last.map(QuotaWindow.end) ?? now
    }

    /// When the next call may be taken, which may be now; nil for never.
    package func nextFree(_ purpose: Purpose, limit: Int, now: Timestamp) -> Timestamp? {
        let allowed = QuotaWindow.share(of: purpose, limit: limit)
        guard allowed > 0 else { return nil }
        let calls = counting(at: now)
        return calls.count < allowed ? now : QuotaWindow.end(of: calls[calls.count - allowed])
    }

    /// How many of all calls there may be when one of this purpose is the last.
    private static func share(of purpose: Purpose, limit: Int) -> Int {
        switch purpose {
        case .user: limit
        case .background: limit - limit / 5 - (limit % 5).signum()
        }
    }

    /// The calls that count. One of the future was made before the clock was set back, and counts as made now.
    private func counting(at now: Timestamp) -> [Timestamp] {
        calls.map { min($0, now) }.filter { QuotaWindow.end(of: $0) > now }
    }

    private static func end(of call: Timestamp) -> Timestamp {
        Timestamp(seconds: call.seconds + length)
    }
}
