import Logging
import NorrisPrefetch
import Synchronization

/// Passes lines on to another sink, but holds back what repeats itself too often.
final class RateLimitedSink: LogSink {
    private let sink: any LogSink
    private let clock: any WallClock
    private let limiter = Mutex(RepeatLimiter())

    init(_ sink: any LogSink, clock: any WallClock) {
        self.sink = sink
        self.clock = clock
    }

    func write(_ line: LogLine) {
        writeEnded()
        let (now, time) = (clock.elapsed, clock.now)
        if limiter.withLock({ $0.admits(line, at: now, time) }) { sink.write(line) }
    }

    /// Writes what was held back in windows that are over. Somebody has to call it now and then, or the last lines of
    /// something that has ceased would wait for the next of its kind.
    func writeEnded() {
        let now = clock.elapsed
        for line in limiter.withLock({ $0.takeEnded(at: now) }) { sink.write(line) }
    }

    /// Writes all that was held back, at the end.
    func finish() {
        for line in limiter.withLock({ $0.takeAll() }) { sink.write(line) }
    }
}
