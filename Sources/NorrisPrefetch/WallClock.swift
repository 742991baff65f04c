package import NorrisProtocol

/// The time of day, which may jump, and ways to measure and to wait that do not, so that tests can turn them.
package protocol WallClock: Sendable {
    var now: Timestamp { get }

    /// The time since some fixed moment.
    var elapsed: Duration { get }

    /// Returns when the time has passed.
    ///
    /// - Throws: where the task is cancelled before.
    func sleep(for duration: Duration) async throws
}

/// The machine's clocks.
package struct SystemClock: WallClock {
    private let start = ContinuousClock.now

    package init() {}

    package var now: Timestamp { .now() }

    package var elapsed: Duration { start.duration(to: .now) }

    package func sleep(for duration: Duration) async throws {
        try await ThreadExecutor.services.sleep(for: duration)
    }
}

extension Timestamp {
    /// The first whole second at which so much time has passed.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, rest) = duration.components
        return Timestamp(seconds: self.seconds + seconds + (rest > 0 ? 1 : 0))
    }

    /// This time, or now where it is later. What has happened lies ahead only after a clock rollback: nobody knows how
    /// long ago it was, so it counts as having just happened.
    package func past(_ now: Timestamp) -> Timestamp { min(self, now) }

    package func duration(to other: Timestamp) -> Duration {
        .seconds(other.seconds - seconds)
    }
}
