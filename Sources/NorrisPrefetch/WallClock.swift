package import NorrisProtocol
import NorrisSystem

/// The time of day, which may jump, and a time that does not, for measuring and waiting. Tests replace both.
package protocol WallClock: Sendable {
    var now: Timestamp { get }

    /// The time since a fixed moment.
    var elapsed: Duration { get }

    /// Returns when the time has passed.
    ///
    /// - Throws: if the task is cancelled before.
    func sleep(for duration: Duration) async throws
}

/// The machine's clocks.
package struct SystemClock: WallClock {
    private let start = ContinuousClock.now

    package init() {}

    package var now: Timestamp { .now() }

    package var elapsed: Duration { start.duration(to: .now) }

    package func sleep(for duration: Duration) async throws { try await ThreadExecutor.services.sleep(for: duration) }
}
