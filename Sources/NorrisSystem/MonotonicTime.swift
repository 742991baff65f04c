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
