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
    @Test(arguments: 0..<30 as Range<UInt64>) func everyMatchingFactComesOnceBeforeAnyComesAgain(part: UInt64) throws {
        for seed in part * 10..<part * 10 + 10 { try checkWorld(seed, Self.filters[Int(seed) % Self.filters.count]) }
    }

    /// The same with more facts than two windows contain, so that most changes and restarts are within a cycle.
    @Test(arguments: 0..<3 as Range<UInt64>) func everyMatchingFactOfSeveralWindowsComesOnce(seed: UInt64) throws {
        try checkWorld(seed, FactFilter(allowsExplicit: true), facts: 700, steps: 50)
    }

    /// - Parameter facts: the number of facts at the beginning.
    private func checkWorld(_ seed: UInt64, _ filter: FactFilter, facts: Int = 0, steps: Int = 80) throws {
        var generator = SeededRandom(seed: seed)
        var world = ShuffleWorld()
        if facts > 0 { world.arrive(facts, using: &generator) }
        var shuffle = Shuffle(key: generator.next())
        var judge = ShuffleJudge()
        var saved = (shuffle.encoded, judge)
        for step in 0..<steps {
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
        let words: [UInt64] = [1, 1, (mix(hash ^ 1) >> 18) << 18, 1, hash]
        var expected: [UInt8] = [3]
        for word in words { withUnsafeBytes(of: word.littleEndian) { expected.append(contentsOf: $0) } }
        #expect(shuffle.encoded == expected)
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

extension FactCatalogue {
    /// A catalogue of some facts, without the starting collection.
    static func of(_ facts: [Fact]) -> FactCatalogue {
        var builder = Builder()
        for fact in facts { builder.add(fact) }
        return builder.finish()
    }
}

/// Facts that arrive, change and go.
struct ShuffleWorld {
    private var facts: [Int: Fact] = [:]
    private var born = 0
    private var catalogue = FactCatalogue.of([])

    mutating func arrive(_ count: Int, using generator: inout SeededRandom) {
        for _ in 0..<count {
            // Some ids come back.
            let isOld = born > 0 && Int.random(in: 0..<4, using: &generator) == 0
            let number = isOld ? Int.random(in: 0..<born, using: &generator) : born
            born = max(born, number + 1)
            facts[number] = fact(number, using: &generator)
        }
        build()
    }

    mutating func leave(_ count: Int, using generator: inout SeededRandom) {
        for number in facts.keys.sorted().shuffled(using: &generator).prefix(count) { facts[number] = nil }
        build()
    }

    /// Changes texts, and so lengths and categories.
    mutating func edit(_ count: Int, using generator: inout SeededRandom) {
        for number in facts.keys.sorted().shuffled(using: &generator).prefix(count) {
            facts[number] = fact(number, using: &generator)
        }
        build()
    }

    private func fact(_ number: Int, using generator: inout SeededRandom) -> Fact {
        var categories = ["a", "b", "c"].filter { _ in Bool.random(using: &generator) }
        if Int.random(in: 0..<6, using: &generator) == 0 { categories.append("explicit") }
        // Different texts, because equal texts are one fact.
        let text = "\(number)" + String(repeating: "x", count: Int.random(in: 0...55, using: &generator))
        return .upstream(
            "\(number)", text, categories: categories, source: number.isMultiple(of: 2) ? "chucknorris" : "fortune:x")
    }

    private mutating func build() { catalogue = .of(facts.keys.sorted().compactMap { facts[$0] }) }

    func matching(_ filter: FactFilter) -> Set<String> {
        Set(
            facts.values.filter { fact in
                (filter.categories.isEmpty || !Set(filter.categories).isDisjoint(with: fact.categories))
                    && (filter.allowsExplicit || !fact.categories.contains("explicit"))
                    && (filter.source == .all || fact.source.hasPrefix("fortune:") == (filter.source == .fortune))
                    && fact.text.unicodeScalars.count <= filter.maxLength ?? .max
            }.map(\.id))
    }

    func next(_ count: Int, _ shuffle: inout Shuffle, _ filter: FactFilter) -> [String] {
        var served: [UInt64] = []
        var ids: [String] = []
        while served.count < count, let number = shuffle.next(filter, from: catalogue, without: served) {
            served.append(catalogue.hash(number))
            ids.append(catalogue.fact(number).id)
        }
        return ids
    }
}

/// An independent check of the promise of a shuffle, by its served facts.
struct ShuffleJudge {
    private struct Cycle: Hashable {
        var served: Set<String>
        /// The facts that have matched since the cycle began.
        var throughout: Set<String>

        var mayEnd: Bool { throughout.isSubset(of: served) }

        /// The counts suffice for the few cycles of a set; hashing thousands of ids would take most of the time.
        func hash(into hasher: inout Hasher) { hasher.combine([served.count, throughout.count]) }
    }

    /// The cycles that are possible after the served facts. Several are, because a fact that has arrived in a cycle may
    /// be served in it or in the next one.
    private var cycles: Set<Cycle> = [Cycle(served: [], throughout: [])]
    private var last: String?

    /// Notes the matching facts after a change.
    mutating func changed(to matching: Set<String>) {
        cycles = Set(
            cycles.map { Cycle(served: $0.served, throughout: $0.throughout.intersection(matching)) })
    }

    /// Checks the next reply. Returns a description of the fault, or nil.
    mutating func fault(in reply: [String], count: Int, matching: Set<String>) -> String? {
        guard reply.count == min(count, matching.count) else { return "\(reply.count) of \(matching.count)" }
        guard Set(reply).count == reply.count else { return "a fact twice in a reply" }
        guard matching.isSuperset(of: reply) else { return "a fact that does not match" }
        for id in reply {
            if id == last, matching.count > 1 { return "\(id) twice in a row" }
            var next: Set<Cycle> = []
            for cycle in cycles {
                if cycle.mayEnd { next.insert(Cycle(served: [id], throughout: matching)) }
                if !cycle.served.contains(id) {
                    next.insert(Cycle(served: cycle.served.union([id]), throughout: cycle.throughout))
                }
            }
            if next.isEmpty { return "\(id) again before others" }
            (cycles, last) = (next, id)
        }
        return nil
    }
}
