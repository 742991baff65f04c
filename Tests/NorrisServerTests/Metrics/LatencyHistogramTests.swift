import Testing

@testable import NorrisServer

struct LatencyHistogramTests {
    @Test func everyTimeFallsIntoTheFirstBucketThatHoldsIt() {
        let histogram = LatencyHistogram()
        for nanoseconds in [0, 10_000, 10_001, 1_000_000, 2_500_000_000, 2_500_000_001, Int(Int32.max) * 1_000] {
            histogram.record(count: 1, nanoseconds: nanoseconds)
        }
        #expect(histogram.latency.counts == [2, 1, 0, 1, 0, 0, 0, 0, 0, 1, 2])
        #expect(histogram.latency.nanoseconds == 1_020_001 + 5_000_000_001 + Int(Int32.max) * 1_000)
    }

    @Test func thereIsOneBucketMoreThanBounds() {
        #expect(LatencyHistogram().latency == Latency(counts: Array(repeating: 0, count: 11), nanoseconds: 0))
        #expect(LatencyHistogram.bounds.count == 10)
        #expect(LatencyHistogram.bounds == LatencyHistogram.bounds.sorted())
        #expect(Latency.bounds == [1e-5, 5e-5, 2.5e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 1, 2.5])
    }

    @Test func requestsThatAreTimedTogetherCountAsEquallyLong() {
        let histogram = LatencyHistogram()
        histogram.record(count: 10, nanoseconds: 120_000)
        #expect(histogram.latency.counts == [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(histogram.latency.nanoseconds == 120_000)
    }
}
