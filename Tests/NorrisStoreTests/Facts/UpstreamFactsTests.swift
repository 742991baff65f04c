import NorrisProtocol
import Testing

@testable import NorrisStore

struct UpstreamFactsTests {
    private let fixture = StoreFixture()

    private func fetch(_ settings: String) -> FetchRecord {
        FetchRecord(
            settings: settings, fetchedAt: Timestamp(seconds: 7),
            parts: ["q": PartRecord(etag: "W/\"\(settings)\"", checkedAt: Timestamp(seconds: 7))])
    }

    private func record(_ store: FactStore) async -> FetchRecord? {
        await FetchRecords(databases: store.databases).record(of: "facts")
    }

    @Test func replacementSaysWhatItChanged() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let all = upstreamFacts(0..<10)
        #expect(try await store.replaceUpstream(all) == changes(added: 10, total: 10))
        #expect(try await store.replaceUpstream(all) == changes(total: 10))
        let other = [Fact.upstream(all[4].id, "Another text.")] + all[5...] + [.upstream("new")]
        #expect(try await store.replaceUpstream(other) == changes(added: 1, changed: 1, removed: 4, total: 7))
        #expect(try await store.fact(id: all[4].id)?.text == "Another text.")
        #expect(try await store.fact(id: all[3].id) == nil)
        #expect(store.count == StartingCollection.facts().count + 7)
    }

    private func changes(added: Int = 0, changed: Int = 0, removed: Int = 0, total: Int) -> UpstreamChanges {
        UpstreamChanges(added: added, changed: changed, removed: removed, total: total, droppedCategories: 0)
    }

    /// Each field is compared on its own and completely.
    @Test func changeOfAnyFieldIsAChange() async throws {
        let store = try FactStore.inMemory()
        let (early, late) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
        var fact = Fact(id: "a", text: "é", categories: ["x"], source: "chucknorris")
        try await store.replaceUpstream([fact])
        let steps: [(inout Fact) -> Void] = [
            // Canonically equivalent, but other bytes.
            { $0.text = "e\u{301}" }, { $0.categories = ["x", "y"] }, { $0.categories = ["y", "x"] },
            { $0.source = "other" }, { $0.url = "https://example.org" }, { $0.url = "https://example.com" },
            { $0.createdAt = early }, { $0.updatedAt = early }, { $0.updatedAt = late }, { $0.url = nil },
            { $0.createdAt = nil },
        ]
        for (number, step) in steps.enumerated() {
            step(&fact)
            #expect(try await store.replaceUpstream([fact]) == changes(changed: 1, total: 1), "step \(number)")
            #expect(try await store.replaceUpstream([fact]) == changes(total: 1), "step \(number)")
            let stored = try #require(try await store.fact(id: "a"))
            #expect(stored.text.utf8.elementsEqual(fact.text.utf8))
            #expect(stored == fact)
        }
    }

    @Test func unchangedFactsAreNotWritten() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(upstreamFacts(0..<5))
        try await store.databases.cache(.facts).opened.refuseWrites(to: "facts")
        #expect(try await store.replaceUpstream(upstreamFacts(0..<5)) == changes(total: 5))
        #expect(try await store.addFound(upstreamFacts(0..<5)) == 0)
    }

    @Test func recordIsWrittenWithTheFacts() async throws {
        try await fixture.run { store in
            await #expect(record(store) == nil)
            try await store.replaceUpstream([.upstream("a")], isComplete: true, fetch: fetch("one"))
            await #expect(record(store) == fetch("one"))
        }
        try await fixture.run { store in
            await #expect(record(store) == fetch("one"))
            #expect(try await store.fact(id: "a") != nil)
            try await store.addFound([.upstream("b")])
            await #expect(record(store) == fetch("one"))
            try await store.replaceUpstream([], isComplete: true, fetch: fetch("two"))
            await #expect(record(store) == fetch("two"))
        }
    }

    @Test func clearedMeansAsIfNeverFetched() async throws {
        let path = try fixture.folder.write("jokes", "One.\n%\nTwo.\n")
        try await fixture.run { store in
            store.importStartingCollection()
            store.importFortunes([path])
            let local = store.count
            let fetched = upstreamFacts(0..<10, categories: ["only"])
            try await store.replaceUpstream(fetched, isComplete: true, fetch: fetch("one"))
            try await store.addFound([.upstream("found")])
            FetchRecords(databases: store.databases).write(fetch("gifs"), for: "gifs")
            #expect(try await store.clearUpstream() == 11)
            #expect(store.count == local)
            #expect(store.isLocal && !store.hasCategory("only"))
            await #expect(record(store) == nil)
            #expect(try await store.search(FactQuery(text: "text of"), cursor: nil, limit: 1).items.isEmpty)
            #expect(try await store.clearUpstream() == 0)
        }
        try await fixture.run { store in
            let isUnknown = await record(store) == nil
            #expect(store.isLocal && isUnknown)
            await #expect(FetchRecords(databases: store.databases).record(of: "gifs") == fetch("gifs"))
        }
    }

    /// An id belongs to its source: an upstream cannot change built-in facts or fortunes.
    @Test func idsOfOthersAreNotTheUpstreams() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let builtin = try #require(StartingCollection.facts().first)
        let result = try await store.replaceUpstream([.upstream(builtin.id, "Not yours."), .upstream("a")])
        #expect(result == changes(added: 1, total: 1))
        #expect(try await store.fact(id: builtin.id)?.text == builtin.text)
        #expect(try await store.addFound([.upstream(builtin.id, "Not yours.")]) == 0)
        #expect(try await store.fact(id: builtin.id)?.source == "builtin")
    }
}

