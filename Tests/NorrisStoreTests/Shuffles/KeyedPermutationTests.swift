import NorrisTestSupport
import Testing

@testable import NorrisStore

struct KeyedPermutationTests {
    @Test func everyNumberComesOnceForEveryCount() {
        for count in UInt32(1)...300 {
            for key in [0, 0x1234_5678_9ABC_DEF0 as UInt64] {
                let permutation = KeyedPermutation(count: count, key: key)
                #expect(Set((0..<count).map { permutation($0) }) == Set(0..<count), "count \(count), key \(key)")
            }
        }
    }

    @Test(arguments: [65_535, 65_536, 65_537, 1_000_003, UInt32.max])
    func placesOfLargeCountsDoNotMeet(count: UInt32) {
        let permutation = KeyedPermutation(count: count, key: 7)
        let step = max(1, count / 5_000)
        let places = stride(from: 0, to: count - 1, by: Int(step)).map { permutation($0) }
        #expect(places.allSatisfy { $0 < count })
        #expect(Set(places).count == places.count)
    }

    @Test func orderDependsOnNothingButTheKey() {
        let order = { (key: UInt64) in (0..<100 as Range<UInt32>).map { KeyedPermutation(count: 100, key: key)($0) } }
        #expect(order(5) == order(5))
        #expect(order(5) != order(6))
    }

    /// Over many keys each number comes first, second, … and last equally often.
    @Test(arguments: [2, 3, 5, 7, 8, 16, 33, 100] as [UInt32])
    func everyPlaceIsSpreadEvenly(count: UInt32) {
        for place in Set([0, count - 1]) {
            var counts = [Int](repeating: 0, count: Int(count))
            for key in keys(6_000) {
                counts[Int(KeyedPermutation(count: count, key: key)(place))] += 1
            }
            #expect(isEven(counts), "count \(count), place \(place): \(counts)")
        }
    }

    /// With few facts a person would notice an order that comes too often.
    @Test(arguments: [3, 4, 5] as [UInt32])
    func everyOrderOfFewComesEquallyOften(count: UInt32) {
        var orders: [[UInt32]: Int] = [:]
        for key in keys(6_000) {
            let permutation = KeyedPermutation(count: count, key: key)
            orders[(0..<count).map { permutation($0) }, default: 0] += 1
        }
        #expect(orders.count == (1...Int(count)).reduce(1, *))
        #expect(isEven(Array(orders.values)), "\(orders)")
    }

    /// What comes after what depends on chance: otherwise "the one about X follows the one about Y" would show.
    @Test(arguments: [6, 10, 40] as [UInt32])
    func neighboursAreIndependent(count: UInt32) {
        var counts = [Int](repeating: 0, count: Int(count))
        for key in keys(6_000) {
            let permutation = KeyedPermutation(count: count, key: key)
            let place = UInt32(key % UInt64(count - 1))
            counts[Int((permutation(place + 1) + count - permutation(place)) % count)] += 1
        }
        #expect(counts[0] == 0)
        #expect(isEven(Array(counts.dropFirst())), "\(counts)")
    }

    /// The segments and cycles of a shuffle go from key to key by `mix`; the orders must have nothing in common.
    @Test func orderOfTheNextKeyIsIndependent() {
        let count: UInt32 = 20
        var counts = [Int](repeating: 0, count: Int(count))
        for key in keys(6_000) {
            let (one, next) = (KeyedPermutation(count: count, key: key), KeyedPermutation(count: count, key: mix(key)))
            counts[Int((one(3) + count - next(3)) % count)] += 1
        }
        #expect(isEven(counts), "\(counts)")
    }

    private func keys(_ count: Int) -> [UInt64] {
        var generator = SeededGenerator(state: 42)
        return (0..<count).map { _ in generator.next() }
    }

    /// Pearson's statistic within six standard deviations of what chance gives.
    private func isEven(_ counts: [Int]) -> Bool {
        let expected = Double(counts.reduce(0, +)) / Double(counts.count)
        let statistic = counts.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        let degrees = Double(counts.count - 1)
        return statistic < degrees + 6 * (2 * degrees).squareRoot()
    }
}
