import Testing

@testable import NorrisStore

struct LengthIntervalTests {
    /// A length belongs to "at most so long" exactly if one of its intervals, one of each level, is in the covering.
    @Test func coveringIsExactForEveryMaximum() {
        for maximum in 1...10_000 {
            let covering = Set(LengthInterval.covering(upTo: maximum))
            let lengths = [1, 2, maximum / 2, maximum - 1, maximum, maximum + 1, maximum + 2, 2 * maximum, 10_000]
            for length in lengths where 1...10_000 ~= length {
                let count = (0..<LengthInterval.levels).count {
                    covering.contains(LengthInterval(level: $0, containing: length))
                }
                #expect(count == (length <= maximum ? 1 : 0), "\(length) at most \(maximum)")
            }
        }
    }

    @Test(arguments: [1, 63, 64, 65, 777, 10_000])
    func everyLengthIsInOrOut(maximum: Int) {
        let covering = Set(LengthInterval.covering(upTo: maximum))
        for length in 1...10_000 {
            let count = (0..<LengthInterval.levels).count {
                covering.contains(LengthInterval(level: $0, containing: length))
            }
            #expect(count == (length <= maximum ? 1 : 0), "\(length)")
        }
    }

    @Test func coveringIsSmall() {
        for maximum in 1...10_000 {
            let covering = LengthInterval.covering(upTo: maximum)
            #expect(Set(covering).count == covering.count)
            #expect(Dictionary(grouping: covering, by: \.level).values.allSatisfy { $0.count <= 3 })
        }
    }
}
