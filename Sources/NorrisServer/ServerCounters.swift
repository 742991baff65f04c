import NorrisProtocol
import Synchronization

/// Counts connections, requests and errors, for readers on any thread. Only the event loop writes.
package final class ServerCounters: Sendable {
    /// Of the methods of ``MethodTable``, in its order.
    package let methods = MethodTable.methods.map { RequestMeter(name: $0.name) }
    let unknownMethods = Atomic<Int>(0)
    /// By ``ErrorReason``; the last one counts errors of no known reason.
    private let failures: [13 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let open = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    package init() {}

    /// Connections that are open now.
    package var openConnections: Int { open.load(ordering: .relaxed) }

    /// All connections that were ever served.
    package var acceptedConnections: Int { accepted.load(ordering: .relaxed) }

    /// Connections that were past a limit.
    package var refusedConnections: Int { refused.load(ordering: .relaxed) }

    /// How many requests and notifications were well-formed so far.
    package var requestsTotal: Int { methods.reduce(unknownRequests) { $0 + $1.requests } }

    /// How many of them were to methods that are not in the table.
    package var unknownRequests: Int { unknownMethods.load(ordering: .relaxed) }

    /// How many requests failed for which reason; lines that were no requests included.
    package var errors: [(reason: String, count: Int)] {
        (ErrorReason.allCases.map(\.rawValue) + ["other"]).enumerated().map {
            ($1, failures[$0].load(ordering: .relaxed))
        }
    }

    func connectionOpened() {
        accepted.addAlone(1)
        open.addAlone(1)
    }

    func connectionClosed() { open.addAlone(-1) }

    func connectionRefused() { refused.addAlone(1) }

    /// A request failed, with or without a reply.
    func count(_ error: ResponseError) {
        let reason = ErrorReason(rawValue: error.reason)
        failures[reason.flatMap(ErrorReason.allCases.firstIndex) ?? failures.count - 1].addAlone(1)
    }
}

/// Counts and times the requests to one method.
package final class RequestMeter: Sendable {
    /// The upper bounds of the buckets in nanoseconds, each within its bucket, from what is served from memory to what
    /// waits for an upstream; one more bucket is for all above.
    package static let bounds: InlineArray<10, Int> = [
        10_000, 50_000, 250_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000,
        2_500_000_000,
    ]

    package let name: String
    private let begun = Atomic<Int>(0)
    private let buckets: [11 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let sum = Atomic<Int>(0)

    init(name: String) { self.name = name }

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

    /// How many requests were well-formed, those without a reply yet included.
    package var requests: Int { begun.load(ordering: .relaxed) }

    /// How many of those that were processed fell into each bucket, those of lower ones not counted again.
    package var counts: [Int] { buckets.indices.map { buckets[$0].load(ordering: .relaxed) } }

    /// How long they took together, until their results were ready to be sent.
    package var nanoseconds: Int { sum.load(ordering: .relaxed) }
}

extension Atomic where Value == Int {
    /// Adds where no other thread writes: an atomic addition costs as much as ten plain ones.
    func addAlone(_ count: Int) { store(load(ordering: .relaxed) + count, ordering: .relaxed) }
}
