import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FactStoreTests {
    private let fixture = StoreFixture()
    private let dev = FactFilter(categories: ["dev"])
    private let devIDs = Set(StartingCollection.facts().filter { $0.categories.contains("dev") }.map(\.id))
    /// Facts of the upstream, without the starting collection.
    private let only = FactFilter(categories: ["only"])

    private func fetch(_ settings: String) -> FetchRecord {
        FetchRecord(settings: settings, fetchedAt: Timestamp(seconds: 7))
    }

    private func record(_ store: FactStore) async -> FetchRecord? {
        await SourceRecords(databases: store.databases).fetch(of: FactStore.upstreamSource)
    }

    // MARK: Shuffles over restarts

    @Test func everyFactComesBeforeAnyComesAgainOverRestarts() async throws {
        var served: [String] = []
        while served.count < devIDs.count {
            served += try await fixture.run { $0.nextIDs(min(7, devIDs.count - served.count), dev) }
        }
        #expect(Set(served) == devIDs)
    }

    @Test func nothingThatWasWrittenIsLostInACrash() async throws {
        let store = try await fixture.open()
        let served = store.nextIDs(12, dev)
        // Users have separate shuffles.
        let others = store.nextIDs(12, uid: .max, dev)
        #expect(await store.writeShuffles())
        let next = try fixture.killed()
        let rest = try await next.run { ($0.nextIDs(devIDs.count - 12, dev), $0.nextIDs(12, uid: .max, dev)) }
        #expect(Set(served + rest.0) == devIDs && Set(others).isDisjoint(with: rest.1))
        await store.databases.close()
    }

    @Test func lossOfTheCacheRestartsNoShuffle() async throws {
        let facts = upstreamFacts(0..<30, categories: ["only"])
        var served = try await fixture.run { store in
            try await store.replaceUpstream(facts)
            return store.nextIDs(20, only)
        }
        try fixture.folder.remove("cache")
        served += try await fixture.run { store in
            #expect(store.nextIDs(1, only).isEmpty)
            try await store.replaceUpstream(facts.reversed())
            return store.nextIDs(10, only)
        }
        #expect(Set(served).count == 30)
    }

    @Test func lossOfTheStateOfARunningDaemonRestartsNoShuffle() async throws {
        var served = try await fixture.run { store in
            let served = store.nextIDs(12, dev)
            #expect(await store.writeShuffles())
            try fixture.folder.remove("state")
            await store.databases.heal()
            await store.readShuffles()
            return served
        }
        served += try await fixture.run { $0.nextIDs(devIDs.count - 12, dev) }
        #expect(Set(served) == devIDs)
    }

    @Test func theLastServedItemIsKnownAfterARestart() async throws {
        let id = try await fixture.run { store async throws in
            store.noteServed("g", .gif, uid: 1)
            let draw = store.next(1, uid: 1, filter: dev, name: "Ada")
            let served = try await store.lastServed(RecentServed.anyKind, uid: 1)
            #expect(served?.kind == .fact && served?.name == "Ada")
            return draw.first.map { draw.catalogue.fact($0).id }
        }
        try await fixture.run { store async throws in
            let served = try await store.lastServed(.fact, uid: 1)
            #expect(served?.id == id && served?.name == "Ada")
            #expect(try await store.lastServed(.gif, uid: 1)?.id == "g")
            // A later item without a shuffle.
            store.noteServed("other", .fact, uid: 1)
        }
        try await fixture.run { store async throws in
            #expect(try await store.lastServed(RecentServed.anyKind, uid: 1)?.id == "other")
            #expect(try await store.lastServed(.gif, uid: 2)?.id == nil)
        }
    }

    @Test func sixtyFifthShuffleForgetsTheLeastRecentlyUsed() async throws {
        let filters = (1...65).map { FactFilter(categories: ["only"], maxLength: 1_000 + $0) }
        let served = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<20, categories: ["only"]))
            return filters.dropLast().map { store.nextIDs(19, $0) }
        }
        try await fixture.run { #expect($0.nextIDs(19, filters[64]).count == 19) }
        try await fixture.run { store async throws in
            #expect(Set(served[1] + store.nextIDs(1, filters[1])).count == 20)
            #expect(try await store.databases.state.count("shuffles WHERE uid = 1") == 64)
        }
    }

    @Test func factWithAChangedTextKeepsItsPlace() async throws {
        let store = try await FactStore.new()
        let facts = upstreamFacts(0..<20, categories: ["only"])
        try await store.replaceUpstream(facts)
        let served = store.nextIDs(12, only)
        try await store.replaceUpstream(facts.map { .upstream($0.id, "New \($0.id).", categories: ["only"]) })
        let rest = store.nextFacts(8, filter: only)
        #expect(Set(rest.map(\.id) + served).count == 20)
        #expect(rest.allSatisfy { $0.text.hasPrefix("New ") })
    }

    @Test func shufflesThatCannotBeWrittenAreWrittenLater() async throws {
        var served = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<40, categories: ["only"]))
            try await store.databases.state.refuseWrites(to: "shuffles")
            let served = store.nextIDs(20, only)
            #expect(await !store.writeShuffles())
            #expect(store.databases.isReadOnly)
            #expect(store.databases.faults.first?.hasPrefix("state.db takes no writes: refused by the test") == true)
            try await store.databases.state.takeWritesAgain()
            #expect(await store.writeShuffles())
            #expect(!store.databases.isReadOnly && store.databases.faults == [])
            return served
        }
        served += try await fixture.run { $0.nextIDs(20, only) }
        #expect(Set(served).count == 40)
    }

    // MARK: The upstream's facts

    @Test func replacementSaysWhatItChanged() async throws {
        let store = try await FactStore.new()
        func replace(_ facts: [Fact], isComplete: Bool = true) async throws -> [Int] {
            let changes = try await store.replaceUpstream(facts, isComplete: isComplete)
            return [changes.added, changes.changed, changes.removed]
        }
        let all = upstreamFacts(0..<10)
        #expect(try await replace(all) == [10, 0, 0])
        let catalogue = store.catalogue
        #expect(try await replace(all) == [0, 0, 0])
        #expect(store.catalogue === catalogue)
        let other = [Fact.upstream(all[4].id, "Another text.")] + all[5...] + [.upstream("new")]
        #expect(try await replace(other) == [1, 1, 4])
        #expect(store.fact(id: all[4].id)?.text == "Another text.")
        #expect(store.fact(id: all[3].id) == nil)
        #expect(store.catalogue.count == StartingCollection.facts().count + 7)
        // A request works on the catalogue that it began with.
        #expect(catalogue.number(ofID: all[3].id) != nil)
        #expect(try await replace([.upstream("more")], isComplete: false) == [1, 0, 0])
        #expect(store.catalogue.upstreamCount == 8)
    }

    @Test func factsAndTheirRecordAreThereAfterARestart() async throws {
        let facts = upstreamFacts(0..<600)
        try await fixture.run { store in
            await #expect(record(store) == nil)
            try await store.replaceUpstream(facts, isComplete: true, fetch: fetch("one"))
        }
        try await fixture.run { store async throws in
            await #expect(record(store) == fetch("one"))
            #expect(store.catalogue.upstreamCount == 600 && store.fact(id: facts[7].id) == facts[7])
            #expect(try await store.clearUpstream() == 600)
            await #expect(record(store) == nil)
            #expect(store.catalogue.upstreamCount == 0)
            #expect(try await store.clearUpstream() == 0)
        }
        try await fixture.run { #expect($0.catalogue.upstreamCount == 0) }
    }

    /// The facts are stored in steps, so a part may be stored, but not the record.
    @Test(arguments: ["facts", "fetches"]) func fetchThatCannotBeWrittenIsRepeated(table: String) async throws {
        let old = upstreamFacts(0..<20)
        let new = upstreamFacts(10..<30)
        func expectNew(_ store: FactStore) async {
            #expect(store.catalogue.upstreamCount == 20)
            #expect(store.fact(id: old[0].id) == nil && store.fact(id: new[19].id) == new[19])
            await #expect(record(store) == fetch("new"))
            #expect(store.databases.faults == [])
        }
        try await fixture.run { store in
            try await store.replaceUpstream(old, isComplete: true, fetch: fetch("old"))
            try await store.databases.cache.refuseWrites(to: table)
            let error = await #expect(throws: StoreError.self) {
                try await store.replaceUpstream(new, isComplete: true, fetch: fetch("new"))
            }
            #expect(error?.description.contains("refused by the test") == true)
            #expect(store.databases.faults.map { $0.hasPrefix("cache.db takes no writes: ") } == [true])
            await #expect(record(store) == fetch("old"))
            try await store.databases.cache.takeWritesAgain()
            try await store.replaceUpstream(new, isComplete: true, fetch: fetch("new"))
            await expectNew(store)
        }
        try await fixture.run { await expectNew($0) }
    }
}

