import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct ShuffleTests {
    private static let filters = [
        FactFilter(), FactFilter(allowsExplicit: true), FactFilter(source: .norris),
        FactFilter(source: .fortune, maxLength: 30), FactFilter(categories: ["a"]), FactFilter(categories: ["a", "b"]),
        FactFilter(categories: ["c", "a", "b"], allowsExplicit: true),
        FactFilter(categories: ["explicit"], allowsExplicit: true), FactFilter(maxLength: 20),
        FactFilter(categories: ["b", "c"], allowsExplicit: true, maxLength: 37), FactFilter(maxLength: 1),
        FactFilter(categories: ["nobody"]),
    ]

    /// Facts arrive, change and go, and the daemon restarts and crashes, in random order.
    @Test(arguments: 0..<100 as Range<UInt64>) func everyMatchingFactComesOnceBeforeAnyComesAgain(part: UInt64) throws {
        for seed in part * 10..<part * 10 + 10 {
            var generator = SeededRandom(seed: seed)
            var world = ShuffleWorld()
            let filter = Self.filters[Int(seed) % Self.filters.count]
            var shuffle = Shuffle(key: generator.next())
            var judge = ShuffleJudge()
            var saved = (shuffle.encoded, judge)
            for step in 0..<80 {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0...1: world.arrive(Int.random(in: 1...12, using: &generator), using: &generator)
                case 2: world.leave(Int.random(in: 1...9, using: &generator), using: &generator)
                case 3: world.edit(Int.random(in: 1...5, using: &generator), using: &generator)
                case 4: shuffle = try #require(Shuffle(encoded: shuffle.encoded))
                case 5: saved = (shuffle.encoded, judge)
                case 6:
                    // A crash: what was served since the last write is forgotten.
                    shuffle = try #require(Shuffle(encoded: saved.0))
                    judge = saved.1
                default:
                    let count = Bool.random(using: &generator) ? 1 : Int.random(in: 1...100, using: &generator)
                    let reply = world.next(count, &shuffle, filter)
                    let fault = judge.fault(in: reply, count: count, matching: world.matching(filter))
                    try #require(fault == nil, "seed \(seed), step \(step), \(filter.key), count \(count)")
                }
                judge.changed(to: world.matching(filter))
            }
        }
    }

    @Test func onlyFactComesAgainAndAgain() {
        let catalogue = FactCatalogue.of([.upstream("only")])
        var shuffle = Shuffle(key: 3)
        for _ in 0..<5 {
            #expect(shuffle.next(FactFilter(), from: catalogue) == 0)
            #expect(shuffle.next(FactFilter(), from: catalogue, without: [catalogue.hash(0)]) == nil)
        }
    }

    /// More facts than a window contains, in several categories, of which the filter excludes some by their length.
    @Test func factsOfManyWindowsComeOnceEach() {
        let facts = (0..<5_000).map { number in
            Fact.upstream(
                "\(number)", "\(number) " + String(repeating: "x", count: number % 90),
                categories: number.isMultiple(of: 3) ? ["a", "b"] : ["b"])
        }
        let catalogue = FactCatalogue.of(facts)
        for filter in [FactFilter(), FactFilter(categories: ["a", "b"]), FactFilter(maxLength: 50)] {
            var shuffle = Shuffle(key: 4)
            let matching = catalogue.numbers(filter)
            #expect(Set(matching).count == matching.count)
            let served = (0..<matching.count).compactMap { _ in shuffle.next(filter, from: catalogue) }
            #expect(Set(served) == Set(matching))
        }
    }

    /// A user would notice an unevenly frequent order of few facts.
    @Test func everyOrderOfFewComesEquallyOften() {
        let catalogue = FactCatalogue.of(upstreamFacts(0..<4))
        var orders: [[UInt32]: Int] = [:]
        var generator = SeededRandom(seed: 42)
        for _ in 0..<2_400 {
            var shuffle = Shuffle(key: generator.next())
            orders[(0..<4).compactMap { _ in shuffle.next(FactFilter(), from: catalogue) }, default: 0] += 1
        }
        // Each of the 24 orders about 100 times.
        #expect(orders.count == 24 && orders.values.allSatisfy { (60...140).contains($0) }, "\(orders)")
    }

    /// The encoding is stable, because shuffles outlive a version of norrisd.
    @Test func encodedFormIsStable() {
        let catalogue = FactCatalogue.of([.upstream("a")])
        var shuffle = Shuffle(key: 1)
        #expect(shuffle.next(FactFilter(), from: catalogue) == 0)
        let hash = catalogue.hash(0)
        let words = [1, 1, (mix(hash ^ 1) >> 18) << 18, 1, hash] as [UInt64]
        #expect(shuffle.encoded == [3] + words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } })
    }

    @Test func otherBytesAreRefused() {
        let bytes = Shuffle(key: 1).encoded
        #expect(Shuffle(encoded: [2] + bytes.dropFirst()) == nil)
        #expect(Shuffle(encoded: bytes + [0]) == nil)
        for count in bytes.indices { #expect(Shuffle(encoded: Array(bytes.prefix(count))) == nil) }
    }

    /// A damaged shuffle may defer a fact several times.
    @Test func damagedShuffleServesNoFactTwiceInACycle() throws {
        let catalogue = FactCatalogue.of(upstreamFacts(0..<20))
        let bytes = withUnsafeBytes(of: catalogue.hash(3).littleEndian) { Array($0) }
        let damaged = Shuffle(key: 1).encoded + (0..<200).flatMap { _ in bytes }
        var shuffle = try #require(Shuffle(encoded: damaged))
        #expect(Set((0..<20).map { _ in shuffle.next(FactFilter(), from: catalogue) }).count == 20)
    }
}
