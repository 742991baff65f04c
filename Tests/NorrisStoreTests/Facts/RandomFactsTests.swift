import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Facts in a random order, for prompts.
struct RandomFactsTests {
    private func ids(
        _ store: FactStore, _ source: FactScope = .all, maxLength: Int = 1_000, seed: UInt64 = 1, limit: Int = .max
    ) -> [String] {
        var generator = SeededGenerator(state: seed)
        var ids: [String] = []
        store.forEachAtRandom(source, maxLength: maxLength, using: &generator) { fact in
            ids.append(fact.id)
            return ids.count < limit
        }
        return ids
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

    @Test func onlyThoseOfTheSourceAreAmongThem() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([.upstream("a"), .upstream("b", source: "fortune:x"), .upstream("c", source: "builtin")])
        #expect(ids(store, .norris).sorted() == ["a", "c"])
        #expect(ids(store, .fortune) == ["b"])
    }

    @Test func longFactsAreLeftOut() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream((1...50).map { .upstream("\($0)", String(repeating: "é", count: $0)) })
        #expect(Set(ids(store, maxLength: 20)) == Set((1...20).map { "\($0)" }))
    }

    @Test func nobodysShuffleMoves() async throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<100))
        let served = await store.nextIDs(50)
        #expect(ids(store).count == 100)
        #expect(Set(served + (await store.nextIDs(50))).count == 100)
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

    @Test func readingEndsWithTheLastThatIsNeeded() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<300))
        #expect(ids(store, limit: 7).count == 7)
    }

    /// Of many facts a sample, of both kinds by their numbers; none that is gone.
    @Test func ofManyFactsASampleIsRead() throws {
        let store = try FactStore.inMemory()
        let kept = upstreamFacts(1_000..<6_000)
        try store.replaceUpstream(upstreamFacts(0..<1_000) + kept)
        try store.replaceUpstream(kept + upstreamFacts(6_000..<8_000).map { .upstream($0.id, source: "fortune:x") })
        let sample = ids(store)
        #expect(sample.count > 2_000 && sample.count <= 4_096)
        #expect(Set(sample).isSubset(of: upstreamFacts(1_000..<8_000).map(\.id)))
        let fortunes = sample.count { $0 >= "fact-006000" }
        #expect(fortunes > sample.count / 5 && fortunes < sample.count * 2 / 5)
        #expect(sample != ids(store, seed: 2))
    }
}
