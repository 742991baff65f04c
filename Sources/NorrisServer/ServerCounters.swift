import NorrisProtocol
import Synchronization

/// Counts connections, requests and errors, for readers on any thread. Only the event loop writes.
package final class ServerCounters: Sendable {
    /// Of the methods of ``MethodTable``, in its order.
    let methods = MethodTable.methods.map { RequestMeter(name: $0.name) }
    let unknownMethods = Atomic<Int>(0)
    private let errors: [13 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let open = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    /// Why requests fail: a closed set, so that no client can add to it by what it sends. The last stands for any other.
    static let errorReasons = [
        "busy", "internal", "invalid_params", "invalid_request", "line_too_long", "not_found", "nothing_cached",
        "parse_error", "permission_denied", "shutting_down", "storage", "unknown_method", "other",
    ]

    package init() {}

    /// Connections that are open now.
    package var openConnections: Int { open.load(ordering: .relaxed) }

    /// All connections that were ever served.
    package var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    /// Connections that were past a limit.
    package var refusedConnections: Int { refused.load(ordering: .relaxed) }

    /// How many requests and notifications were well-formed so far.
    package var requestsTotal: Int {
        methods.reduce(unknownMethods.load(ordering: .relaxed)) { $0 + $1.requests }
    }

    /// The requests so far.
    package var requests: RequestCounts {
        RequestCounts(
            methods: methods.map(\.counts),
            unknown: unknownMethods.load(ordering: .relaxed),
            errors: ServerCounters.errorReasons.enumerated().map { ($1, errors[$0].load(ordering: .relaxed)) }
        )
    }

    func connectionOpened() {
        accepted.addAlone(1)
        open.addAlone(1)
    }

    func connectionClosed() { open.addAlone(-1) }

    func connectionRefused() { refused.addAlone(1) }

    /// A request failed, with or without a reply.
    func count(_ error: ResponseError) {
        let reasons = ServerCounters.errorReasons
        errors[reasons.firstIndex(of: error.reason) ?? reasons.count - 1].addAlone(1)
    }
}

/// The requests until a moment.
package struct RequestCounts: Sendable {
    /// The requests to one method.
    package struct Method: Sendable {
        package var name: String
        /// How many were well-formed, those without a reply yet included.
        package var requests: Int
        /// Of those that were processed: until the result was ready to be sent.
        package var latency: Latency

        package init(name: String, requests: Int, latency: Latency) {
            (self.name, self.requests, self.latency) = (name, requests, latency)
        }
    }

    /// Sorted by name.
    package var methods: [Method]
    /// How many were to methods that are not in the table.
    package var unknown: Int
    /// How many requests failed for which reason; lines that were no requests included.
    package var errors: [(reason: String, count: Int)]

    package init(methods: [Method], unknown: Int, errors: [(reason: String, count: Int)]) {
        (self.methods, self.unknown, self.errors) = (methods, unknown, errors)
    }
}

/// How long the requests took until a moment.
package struct Latency: Equatable, Sendable {
    /// The upper bounds of the buckets in seconds, each within its bucket; one more bucket is for all above.
    package static let bounds = RequestMeter.bounds.indices.map { Double(RequestMeter.bounds[$0]) / 1e9 }

    /// How many requests fell into each bucket, those of lower ones not counted again.
    package var counts: [Int]
    /// Of all of them together.
    package var nanoseconds: Int

    package init(counts: [Int], nanoseconds: Int) {
        (self.counts, self.nanoseconds) = (counts, nanoseconds)
    }
}

/// Counts and times the requests to one method.
final class RequestMeter: Sendable {
    /// In nanoseconds: from what is served from memory to what waits for an upstream.
    static let bounds: InlineArray<10, Int> = [
        10_000, 50_000, 250_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000,
        2_500_000_000,
    ]

    private let name: String
    private let begun = Atomic<Int>(0)
    private let buckets: [11 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let sum = Atomic<Int>(0)

    init(name: String) {
        self.name = name
    }

    /// A request begins.
    func begin() { begun.addAlone(1) }

    /// The result or error of a request is there, which began then, in nanoseconds of the monotonic clock.
    func end(_ start: Int) { record(count: 1, nanoseconds: monotonicNanoseconds() - start) }

    /// So many requests took this time together: each counts as having taken its part of it.
    func record(count: Int, nanoseconds: Int) {
        let each = nanoseconds / max(count, 1)
        var bucket = 0
        while bucket < RequestMeter.bounds.count, each > RequestMeter.bounds[bucket] { bucket += 1 }
        buckets[bucket].addAlone(count)
        sum.addAlone(nanoseconds)
    }

    var requests: Int { begun.load(ordering: .relaxed) }

    /// Of a record that is under way the sum may lack.
    var counts: RequestCounts.Method {
        let counts = buckets.indices.map { buckets[$0].load(ordering: .relaxed) }
        let latency = Latency(counts: counts, nanoseconds: sum.load(ordering: .relaxed))
        return RequestCounts.Method(name: name, requests: requests, latency: latency)
    }
}

extension Atomic where Value == Int {
    /// Adds where no other thread writes: an atomic addition costs as much as ten plain ones.
    func addAlone(_ count: Int) {
        store(load(ordering: .relaxed) + count, ordering: .relaxed)
    }
}
