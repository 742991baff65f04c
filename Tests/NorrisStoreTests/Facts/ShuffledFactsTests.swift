import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Facts in a random order, for prompts.
struct ShuffledFactsTests {
    private func ids(_ store: FactStore, maxLength: Int = 1_000, seed: UInt64 = 1) -> [String] {
        var generator = SeededGenerator(state: seed)
        return store.shuffled(maxLength: maxLength, using: &generator).map(\.id)
    }

    @Test func everyFactComesOnceInAnotherOrderEachTime() throws {
        let store = try FactStore.inMemory()
        let facts = upstreamFacts(0..<300, categories: ["dev", "food"])
        try store.replaceUpstream(facts)
        let (first, second) = (ids(store), ids(store, seed: 2))
        #expect(first.sorted() == facts.map(\.id))
        #expect(second.sorted() == facts.map(\.id))
        #expect(first != second)
        #expect(first == ids(store))
    }

    @Test func explicitFactsAreNotAmongThem() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(
            upstreamFacts(0..<5) + upstreamFacts(5..<9, categories: ["explicit"])
                + upstreamFacts(9..<12, categories: ["dev", "explicit"])
        )
        #expect(ids(store).sorted() == upstreamFacts(0..<5).map(\.id))
    }

    @Test func longFactsAreLeftOut() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream((1...50).map { .upstream("\($0)", String(repeating: "é", count: $0)) })
        #expect(Set(ids(store, maxLength: 20)) == Set((1...20).map { "\($0)" }))
    }

    @Test func nobodysWalkMoves() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<100))
        let given = store.nextIDs(50)
        #expect(ids(store).count == 100)
        #expect(Set(given + store.nextIDs(50)).count == 100)
    }

    @Test func factsThatAreGoneAreSkipped() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<300))
        try store.replaceUpstream(upstreamFacts(290..<310))
        #expect(ids(store).sorted() == upstreamFacts(290..<310).map(\.id))
        try store.replaceUpstream([])
        #expect(ids(store) == [])
        #expect(ids(try .inMemory()) == [])
    }

    @Test func contentMayChangeMeanwhile() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<300))
        var generator = SeededGenerator(state: 1)
        var facts = store.shuffled(maxLength: 1_000, using: &generator)
        var seen = [try #require(facts.next()?.id)]
        try store.replaceUpstream(upstreamFacts(0..<10) + upstreamFacts(300..<400))
        while let fact = facts.next() { seen.append(fact.id) }
        #expect(Set(seen).count == seen.count)
        #expect(Set(seen).isSuperset(of: upstreamFacts(0..<10).map(\.id)))
        #expect(Set(seen).isDisjoint(with: upstreamFacts(300..<400).map(\.id)))
        #expect(seen.count < 100, "What was read ahead is all that is left of those that went")
    }
}
