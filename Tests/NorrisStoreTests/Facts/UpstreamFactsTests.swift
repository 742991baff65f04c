import NorrisProtocol
import Testing

@testable import NorrisStore

/// What becomes of the upstream's facts when a fetch or a search brings others.
struct UpstreamFactsTests {
    private let fixture = StoreFixture()

    private func fetch(_ settings: String) -> FetchRecord {
        FetchRecord(
            settings: settings, fetchedAt: Timestamp(seconds: 7),
            parts: ["q": PartRecord(etag: "W/\"\(settings)\"", checkedAt: Timestamp(seconds: 7))]
        )
    }

    private func record(_ store: FactStore) -> FetchRecord? {
        FetchRecords(databases: store.databases, logger: .silent).record(of: "facts")
    }

    @Test func replacementSaysWhatItChanged() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let all = upstreamFacts(0..<10)
        #expect(try store.replaceUpstream(all) == changes(added: 10, total: 10))
        #expect(try store.replaceUpstream(all) == changes(total: 10))
        let other = [Fact.upstream(all[4].id, "Another text.")] + all[5...] + [.upstream("new")]
        #expect(try store.replaceUpstream(other) == changes(added: 1, changed: 1, removed: 4, total: 7))
        #expect(try await store.fact(id: all[4].id)?.text == "Another text.")
        #expect(try await store.fact(id: all[3].id) == nil)
        #expect(store.count == StartingCollection.facts().count + 7)
    }

    private func changes(added: Int = 0, changed: Int = 0, removed: Int = 0, total: Int) -> UpstreamChanges {
        UpstreamChanges(added: added, changed: changed, removed: removed, total: total, droppedCategories: 0)
    }

    /// Each field by itself: what is compared is compared whole.
    @Test func changeOfAnyFieldIsAChange() async throws {
        let store = try FactStore.inMemory()
        let (early, late) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
        var fact = Fact(id: "a", text: "é", categories: ["x"], source: "chucknorris")
        try store.replaceUpstream([fact])
        let steps: [(inout Fact) -> Void] = [
            // Canonically the same, and other bytes.
            { $0.text = "e\u{301}" }, { $0.categories = ["x", "y"] }, { $0.categories = ["y", "x"] },
            { $0.source = "other" }, { $0.url = "https://example.org" }, { $0.url = "https://example.com" },
            { $0.createdAt = early }, { $0.updatedAt = early }, { $0.updatedAt = late }, { $0.url = nil },
            { $0.createdAt = nil },
        ]
        for (number, step) in steps.enumerated() {
            step(&fact)
            #expect(try store.replaceUpstream([fact]) == changes(changed: 1, total: 1), "step \(number)")
            #expect(try store.replaceUpstream([fact]) == changes(total: 1), "step \(number)")
            let stored = try #require(try await store.fact(id: "a"))
            #expect(stored.text.utf8.elementsEqual(fact.text.utf8))
            #expect(stored == fact)
        }
    }

    @Test func unchangedFactsAreNotWritten() async throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<5))
        try await store.databases.cache.opened.refuseWrites(to: "facts")
        #expect(try store.replaceUpstream(upstreamFacts(0..<5)) == changes(total: 5))
        #expect(try store.addFound(upstreamFacts(0..<5)) == 0)
    }

    @Test func incompleteReplacementTakesNothingAway() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<5))
        let some = upstreamFacts(3..<8)
        #expect(try store.replaceUpstream(some, isComplete: false) == changes(added: 3, total: 8))
        #expect(try store.replaceUpstream(some) == changes(removed: 3, total: 5))
    }

    @Test func recordIsWrittenWithTheFacts() async throws {
        try await fixture.run { store in
            #expect(record(store) == nil)
            try store.replaceUpstream([.upstream("a")], isComplete: true, fetch: fetch("one"))
            #expect(record(store) == fetch("one"))
        }
        try await fixture.run { store in
            #expect(record(store) == fetch("one"))
            #expect(try await store.fact(id: "a") != nil)
            try store.addFound([.upstream("b")])
            #expect(record(store) == fetch("one"))
            try store.replaceUpstream([], isComplete: true, fetch: fetch("two"))
            #expect(record(store) == fetch("two"))
        }
    }

    @Test func foundFactsStayUntilAFetchHasBroughtThem() async throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([.upstream("ordinary")])
        #expect(try store.addFound([.upstream("found"), .upstream("ordinary")]) == 1)
        #expect(try store.replaceUpstream([.upstream("other")]) == changes(added: 1, removed: 1, total: 2))
        #expect(try await store.fact(id: "found") != nil)
        #expect(try await store.fact(id: "ordinary") == nil)
        #expect(try store.replaceUpstream([.upstream("other"), .upstream("found")]) == changes(total: 2))
        // Found again, it stays what it is.
        #expect(try store.addFound([.upstream("found", "A new text.")]) == 0)
        #expect(try await store.fact(id: "found")?.text == "A new text.")
        #expect(try store.replaceUpstream([.upstream("other")]) == changes(removed: 1, total: 1))
    }

    @Test func changedFactThatAFetchBringsIsLikeAnyOther() throws {
        let store = try FactStore.inMemory()
        try store.addFound([.upstream("found")])
        #expect(try store.replaceUpstream([.upstream("found", "New.")]) == changes(changed: 1, total: 1))
        #expect(try store.replaceUpstream([]) == changes(removed: 1, total: 0))
    }

    @Test func clearedMeansAsIfNeverFetched() async throws {
        let path = try fixture.folder.write("jokes", "One.\n%\nTwo.\n")
        try await fixture.run { store in
            store.importStartingCollection()
            store.importFortunes([path])
            let local = store.count
            let fetched = upstreamFacts(0..<10, categories: ["only"])
            try store.replaceUpstream(fetched, isComplete: true, fetch: fetch("one"))
            try store.addFound([.upstream("found")])
            FetchRecords(databases: store.databases, logger: .silent).write(fetch("gifs"), for: "gifs")
            #expect(try store.clearUpstream() == 11)
            #expect(store.count == local)
            #expect(store.isLocal && !store.hasCategory("only"))
            #expect(record(store) == nil)
            #expect(try await store.search(FactQuery(text: "text of"), cursor: nil, limit: 1).items.isEmpty)
            #expect(try store.clearUpstream() == 0)
        }
        try await fixture.run { store in
            #expect(store.isLocal && record(store) == nil)
            #expect(FetchRecords(databases: store.databases, logger: .silent).record(of: "gifs") == fetch("gifs"))
        }
    }

    /// A fact that comes back is a new one, and each comes once from then on.
    @Test func clearingAndFetchingAgainBeginsAnew() async throws {
        let facts = upstreamFacts(0..<40, categories: ["x"])
        let filters = [ShuffleFilter(), ShuffleFilter(categories: ["x"]), ShuffleFilter(maxLength: 100)]
        try await fixture.run { store in
            try store.replaceUpstream(facts)
            for filter in filters { #expect(await store.nextIDs(15, filter).count == 15) }
        }
        try await fixture.run { store in
            try store.clearUpstream()
            for filter in filters { #expect(await store.nextIDs(1, filter) == []) }
            try store.replaceUpstream(Array(facts.reversed().prefix(20)))
            for filter in filters { #expect(await store.nextIDs(5, filter).count == 5) }
            try store.clearUpstream()
            try store.replaceUpstream(facts)
        }
        try await fixture.run { store in
            for filter in filters { #expect(await Set(store.nextIDs(40, filter)).count == 40, "\(filter)") }
        }
    }

    @Test func fiftyThousandFactsComeInAtOnce() async throws {
        let facts = upstreamFacts(0..<50_000)
        let total = try await fixture.run { try $0.replaceUpstream(facts).total }
        #expect(total == 50_000)
        try await fixture.run { store in
            #expect(store.count == 50_000)
            #expect(store.databases.faults == [])
            #expect(await Set(store.nextIDs(100)).count == 100)
            let last = try await store.fact(id: facts[49_999].id)
            #expect(last == facts[49_999])
        }
    }

    /// An id says whose a fact is: an upstream cannot change what the starting collection or a file gave.
    @Test func idsOfOthersAreNotTheUpstreams() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let builtin = try #require(StartingCollection.facts().first)
        let result = try store.replaceUpstream([.upstream(builtin.id, "Not yours."), .upstream("a")])
        #expect(result == changes(added: 1, total: 1))
        #expect(try await store.fact(id: builtin.id)?.text == builtin.text)
        #expect(try store.addFound([.upstream(builtin.id, "Not yours.")]) == 0)
        #expect(try await store.fact(id: builtin.id)?.source == "builtin")
    }

    @Test func ofOneIdTheFirstCounts() async throws {
        let store = try FactStore.inMemory()
        let result = try store.replaceUpstream([.upstream("a", "First."), .upstream("a", "Second.")])
        #expect(result == changes(added: 1, total: 1))
        #expect(try await store.fact(id: "a")?.text == "First.")
    }

    /// Texts go from one fact to the other within one fetch; neither is the other's double.
    @Test func factsMaySwapTheirTexts() async throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([.upstream("a", "X"), .upstream("b", "Y"), .upstream("c", "Z")])
        let result = try store.replaceUpstream([.upstream("a", "Y"), .upstream("b", "Z"), .upstream("c", "X")])
        #expect(result == changes(changed: 3, total: 3))
        #expect(try await ["a", "b", "c"].mapped { try await store.fact(id: $0)?.text } == ["Y", "Z", "X"])
    }
}
