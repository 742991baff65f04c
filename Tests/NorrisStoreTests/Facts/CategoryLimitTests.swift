import NorrisProtocol
import Testing

@testable import NorrisStore

/// An upstream that invents categories: how many of them are stored, and what becomes of what older versions stored.
struct CategoryLimitTests {
    private let fixture = StoreFixture()
    private let maximum = CategoryLimit.maximumCount

    /// A fact for each number, with a category of its own.
    private func facts(_ numbers: Range<Int>) -> [Fact] {
        numbers.map { .upstream("fact-\(1_000 + $0)", categories: ["c\($0)"]) }
    }

    private func names(_ store: FactStore) -> Set<String> {
        Set(store.categories(of: .all).map(\.name))
    }

    @Test func namesOfAllCategoriesAreFewBytes() {
        let longest = String(repeating: "a", count: 40)
        #expect(Fact.isCategoryName(longest) && !Fact.isCategoryName(longest + "a"))
        #expect(maximum * longest.utf8.count < 64 * 1024)
    }

    /// One place is kept for `explicit`.
    @Test func furtherCategoriesAreDroppedAndCounted() throws {
        let store = try FactStore.inMemory()
        let changes = try store.replaceUpstream(facts(0..<300))
        #expect(changes.droppedCategories == 300 - (maximum - 1))
        #expect(store.count == 300)
        #expect(store.categories(of: .all).count == maximum - 1)
        // The same reply changes nothing, although it names more than is stored.
        let again = try store.replaceUpstream(facts(0..<300))
        #expect((again.added, again.changed, again.removed) == (0, 0, 0))
        #expect(again.droppedCategories == changes.droppedCategories)
    }

    @Test func limitHoldsAcrossRepliesWhoseFactsStay() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(facts(0..<200), isComplete: false)
        try store.addFound(facts(200..<240))
        let known = names(store)
        let changes = try store.replaceUpstream(facts(300..<500), isComplete: false)
        #expect(changes.droppedCategories == 200 - (maximum - 1 - 240))
        #expect(try store.addFound(facts(500..<600)) == 100)
        #expect(store.count == 540)
        #expect(store.categories(of: .all).count == maximum - 1)
        #expect(names(store).isSuperset(of: known))
    }

    @Test func categoriesOfFactsThatGoMakeRoom() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(facts(0..<300))
        #expect(try store.replaceUpstream(facts(1_000..<1_200)).droppedCategories == 0)
        #expect(names(store) == Set((1_000..<1_200).map { "c\($0)" }))
    }

    @Test func otherSourcesCategoriesAreNotCounted() throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let local = names(store)
        try store.replaceUpstream(facts(0..<300))
        #expect(store.categories(of: .all).count == local.count + maximum - 1)
        #expect(names(store).isSuperset(of: local))
    }

    @Test func explicitFactsStayExplicit() async throws {
        let store = try FactStore.inMemory()
        let many = (0..<20).map { "c\($0)" } + ["explicit"]
        // Names are admitted from the highest id down: those of "z" first, those of "a" last.
        try store.replaceUpstream(
            [.upstream("z", categories: many), .upstream("a", categories: many)] + facts(20..<300)
        )
        #expect(try await store.fact(id: "z")?.categories == many[..<15] + ["explicit"])
        #expect(try await store.fact(id: "a")?.categories == many[..<15] + ["explicit"])
        try store.replaceUpstream(facts(20..<300) + [.upstream("a", categories: many)])
        #expect(try await store.fact(id: "a")?.categories == ["explicit"])
        #expect(try await store.fact(id: "a")?.isExplicit == true)
    }

    @Test func aFactHasFewCategoriesAlsoWithThoseOfEqualTexts() async throws {
        let store = try FactStore.inMemory()
        let equal = (0..<10).map { .upstream("\($0)", "Same.", categories: ["a\($0)", "b\($0)", "c\($0)"]) } as [Fact]
        #expect(try store.replaceUpstream(equal).droppedCategories == 30 - Fact.maximumCategories)
        #expect(try await store.fact(id: "0")?.categories.count == Fact.maximumCategories)
        try store.addFound([.upstream("x", "Same.", categories: ["further"])])
        #expect(try await store.fact(id: "0")?.categories.count == Fact.maximumCategories)
    }

    @Test func namesThatAreNoneAreDropped() async throws {
        let store = try FactStore.inMemory()
        let long = String(repeating: "a", count: 41)
        #expect(try store.replaceUpstream([.upstream("a", categories: [long, "A b", "fine"])]).droppedCategories == 2)
        #expect(try await store.fact(id: "a")?.categories == ["fine"])
    }

    // MARK: What older versions have stored

    /// Puts 600 facts with 60 categories each into a cache that has no limit yet.
    private func writeOldCache() throws {
        _ = try fixture.databases()  // The folders.
        try fixture.folder.remove("cache/cache.db")
        let old = try OpenedDatabase.open(
            DatabaseKind.cache.before("category limit"), folder: fixture.cacheFolder, logger: .silent
        )
        try old.writer.write { database in
            for number in 0..<600 {
                let names = (0..<59).map { "c\((number * 59 + $0) % 3_000)" } + [number == 599 ? "explicit" : "last"]
                let fact = Fact.upstream("fact-\(1_000 + number)", categories: names)
                try fact.storeInOldCache(Int64(number + 1), database)
            }
        }
        try old.close()
    }

    @Test func longTablesOfAnEarlierVersionAreLimited() async throws {
        try fixture.databases().close()
        try writeOldCache()
        try await fixture.run { store in
            #expect(store.count == 600)
            #expect(store.categories(of: .all).count == maximum - 1)
            #expect(try await store.fact(id: "fact-1599")?.isExplicit == true)
            #expect(try await store.fact(id: "fact-1000")?.categories.count == Fact.maximumCategories)
            // Memory and search agree.
            let name = try #require(store.categories(of: .all).first?.name)
            let page = try await store.search(FactQuery(text: "text", categories: [name]), cursor: nil, limit: 1_000)
            #expect(page.items.count == min(store.categories(of: .all).first?.count ?? 0, 1_000))
            try await store.databases.cache.writer.read { try $0.expectWholeFacts() }
        }
    }

    /// An upstream that invents others with every reply.
    @Test func listsDoNotGrowWithEveryReply() async throws {
        try await fixture.run { store in
            for reply in 0..<6 {
                try store.replaceUpstream(facts(reply * 200..<reply * 200 + 200))
                let filter = ShuffleFilter(categories: ["c\(reply * 200)"])
                #expect(await store.nextIDs(1, filter).count == 1)
                await store.writeShuffles()
                let lists = try await store.databases.cache.writer.read {
                    try Int.fetchOne($0, "SELECT count(*) FROM fact_lists")
                }
                #expect(lists == 201)
                #expect(names(store) == Set((reply * 200..<reply * 200 + 200).map { "c\($0)" }))
            }
            // A category that comes back is shuffled anew, and its facts come once each.
            try store.replaceUpstream(upstreamFacts(0..<30, categories: ["c0"]))
            #expect(await Set(store.nextIDs(30, ShuffleFilter(categories: ["c0"]))).count == 30)
            #expect(await Set(store.nextIDs(30, uid: 2, ShuffleFilter(categories: ["c0"]))).count == 30)
        }
        try await fixture.run { #expect(names($0) == ["c0"]) }
    }
}
