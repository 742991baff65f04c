import NorrisProtocol
import NorrisSystem
import Synchronization

/// Counts connections, requests and errors, for readers on any thread. Only the event loop writes.
package final class ServerCounters: Sendable {
    /// The meters of all methods, in the order of ``MethodTable``.
    package let methods = MethodTable.methods.map { RequestMeter(name: $0.name) }
    let unknownMethods = Atomic<Int>(0)
    /// Indexed by ``ErrorCode/reasons``; the last counter is for unknown reasons.
    private let failures: [13 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let open = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    package init() {}

    /// The number of open connections.
    package var openConnections: Int { open.load(ordering: .relaxed) }

    /// The number of all served connections.
    package var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    /// The number of connections that were refused because of a limit.
    package var refusedConnections: Int { refused.load(ordering: .relaxed) }

    /// The number of well-formed requests and notifications.
    package var requestsTotal: Int { methods.reduce(unknownRequests) { $0 + $1.requests } }

    /// The number of well-formed requests to unknown methods.
    package var unknownRequests: Int { unknownMethods.load(ordering: .relaxed) }

    /// The number of failed requests by reason, including invalid lines.
    package var errors: [(reason: String, count: Int)] {
        (ErrorCode.reasons.map(\.reason) + ["other"]).enumerated().map {
            ($1, failures[$0].load(ordering: .relaxed))
        }
    }

    func connectionOpened() {
        accepted.addAsOnlyWriter(1)
        open.addAsOnlyWriter(1)
    }

    func connectionClosed() { open.addAsOnlyWriter(-1) }

    func connectionRefused() { refused.addAsOnlyWriter(1) }

    /// Counts a failed request, with or without a reply.
    func count(_ error: ResponseError) {
        failures[ErrorCode.reasons.firstIndex { $0.reason == error.reason } ?? failures.count - 1].addAsOnlyWriter(1)
    }
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
    private let begun = Atomic<Int>(0)
    private let buckets: [11 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let sum = Atomic<Int>(0)

    init(name: String) { self.name = name }

    /// Counts the beginning of a request.
    func begin() { begun.addAsOnlyWriter(1) }

    /// Records the end of a request.
    ///
    /// - Parameter start: in nanoseconds of the monotonic clock.
    func end(_ start: Int) { record(count: 1, nanoseconds: monotonicNanoseconds() - start) }

    /// Records several requests that took a time together; each counts with an equal part of the time.
    func record(count: Int, nanoseconds: Int) {
        let each = nanoseconds / max(count, 1)
        var bucket = 0
        while bucket < RequestMeter.bounds.count, each > RequestMeter.bounds[bucket] { bucket += 1 }
        buckets[bucket].addAsOnlyWriter(count)
        sum.addAsOnlyWriter(nanoseconds)
    }

    /// The number of well-formed requests, including requests without a reply yet.
    package var requests: Int { begun.load(ordering: .relaxed) }

    /// The number of processed requests in each bucket, not cumulative.
    package var counts: [Int] { buckets.indices.map { buckets[$0].load(ordering: .relaxed) } }

    /// The total time of all requests until their results were ready to be sent.
    package var nanoseconds: Int { sum.load(ordering: .relaxed) }
}

extension Atomic where Value == Int {
    /// Adds without an atomic addition, because no other thread writes and an atomic addition costs as much as ten
    /// plain additions.
    func addAsOnlyWriter(_ count: Int) { store(load(ordering: .relaxed) + count, ordering: .relaxed) }
}
