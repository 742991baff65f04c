import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct WalkTests {
    private static let filters = [
        WalkFilter(),
        WalkFilter(allowsExplicit: true),
        WalkFilter(categories: ["a"]),
        WalkFilter(categories: ["a", "b"]),
        WalkFilter(categories: ["c", "a", "b"], allowsExplicit: true),
        WalkFilter(categories: ["explicit"], allowsExplicit: true),
        WalkFilter(maxLength: 20),
        WalkFilter(categories: ["b", "c"], allowsExplicit: true, maxLength: 37),
        WalkFilter(categories: ["nobody"]),
    ]

    /// Whatever happens, every walk keeps the contract: a few hundred steps of chance for each seed.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func everyMatchingFactComesOnceBeforeAnyComesAgain(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        var world = WalkWorld()
        var gone: [Fact] = []
        var born = 0
        var walks = Self.filters.map { world.walk($0, key: generator.next()) }
        var judges = Self.filters.map { _ in WalkJudge() }
        for step in 0..<400 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0...1:
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    world.arrive(fact(born, using: &generator))
                    born += 1
                }
            case 2:
                let leaving = Int.random(in: 1...6, using: &generator)
                for fact in world.sortedFacts.shuffled(using: &generator).prefix(leaving) {
                    world.leave(fact.id)
                    gone.append(fact)
                }
            case 3:
                for fact in gone.shuffled(using: &generator).prefix(.random(in: 1...6, using: &generator)) {
                    world.arrive(fact)
                    gone.removeAll { $0.id == fact.id }
                }
            case 4:
                world.restart(using: &generator)
                for (index, filter) in Self.filters.enumerated() {
                    let restored = world.restored(walks[index], filter)
                    walks[index] = try #require(restored)
                }
            default:
                let index = Int.random(in: walks.indices, using: &generator)
                let count = Bool.random(using: &generator) ? 1 : Int.random(in: 1...100, using: &generator)
                let reply = world.next(count, &walks[index])
                let matching = world.matching(Self.filters[index])
                let fault = judges[index].fault(in: reply, count: count, matching: matching)
                try #require(fault == nil, "seed \(seed), step \(step), \(Self.filters[index].key), count \(count)")
            }
        }
    }

    private func fact(_ number: Int, using generator: inout SeededGenerator) -> Fact {
        var categories = ["a", "b", "c"].filter { _ in Bool.random(using: &generator) }
        if Int.random(in: 0..<6, using: &generator) == 0 { categories.append("explicit") }
        let length = Int.random(in: 1...60, using: &generator)
        return .upstream("\(number)", String(repeating: "x", count: length), categories: categories)
    }

    /// The judge must be able to say no; each of these replies breaks one sentence of the contract.
    @Test(arguments: [
        (["x"], 2), (["x", "x"], 2), (["x", "stranger"], 2), (["x", "y", "x"], 3),
    ])
    func judgeFindsWhatIsWrong(reply: [String], count: Int) {
        var judge = WalkJudge()
        #expect(judge.fault(in: reply, count: count, matching: ["x", "y", "z"]) != nil)
    }

    @Test func judgeFindsARepeatThatIsTooEarly() {
        var judge = WalkJudge()
        #expect(judge.fault(in: ["x"], count: 1, matching: ["x", "y"]) == nil)
        #expect(judge.fault(in: ["x"], count: 1, matching: ["x", "y"]) != nil)
    }

    /// One of a hundred in a row would already be one too many.
    @Test(arguments: 2...5)
    func newRoundDoesNotBeginWithTheLastFact(count: Int) {
        var world = WalkWorld()
        for number in 0..<count { world.arrive(.upstream("\(number)")) }
        // A seat that is empty stands before, so that the first of a round is not always at the first place.
        world.arrive(.upstream("gone"))
        world.leave("gone")
        var walk = world.walk(WalkFilter(), key: 3)
        let given = (0..<500).flatMap { _ in world.next(1, &walk) }
        #expect(given.count == 500)
        #expect(!zip(given, given.dropFirst()).contains { $0 == $1 })
    }

    @Test func onlyFactComesAgainAndAgain() {
        var world = WalkWorld()
        world.arrive(.upstream("only"))
        var walk = world.walk(WalkFilter(), key: 3)
        #expect((0..<5).map { _ in world.next(2, &walk) } == Array(repeating: ["only"], count: 5))
    }

    @Test func nothingMatchesNothing() {
        var world = WalkWorld()
        world.arrive(.upstream("long", String(repeating: "x", count: 50), categories: ["a"]))
        for filter in [WalkFilter(categories: ["b"]), WalkFilter(maxLength: 49)] {
            var walk = world.walk(filter, key: 1)
            #expect(world.next(10, &walk) == [])
            #expect(world.next(1, &walk) == [])
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1_023, 1_024, 1_025, 9_999, 10_000])
    func maximumLengthIsExact(length: Int) {
        var world = WalkWorld()
        for length in [length - 1, length, length + 1] where 1...10_000 ~= length {
            // Two code points that are one character, and four bytes.
            let text = String(repeating: "e\u{301}", count: length / 2) + String(repeating: "x", count: length % 2)
            world.arrive(.upstream("\(length)", text))
        }
        var walk = world.walk(WalkFilter(maxLength: length), key: 9)
        let expected = world.facts.keys.filter { Int($0)! <= length }
        #expect(Set(world.next(100, &walk)) == Set(expected))
        #expect(!expected.isEmpty)
    }

    @Test func factThatComesBackToASeatPassedMeanwhileIsOfThisRound() {
        var world = WalkWorld()
        for number in 0..<40 { world.arrive(.upstream("\(number)")) }
        var walk = world.walk(WalkFilter(), key: 11)
        var given = Set(world.next(10, &walk))
        let absent = world.facts.values.filter { !given.contains($0.id) }.prefix(20)
        for fact in absent { world.leave(fact.id) }
        given.formUnion(world.next(5, &walk))
        for fact in absent { world.arrive(fact) }
        given.formUnion(world.next(25, &walk))
        #expect(given.count == 40)
    }

    /// More empty seats than a walk remembers: facts may wait for the next round, but nothing else goes wrong.
    @Test func walkRemembersABoundedNumberOfEmptySeats() {
        var world = WalkWorld()
        let facts = (0..<3_000).map { Fact.upstream("\($0)") }
        for fact in facts { world.arrive(fact) }
        for fact in facts[1...] { world.leave(fact.id) }
        var walk = world.walk(WalkFilter(), key: 5)
        for _ in 0..<3 { #expect(world.next(3, &walk) == ["0"]) }
        #expect(walk.position.encoded.count < 9_000)
        for fact in facts { world.arrive(fact) }
        var judge = WalkJudge()
        while world.next(1, &walk) != ["0"] {}
        _ = judge.fault(in: world.next(1, &walk), count: 1, matching: world.matching(WalkFilter()))
        let counts = (0..<600).map { _ in world.next(10, &walk).count }
        #expect(counts.allSatisfy { $0 == 10 })
    }

    /// A draw looks at one seat, and at no more for a hundred times the facts.
    @Test(arguments: [100, 10_000])
    func drawTakesTheSameFewSteps(count: Int) {
        var world = WalkWorld()
        for number in 0..<count { world.arrive(.upstream("\(number)", String(repeating: "x", count: 1 + number % 90))) }
        for (filter, most) in [(WalkFilter(), 6), (WalkFilter(maxLength: 50), 70)] {
            var walk = world.walk(filter, key: 1)
            for _ in 0..<300 {
                let facts = CountingFacts(catalogue: world.catalogue)
                #expect(walk.next(1, from: facts).count == 1)
                #expect(facts.steps.count <= most)
            }
        }
    }
}

/// Counts what a walk asks of the catalogue.
private struct CountingFacts: WalkedFacts {
    final class Steps {
        var count = 0
    }

    let catalogue: FactCatalogue
    let steps = Steps()

    func count(of strip: Strip, roster: Int) -> UInt32 {
        steps.count += 1
        return catalogue.count(of: strip, roster: roster)
    }

    func slot(at place: UInt32, of strip: Strip, roster: Int) -> Int32? {
        steps.count += 1
        return catalogue.slot(at: place, of: strip, roster: roster)
    }

    func isFact(_ slot: Int32, on roster: Int) -> Bool {
        steps.count += 1
        return catalogue.isFact(slot, on: roster)
    }

    func hasFacts(roster: Int) -> Bool {
        steps.count += 1
        return catalogue.hasFacts(roster: roster)
    }
}
