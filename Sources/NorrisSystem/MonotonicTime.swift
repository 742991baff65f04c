import Glibc

/// The time since a fixed moment in nanoseconds, on a clock that is never set. Swift's clocks return 128 bits, which
/// doubles the cost of reading the clock.
package func monotonicNanoseconds() -> Int {
    var time = timespec()
    // Fails only for an unknown clock (clock_gettime(2)).
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The time of ``monotonicNanoseconds()``.
package func monotonicTime() -> Duration { .nanoseconds(monotonicNanoseconds()) }

/// A time on the monotonic clock at which all waits end.
///
/// All steps of a call share one deadline, so that their timeouts do not add up.
package struct Deadline: Sendable {
    /// Since the beginning of the clock.
    private let moment: Duration

    /// Durations of more than 30 years count as 30 years.
    package init(after duration: Duration) { moment = monotonicTime() + min(duration, .seconds(1_000_000_000)) }

    /// Later than any wait.
    package static let never = Deadline(after: .seconds(1_000_000_000))

    /// The earlier of this deadline and one after a duration.
    package func orAfter(_ duration: Duration) -> Deadline {
        let other = Deadline(after: duration)
        return other.moment < moment ? other : self
    }

    package var hasPassed: Bool { monotonicTime() >= moment }

    /// The remaining time in the milliseconds of poll(2).
    package var pollTimeout: Int32 { (moment - monotonicTime()).pollTimeout }
}

extension Duration {
    /// In the milliseconds of poll(2), rounded up, so that poll never returns before the time; at least 0.
    package var pollTimeout: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = min(self, .seconds(1_000_000_000)).components
        return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
