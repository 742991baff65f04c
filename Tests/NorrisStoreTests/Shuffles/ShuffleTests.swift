import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct ShuffleTests {
    private static let filters = [
        ShuffleFilter(), ShuffleFilter(allowsExplicit: true), ShuffleFilter(source: .norris),
        ShuffleFilter(source: .fortune, maxLength: 30), ShuffleFilter(categories: ["a"]),
        ShuffleFilter(categories: ["a", "b"]), ShuffleFilter(categories: ["c", "a", "b"], allowsExplicit: true),
        ShuffleFilter(categories: ["explicit"], allowsExplicit: true), ShuffleFilter(maxLength: 20),
        ShuffleFilter(categories: ["b", "c"], allowsExplicit: true, maxLength: 37),
        ShuffleFilter(categories: ["nobody"]),
    ]

    /// Every shuffle fulfills its contract for 400 random steps with each seed.
    @Test(arguments: 0..<40 as Range<UInt64>) func everyMatchingFactComesOnceBeforeAnyComesAgain(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var world = ShuffleWorld()
        var born = 0
        var shuffles = Self.filters.map { world.shuffle($0, key: generator.next()) }
        var judges = Self.filters.map { _ in ShuffleJudge() }
        for step in 0..<400 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0...2:
                world.arrive((0..<Int.random(in: 1...8, using: &generator)).map { _ in fact(&born, using: &generator) })
            case 3:
                let leaving = Int.random(in: 1...6, using: &generator)
                let compacts = Int.random(in: 0..<5, using: &generator) == 0
                let ordinals = world.sortedOrdinals.shuffled(using: &generator).prefix(compacts ? 20 : leaving)
                let renewed = world.leave(Array(ordinals), compacts: compacts)
                for (index, filter) in Self.filters.enumerated() where !renewed.isDisjoint(with: filter.lists) {
                    judges[index].mayRestart()
                }
            case 4:
                world.restart(using: &generator)
                for (index, filter) in Self.filters.enumerated() {
                    let restored = world.restored(shuffles[index], filter)
                    shuffles[index] = try #require(restored)
                }
            default:
                let index = Int.random(in: shuffles.indices, using: &generator)
                let filter = Self.filters[index]
                let count = Bool.random(using: &generator) ? 1 : Int.random(in: 1...100, using: &generator)
                let reply = world.next(count, &shuffles[index], filter)
                let fault = judges[index].fault(in: reply, count: count, matching: world.matching(filter))
                try #require(fault == nil, "seed \(seed), step \(step), \(filter.key), count \(count)")
            }
        }
    }

    private func fact(_ number: inout Int, using generator: inout SeededRandom) -> Fact {
        number += 1
        var categories = ["a", "b", "c"].filter { _ in Bool.random(using: &generator) }
        if Int.random(in: 0..<6, using: &generator) == 0 { categories.append("explicit") }
        let text = String(repeating: "x", count: Int.random(in: 1...60, using: &generator))
        let source = Bool.random(using: &generator) ? "chucknorris" : "fortune:x"
        return .upstream("\(number)", text, categories: categories, source: source)
    }

    /// 500 draws repeat no fact in a row.
    @Test(arguments: 2...5) func newCycleDoesNotBeginWithTheLastFact(count: Int) {
        var world = ShuffleWorld()
        world.arrive(upstreamFacts(0..<count))
        // A removed first entry, so that a cycle does not always begin with the first entry.
        world.leave(world.arrive([.upstream("gone")]))
        var shuffle = world.shuffle(ShuffleFilter(), key: 3)
        let served = (0..<500).flatMap { _ in world.next(1, &shuffle, ShuffleFilter()) }
        #expect(served.count == 500)
        #expect(!zip(served, served.dropFirst()).contains { $0 == $1 })
    }

    @Test func onlyFactComesAgainAndAgain() {
        var world = ShuffleWorld()
        let only = world.arrive([.upstream("only")])
        var shuffle = world.shuffle(ShuffleFilter(), key: 3)
        #expect((0..<5).map { _ in world.next(2, &shuffle, ShuffleFilter()) } == Array(repeating: only, count: 5))
    }

    @Test(arguments: [1, 2, 3, 4, 5, 15, 16, 17, 1_023, 1_024, 1_025, 9_999, 10_000])
    func maximumLengthIsExact(length: Int) {
        var world = ShuffleWorld()
        for length in [length - 1, length, length + 1] where 1...10_000 ~= length {
            // One character, two code points, three bytes.
            let text = String(repeating: "e\u{301}", count: length / 2) + String(repeating: "x", count: length % 2)
            world.arrive([.upstream("\(length)", text)])
        }
        let filter = ShuffleFilter(maxLength: length)
        var shuffle = world.shuffle(filter, key: 9)
        let expected = Set(world.facts.filter { $0.value.length <= length }.keys)
        #expect(Set(world.next(100, &shuffle, filter)) == expected)
        #expect(!expected.isEmpty)
    }

    /// The count of entries uses blocks of 1,024. Tests block boundaries, and segments that begin inside a block.
    @Test(arguments: [1_023, 1_024, 1_025, 3_000]) func shortFactsOfLongListsComeOnceEach(count: Int) {
        var world = ShuffleWorld()
        let filter = ShuffleFilter(maxLength: 50)
        var shuffle = world.shuffle(filter, key: 4)
        var served: [UInt32] = []
        for part in 0..<3 {
            world.arrive(
                (0..<count).map { .upstream("\(part)-\($0)", String(repeating: "x", count: 1 + ($0 * 7) % 90)) })
            world.leave(Array(world.sortedOrdinals.suffix(count / 9)))
            let left = world.matching(filter).subtracting(served).count
            for _ in 0..<(part == 2 ? left : left / 2) { served += world.next(1, &shuffle, filter) }
        }
        #expect(Set(served).count == served.count)
        #expect(Set(served).isSuperset(of: world.matching(filter)))
    }

    /// The number of steps of a draw does not depend on the number of facts.
    @Test(arguments: [100, 10_000]) func drawMeetsFewEntries(count: Int) {
        var world = ShuffleWorld()
        world.arrive((0..<count).map { .upstream("\($0)", String(repeating: "x", count: 1 + $0 % 90)) })
        for filter in [ShuffleFilter(), ShuffleFilter(maxLength: 50)] {
            var shuffle = world.shuffle(filter, key: 1)
            for number in 0..<count / 4 {
                #expect(world.next(1, &shuffle, filter).count == 1)
                #expect(shuffle.cursor == number + 1)
            }
        }
    }

    @Test func compactedListsRestart() {
        var world = ShuffleWorld()
        let ordinals = world.arrive(upstreamFacts(0..<1_000, categories: ["a"]))
        let filter = ShuffleFilter(categories: ["a"])
        var shuffle = world.shuffle(filter, key: 6)
        _ = world.next(100, &shuffle, filter)
        world.leave(Array(ordinals.prefix(990)), compacts: true)
        var judge = ShuffleJudge()
        for _ in 0..<5 {
            #expect(judge.fault(in: world.next(4, &shuffle, filter), count: 4, matching: world.matching(filter)) == nil)
            #expect(shuffle.cursor <= 10)
        }
    }

    /// A category that loses all its facts and later receives others.
    @Test func emptiedListRestarts() {
        var world = ShuffleWorld()
        let filter = ShuffleFilter(categories: ["a"])
        var shuffle = world.shuffle(filter, key: 6)
        for _ in 0..<3 {
            let ordinals = world.arrive(upstreamFacts(0..<30, categories: ["a"]))
            #expect(Set(world.next(30, &shuffle, filter)) == Set(ordinals))
            world.leave(ordinals)
            #expect(world.next(30, &shuffle, filter) == [])
        }
    }

    /// The database has no such list, so memory must not keep its removed entry.
    @Test func listThatComesAndGoesInOneChangeIsEmpty() {
        var index = FactIndex()
        let name = FactListName(category: "a", kind: .norris)
        var changes = FactChanges()
        changes.addedEntries[name] = [(1, 5)]
        changes.removedEntries[name] = [1]
        changes.lists[name] = FactChanges.List(number: SequenceNumber(columnValue: 1), epoch: 0, count: 0, live: 0)
        index.apply(changes)
        #expect(index.list(name)?.count == 0)
    }

    // MARK: Encoded form

    private func used(_ filter: ShuffleFilter, _ world: inout ShuffleWorld) -> Shuffle {
        var shuffle = world.shuffle(filter, key: 0xFEDC_BA98_7654_3210)
        _ = world.next(25, &shuffle, filter)
        _ = world.next(25, &shuffle, filter)
        return shuffle
    }

    @Test func comesBackAsItWas() throws {
        var world = ShuffleWorld()
        world.arrive(upstreamFacts(0..<40, categories: ["a"]))
        for filter in [ShuffleFilter(), ShuffleFilter(categories: ["a", "b"], maxLength: 99)] {
            var shuffle = used(filter, &world)
            #expect(!shuffle.deferred.isEmpty && shuffle.last != nil)
            let restored = world.restored(shuffle, filter)
            var again = try #require(restored)
            #expect((again.key, again.cursor, again.last) == (shuffle.key, shuffle.cursor, shuffle.last))
            #expect((again.bounds, again.deferred) == (shuffle.bounds, shuffle.deferred))
            #expect(world.next(60, &again, filter) == world.next(60, &shuffle, filter))
        }
        let new = world.shuffle(ShuffleFilter(), key: .max)
        #expect(Shuffle(encoded: new.encoded, lists: [0, 1]) == new)
    }

    /// The encoding is stable because shuffles outlive a version of norrisd.
    @Test func formIsAsEver() {
        var world = ShuffleWorld()
        world.arrive([.upstream("a", "xyz")])
        let filter = ShuffleFilter(source: .norris)
        var shuffle = world.shuffle(filter, key: 0x0000_0002_0000_0001)
        #expect(world.next(1, &shuffle, filter) == [1])
        let words: [UInt32] = [
            UInt32(truncatingIfNeeded: shuffle.key), UInt32(truncatingIfNeeded: shuffle.key >> 32), 1, 1, 1, 0, 1, 1,
        ]
        let bytes = words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
        #expect(shuffle.encoded == [2] + bytes)
    }

    @Test func anythingElseIsRefused() {
        var world = ShuffleWorld()
        world.arrive(upstreamFacts(0..<40))
        let bytes = used(ShuffleFilter(), &world).encoded
        #expect(Shuffle(encoded: bytes, lists: [0, 1]) != nil)
        #expect(Shuffle(encoded: bytes, lists: [0]) == nil)
        #expect(Shuffle(encoded: bytes, lists: [0, 1, 2]) == nil)
        #expect(Shuffle(encoded: [1] + bytes.dropFirst(), lists: [0, 1]) == nil)
        #expect(Shuffle(encoded: bytes + [0], lists: [0, 1]) == nil)
        #expect(Shuffle(encoded: bytes + [9, 0, 0, 0, 8, 0, 0, 0], lists: [0, 1]) != nil)
        #expect(Shuffle(encoded: bytes + [9, 0, 0, 0, 9, 0, 0, 0], lists: [0, 1]) == nil)
        for count in 0..<1 + 4 * 11 { #expect(Shuffle(encoded: Array(bytes.prefix(count)), lists: [0, 1]) == nil) }
    }

    @Test func shuffleOfOtherListsRestarts() throws {
        var world = ShuffleWorld()
        world.arrive(upstreamFacts(0..<40))
        let encoded = used(ShuffleFilter(), &world).encoded
        var other = ShuffleWorld()
        other.arrive(upstreamFacts(0..<10))
        other.arrive(upstreamFacts(50..<55, categories: ["a"]))
        other.leave(Array(other.sortedOrdinals.prefix(1)), compacts: true)
        let positions = other.positions(ShuffleFilter())
        var shuffle = try #require(Shuffle(encoded: encoded, lists: positions))
        other.load(ShuffleFilter())
        shuffle.attach(to: other.index, nil)
        #expect(Set(other.next(14, &shuffle, ShuffleFilter())) == other.matching(ShuffleFilter()))
    }
}

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
    func numbersOfLargeCountsDoNotMeet(count: UInt32) {
        let permutation = KeyedPermutation(count: count, key: 7)
        let step = max(1, count / 5_000)
        let positions = stride(from: 0, to: count - 1, by: Int(step)).map { permutation($0) }
        #expect(positions.allSatisfy { $0 < count })
        #expect(Set(positions).count == positions.count)
    }

    /// Over many keys, each number is first and last equally often.
    @Test(arguments: [2, 3, 5, 7, 8, 16, 33, 100] as [UInt32]) func everyPlaceIsSpreadEvenly(count: UInt32) {
        for place in Set([0, count - 1]) {
            var counts = [Int](repeating: 0, count: Int(count))
            for key in keys(6_000) { counts[Int(KeyedPermutation(count: count, key: key)(place))] += 1 }
            #expect(isEven(counts), "count \(count), place \(place): \(counts)")
        }
    }

    /// A user would notice an unevenly frequent order of few facts.
    @Test(arguments: [3, 4, 5] as [UInt32]) func everyOrderOfFewComesEquallyOften(count: UInt32) {
        var orders: [[UInt32]: Int] = [:]
        for key in keys(6_000) {
            let permutation = KeyedPermutation(count: count, key: key)
            orders[(0..<count).map { permutation($0) }, default: 0] += 1
        }
        #expect(orders.count == (1...Int(count)).reduce(1, *))
        #expect(isEven(Array(orders.values)), "\(orders)")
    }

    private func keys(_ count: Int) -> [UInt64] {
        var generator = SeededRandom(seed: 42)
        return (0..<count).map { _ in generator.next() }
    }

    /// Returns true if Pearson's chi-squared statistic is within six standard deviations of its expected value.
    private func isEven(_ counts: [Int]) -> Bool {
        let expected = Double(counts.reduce(0, +)) / Double(counts.count)
        let statistic = counts.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        let degrees = Double(counts.count - 1)
        return statistic < degrees + 6 * (2 * degrees).squareRoot()
    }
}
