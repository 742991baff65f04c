import Synchronization

/// How long requests took, in buckets: for writers and readers on any thread.
///
/// Nothing is added up before somebody reads.
struct LatencyHistogram: ~Copyable, Sendable {
    /// The upper bounds of the buckets in nanoseconds, each within its bucket: from what is answered in memory to what
    /// waits for an upstream. One more bucket is for all above.
    private static let limits: InlineArray<10, Int> = [
        10_000, 50_000, 250_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000,
        2_500_000_000,
    ]
    static var bounds: [Int] { limits.indices.map { limits[$0] } }

    private let counts: [11 of Atomic<Int>] = InlineArray { _ in Atomic(0) }
    private let sum = Atomic<Int>(0)

    /// Only one thread may do so.
    ///
    /// - Parameter nanoseconds: of all of them together.
    func record(count: Int, nanoseconds: Int) {
        let each = nanoseconds / max(count, 1)
        var bucket = 0
        while bucket < LatencyHistogram.limits.count, each > LatencyHistogram.limits[bucket] { bucket += 1 }
        counts[bucket].addAlone(count)
        sum.addAlone(nanoseconds)
    }

    /// What was recorded until now; of a record that is under way the sum may lack.
    var latency: Latency {
        Latency(
            counts: counts.indices.map { counts[$0].load(ordering: .relaxed) },
            nanoseconds: sum.load(ordering: .relaxed)
        )
    }
}

/// How long the requests took until a moment.
package struct Latency: Equatable, Sendable {
    /// The upper bounds of the buckets in seconds; one more bucket is for all above.
    package static let bounds = LatencyHistogram.bounds.map { Double($0) / 1e9 }

    /// How many requests fell into each bucket, those of lower ones not counted again.
    package var counts: [Int]
    /// Of all of them together.
    package var nanoseconds: Int

    package init(counts: [Int], nanoseconds: Int) {
        self.counts = counts
        self.nanoseconds = nanoseconds
    }
}
