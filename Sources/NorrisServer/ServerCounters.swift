import NorrisProtocol
import NorrisSystem
import Synchronization

/// Counts connections, requests and errors, for readers on any thread. Only the event loop writes.
package final class ServerCounters: Sendable {
    /// The meters of all methods, in the order of ``MethodTable``.
    package let methods = MethodTable.methods.map { RequestMeter(name: $0.name) }
    /// The well-formed requests to unknown methods.
    package let unknownRequests = Counter()
    /// Indexed by ``ErrorCode/reasons``; the last counter is for unknown reasons.
    private let failures: [13 of Counter] = InlineArray { _ in Counter() }
    package let openConnections = Counter()
    /// All served connections.
    package let acceptedConnections = Counter()
    /// The connections that were refused because of a limit.
    package let refusedConnections = Counter()

    package init() {}

    /// The number of well-formed requests and notifications.
    package var requestsTotal: Int { methods.reduce(unknownRequests.count) { $0 + $1.requests.count } }

    /// The number of failed requests by reason, including invalid lines.
    package var errors: [(reason: String, count: Int)] {
        (ErrorCode.reasons.map(\.reason) + ["other"]).enumerated().map {
            ($1, failures[$0].count)
        }
    }

    /// Counts a failed request, with or without a reply.
    func count(_ error: ResponseError) {
        failures[ErrorCode.reasons.firstIndex { $0.reason == error.reason } ?? failures.count - 1].add(1)
    }
}

/// A number that one thread changes and any thread reads.
package struct Counter: ~Copyable, Sendable {
    private let value = Atomic<Int>(0)

    package var count: Int { value.load(ordering: .relaxed) }

    /// Adds without an atomic addition, because no other thread writes and an atomic addition costs as much as ten
    /// plain additions.
    func add(_ count: Int) { value.store(self.count + count, ordering: .relaxed) }
}

/// Counts and times the requests to one method.
package final class RequestMeter: Sendable {
    /// The upper bounds of the buckets in nanoseconds, inclusive, from replies from memory to replies from an upstream.
    /// One more bucket is for longer times.
    package static let bounds: InlineArray<10, Int> = [
        10_000, 50_000, 250_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000,
        2_500_000_000,
    ]

    package let name: String
    /// The well-formed requests, including requests without a reply yet.
    package let requests = Counter()
    /// The total time of all requests until their results were ready to be sent.
    package let nanoseconds = Counter()
    private let buckets: [11 of Counter] = InlineArray { _ in Counter() }

    init(name: String) { self.name = name }

    /// Records several requests that took a time together; each counts with an equal part of the time.
    func record(count: Int, nanoseconds: Int) {
        let each = nanoseconds / max(count, 1)
        var bucket = 0
        while bucket < RequestMeter.bounds.count, each > RequestMeter.bounds[bucket] { bucket += 1 }
        buckets[bucket].add(count)
        self.nanoseconds.add(nanoseconds)
    }

    /// The number of processed requests in each bucket, not cumulative.
    package var counts: [Int] { buckets.indices.map { buckets[$0].count } }
}
