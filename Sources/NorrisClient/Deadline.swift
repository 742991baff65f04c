import NorrisSystem

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

    package var hasPassed: Bool { monotonicTime() >= moment }

    /// The remaining time in the milliseconds of poll(2).
    var pollTimeout: Int32 { (moment - monotonicTime()).pollTimeout }
}

extension Duration {
    /// In the milliseconds of poll(2), rounded up, so that poll never returns before the time; at least 0.
    var pollTimeout: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = min(self, .seconds(1_000_000_000)).components
        return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
