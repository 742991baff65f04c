package import NorrisProtocol
import NorrisThreads

/// The time of day, which may jump, and a monotonic clock. Tests replace both.
package protocol WallClock: Sendable {
    var now: Timestamp { get }

    /// The monotonic time since a fixed moment.
    var elapsed: Duration { get }

    /// Returns when the time has passed. Throws if the task is cancelled first.
    func sleep(for duration: Duration) async throws
}

package struct SystemClock: WallClock {
    private let start = ContinuousClock.now

    package init() {}

    package var now: Timestamp { .now() }

    package var elapsed: Duration { start.duration(to: .now) }

    package func sleep(for duration: Duration) async throws { try await ThreadExecutor.services.sleep(for: duration) }
}
