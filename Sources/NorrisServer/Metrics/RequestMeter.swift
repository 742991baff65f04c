import Glibc
import Synchronization

/// Counts and times the requests to one method, from any thread.
struct RequestMeter: ~Copyable, Sendable {
    private let requests = Atomic<Int>(0)
    private let latency = LatencyHistogram()

    /// A request begins.
    ///
    /// - Returns: its time, for ``end(_:)``.
    func begin() -> Int {
        requests.add(1, ordering: .relaxed)
        return monotonicNanoseconds()
    }

    /// The result of the request that began then, or its error, is there.
    func end(_ start: Int) {
        latency.record(nanoseconds: monotonicNanoseconds() - start)
    }

    var total: Int { requests.load(ordering: .relaxed) }

    func counts(name: String) -> RequestCounts.Method {
        RequestCounts.Method(name: name, requests: total, latency: latency.latency)
    }
}

/// Swift's own clocks give a time of 128 bits, which costs as much again as reading the clock.
private func monotonicNanoseconds() -> Int {
    var time = timespec()
    // Fails only for a clock that the kernel does not have (clock_gettime(2)).
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