struct CategoryLimitTests {
    private let fixture = StoreFixture()
    private let maximum = CategoryLimit.maximumCount

    private func facts(_ numbers: Range<Int>) -> [Fact] {
        numbers.map { .upstream("fact-\(1_000 + $0)", categories: ["c\($0)"]) }
    }

    private func names(_ store: FactStore) -> Set<String> { Set(store.categories(of: .all).map(\.name)) }

    /// One category is reserved for `explicit`.
    @Test func furtherCategoriesAreDroppedAndCounted() async throws {
        let store = try FactStore.inMemory()
        let changes = try await store.replaceUpstream(facts(0..<300))
        #expect(changes.droppedCategories == 300 - (maximum - 1))
        #expect(store.count == 300)
        #expect(store.categories(of: .all).count == maximum - 1)
        // The same reply changes nothing, although it names more categories than the store contains.
        let again = try await store.replaceUpstream(facts(0..<300))
        #expect((again.added, again.changed, again.removed) == (0, 0, 0))
        #expect(again.droppedCategories == changes.droppedCategories)
    }

    @Test func limitHoldsAcrossRepliesWhoseFactsStay() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(facts(0..<200), isComplete: false)
        try await store.addFound(facts(200..<240))
        let known = names(store)
        let changes = try await store.replaceUpstream(facts(300..<500), isComplete: false)
        #expect(changes.droppedCategories == 200 - (maximum - 1 - 240))
        #expect(try await store.addFound(facts(500..<600)) == 100)
        #expect(store.count == 540)
        #expect(store.categories(of: .all).count == maximum - 1)
        #expect(names(store).isSuperset(of: known))
    }

    @Test func otherSourcesCategoriesAreNotCounted() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let local = names(store)
        try await store.replaceUpstream(facts(0..<300))
        #expect(store.categories(of: .all).count == local.count + maximum - 1)
        #expect(names(store).isSuperset(of: local))
    }

    @Test func explicitFactsStayExplicit() async throws {
        let store = try FactStore.inMemory()
        let many = (0..<20).map { "c\($0)" } + ["explicit"]
        // Categories are admitted in descending order of fact ids: "z" first, "a" last.
        try await store.replaceUpstream(
            [.upstream("z", categories: many), .upstream("a", categories: many)] + facts(20..<300))
        #expect(try await store.fact(id: "z")?.categories == many[..<15] + ["explicit"])
        #expect(try await store.fact(id: "a")?.categories == many[..<15] + ["explicit"])
        try await store.replaceUpstream(facts(20..<300) + [.upstream("a", categories: many)])
        #expect(try await store.fact(id: "a")?.categories == ["explicit"])
        #expect(try await store.fact(id: "a")?.isExplicit == true)
    }

    @Test func aFactHasFewCategoriesAlsoWithThoseOfEqualTexts() async throws {
        let store = try FactStore.inMemory()
        let equal = (0..<10).map { .upstream("\($0)", "Same.", categories: ["a\($0)", "b\($0)", "c\($0)"]) } as [Fact]
        #expect(try await store.replaceUpstream(equal).droppedCategories == 30 - Fact.maximumCategories)
        #expect(try await store.fact(id: "0")?.categories.count == Fact.maximumCategories)
        try await store.addFound([.upstream("x", "Same.", categories: ["further"])])
        #expect(try await store.fact(id: "0")?.categories.count == Fact.maximumCategories)
    }

    @Test func namesThatAreNoneAreDropped() async throws {
        let store = try FactStore.inMemory()
        let long = String(repeating: "a", count: 41)
        #expect(
            try await store.replaceUpstream([.upstream("a", categories: [long, "A b", "fine"])]).droppedCategories == 2)
        #expect(try await store.fact(id: "a")?.categories == ["fine"])
    }

    @Test func listsDoNotGrowWithEveryReply() async throws {
        try await fixture.run { store in
            for reply in 0..<6 {
                try await store.replaceUpstream(facts(reply * 200..<reply * 200 + 200))
                let filter = ShuffleFilter(categories: ["c\(reply * 200)"])
                #expect(await store.nextIDs(1, filter).count == 1)
                await store.writeShuffles()
                let lists = try await store.databases.cache(.facts).writer.read {
                    try Int.fetchOne($0, "SELECT count(*) FROM fact_lists")
                }
                #expect(lists == 201)
                #expect(names(store) == Set((reply * 200..<reply * 200 + 200).map { "c\($0)" }))
            }
            // A category that returns is shuffled again, and each of its facts is served once.
            try await store.replaceUpstream(upstreamFacts(0..<30, categories: ["c0"]))
            #expect(await Set(store.nextIDs(30, ShuffleFilter(categories: ["c0"]))).count == 30)
            #expect(await Set(store.nextIDs(30, uid: 2, ShuffleFilter(categories: ["c0"]))).count == 30)
        }
        try await fixture.run { #expect(names($0) == ["c0"]) }
    }
}
