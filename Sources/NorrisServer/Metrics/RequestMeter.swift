import Synchronization

/// Counts and times the requests to one method, for readers on any thread. Only the event loop writes.
struct RequestMeter: ~Copyable, Sendable {
    private let requests = Atomic<Int>(0)
    private let latency = LatencyHistogram()

    /// A request begins.
    func begin() {
        requests.addAlone(1)
    }

    /// The result of a request that began then, in nanoseconds of the monotonic clock, or its error, is there.
    func end(_ start: Int) {
        latency.record(count: 1, nanoseconds: monotonicNanoseconds() - start)
    }

    /// So many requests were answered in this time together: each counts as having taken its part of it.
    func record(count: Int, nanoseconds: Int) {
        latency.record(count: count, nanoseconds: nanoseconds)
    }

    var total: Int { requests.load(ordering: .relaxed) }

    func counts(name: String) -> RequestCounts.Method {
        RequestCounts.Method(name: name, requests: total, latency: latency.latency)
    }
}

extension Atomic where Value == Int {
    /// Adds where no other thread writes: an atomic addition costs as much as ten plain ones.
    func addAlone(_ count: Int) {
        store(load(ordering: .relaxed) + count, ordering: .relaxed)
    }
}