struct CategoryLimitTests {
    private let maximum = 256

    private func facts(_ numbers: Range<Int>) -> [Fact] {
        numbers.map { .upstream("fact-\(1_000 + $0)", categories: ["c\($0)"]) }
    }

    private func names(_ store: FactStore) -> Set<String> {
        Set(store.catalogue.categories(of: .all).map(\.name).filter { $0.hasPrefix("c") && $0.count > 1 })
            .subtracting(["career", "celebrity"])
    }

    /// One category is reserved for `explicit`.
    @Test func furtherCategoriesAreDroppedAndCounted() async throws {
        let store = try await FactStore.new()
        let changes = try await store.replaceUpstream(facts(0..<300))
        #expect(changes.droppedCategories == 300 - (maximum - 1))
        #expect(store.catalogue.upstreamCount == 300)
        #expect(names(store).count == maximum - 1)
        // The same reply changes nothing, although it names more categories than the store contains.
        let again = try await store.replaceUpstream(facts(0..<300))
        #expect((again.added, again.changed, again.removed) == (0, 0, 0))
        #expect(again.droppedCategories == changes.droppedCategories)
    }

    @Test func explicitFactsStayExplicit() async throws {
        let store = try await FactStore.new()
        let many = (0..<20).map { "c\($0)" } + ["explicit"]
        try await store.replaceUpstream([.upstream("z", categories: many)] + facts(20..<300))
        #expect(store.fact(id: "z")?.categories == many[..<15] + ["explicit"])
        try await store.replaceUpstream(facts(20..<300) + [.upstream("a", categories: many)])
        #expect(store.fact(id: "a")?.categories == ["explicit"])
        #expect(store.nextIDs(1_000).allSatisfy { $0 != "a" })
    }

    @Test func namesThatAreNoneAreDropped() async throws {
        let store = try await FactStore.new()
        let long = String(repeating: "a", count: 41)
        let changes = try await store.replaceUpstream([.upstream("a", categories: [long, "A b", "fine"])])
        #expect(changes.droppedCategories == 2)
        #expect(store.fact(id: "a")?.categories == ["fine"])
    }
}
