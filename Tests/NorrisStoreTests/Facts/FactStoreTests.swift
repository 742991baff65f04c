import CSQLite
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore

struct FactStoreTests {
    private let fixture = StoreFixture()
    private let dev = FactFilter(categories: ["dev"])
    private let devIDs = Set(StartingCollection.facts().filter { $0.categories.contains("dev") }.map(\.id))
    /// Facts of the upstream, without the starting collection.
    private let only = FactFilter(categories: ["only"])

    private func fetch(_ settings: String) -> FetchRecord {
        FetchRecord(
            settings: settings, fetchedAt: Timestamp(seconds: 7),
            parts: ["q": PartRecord(etag: "W/\"\(settings)\"", checkedAt: Timestamp(seconds: 7))])
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
        var served = store.nextIDs(12, dev)
        #expect(await store.writeShuffles())
        let next = try fixture.killed()
        served += try await next.run { $0.nextIDs(devIDs.count - 12, dev) }
        #expect(Set(served) == devIDs)
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
            store.stateWasReplaced()
            return served
        }
        served += try await fixture.run { $0.nextIDs(devIDs.count - 12, dev) }
        #expect(Set(served) == devIDs)
    }

    @Test func usersDoNotSeeEachOther() async throws {
        let store = try await FactStore.new()
        for _ in 0..<devIDs.count { #expect(store.nextIDs(1, uid: 1, dev).count == 1) }
        #expect(Set(store.nextIDs(devIDs.count, uid: 2, dev)) == devIDs)
        #expect(Set(store.nextIDs(devIDs.count, uid: .max, dev)) == devIDs)
    }

    @Test func sixtyFifthShuffleForgetsTheLeastRecentlyUsed() async throws {
        let filters = (1...65).map { FactFilter(categories: ["only"], maxLength: 1_000 + $0) }
        let served = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<20, categories: ["only"]))
            return filters.map { store.nextIDs(19, $0) }
        }
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

    @Test func categoryThatLosesItsLastFactInACycleServesWhatComesLater() async throws {
        let store = try await FactStore.new()
        try await store.replaceUpstream(upstreamFacts(0..<5, categories: ["only"]))
        #expect(store.nextIDs(2, only).count == 2)
        try await store.replaceUpstream(upstreamFacts(0..<5))
        #expect(store.nextIDs(2, only).isEmpty)
        try await store.replaceUpstream(upstreamFacts(3..<9, categories: ["only"]))
        #expect(Set(store.nextIDs(100, only)) == Set(upstreamFacts(3..<9).map(\.id)))
    }

    @Test func shufflesThatCannotBeWrittenAreWrittenLater() async throws {
        let changes = Mutex(0)
        var served = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<40, categories: ["only"]))
            store.databases.onChange { changes.withLock { $0 += 1 } }
            try await store.databases.state.refuseWrites(to: "shuffles")
            var served = store.nextIDs(10, only)
            #expect(await !store.writeShuffles())
            #expect(store.databases.isReadOnly)
            #expect(store.databases.faults.count == 1)
            #expect(store.databases.faults.first?.hasPrefix("state.db takes no writes: refused by the test") == true)
            served += store.nextIDs(10, only)
            #expect(await !store.writeShuffles())
            #expect(changes.withLock { $0 } == 1)
            try await store.databases.state.takeWritesAgain()
            #expect(await store.writeShuffles())
            #expect(changes.withLock { $0 } == 2)
            #expect(!store.databases.isReadOnly && store.databases.faults == [])
            return served
        }
        served += try await fixture.run { $0.nextIDs(20, only) }
        #expect(Set(served).count == 40)
    }

    // MARK: The upstream's facts

    @Test func replacementSaysWhatItChanged() async throws {
        let store = try await FactStore.new()
        func changes(added: Int = 0, changed: Int = 0, removed: Int = 0) -> [Int] { [added, changed, removed] }
        func replace(_ facts: [Fact], isComplete: Bool = true) async throws -> [Int] {
            let changes = try await store.replaceUpstream(facts, isComplete: isComplete)
            return [changes.added, changes.changed, changes.removed]
        }
        let all = upstreamFacts(0..<10)
        #expect(try await replace(all) == changes(added: 10))
        let catalogue = store.catalogue
        #expect(try await replace(all) == changes())
        #expect(store.catalogue === catalogue)
        let other = [Fact.upstream(all[4].id, "Another text.")] + all[5...] + [.upstream("new")]
        #expect(try await replace(other) == changes(added: 1, changed: 1, removed: 4))
        #expect(store.fact(id: all[4].id)?.text == "Another text.")
        #expect(store.fact(id: all[3].id) == nil)
        #expect(store.catalogue.count == StartingCollection.facts().count + 7)
        // A request works on the catalogue that it began with.
        #expect(catalogue.number(ofID: all[3].id) != nil)
        #expect(try await replace([.upstream("more")], isComplete: false) == changes(added: 1))
        #expect(store.catalogue.upstreamCount == 8)
    }

    /// Each field is compared on its own and completely.
    @Test func changeOfAnyFieldIsAChange() async throws {
        let store = try await FactStore.new()
        let (early, late) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
        var fact = Fact(id: "a", text: "é", categories: ["x"], source: "chucknorris")
        try await store.replaceUpstream([fact])
        let steps: [(inout Fact) -> Void] = [
            // Canonically equivalent, but other bytes.
            { $0.text = "e\u{301}" }, { $0.categories = ["x", "y"] }, { $0.categories = ["y", "x"] },
            { $0.url = "https://example.org" }, { $0.url = "https://example.com" }, { $0.createdAt = early },
            { $0.updatedAt = early }, { $0.updatedAt = late }, { $0.url = nil }, { $0.createdAt = nil },
        ]
        for (number, step) in steps.enumerated() {
            step(&fact)
            #expect(try await store.replaceUpstream([fact]).changed == 1, "step \(number)")
            #expect(try await store.replaceUpstream([fact]).changed == 0, "step \(number)")
            let stored = try #require(store.fact(id: "a"))
            #expect(stored.text.utf8.elementsEqual(fact.text.utf8) && stored == fact)
        }
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

    @Test func cancelledFetchChangesNothing() async throws {
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<600))
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.replaceUpstream(upstreamFacts(500..<700))
            }
            task.cancel()
            await #expect(throws: StoreError(path: fixture.folder("cache/cache.db"), .cancelled)) {
                try await task.value
            }
            #expect(store.catalogue.upstreamCount == 600 && store.databases.faults == [])
        }
    }

    @Test func fetchWhoseFirstPartWasClearedIsRepeated() async throws {
        let facts = upstreamFacts(0..<20)
        let store = try await fixture.open()
        let databases = store.databases
        let generation = databases.generation(of: FactStore.upstreamSource)
        try await store.clearUpstream()
        #expect(databases.generation(of: FactStore.upstreamSource) != generation)
        // As if the content were cleared after each step.
        try await databases.cache.write { database in
            _ = sqlite3_commit_hook(
                database.handle,
                { databases in
                    // SAFETY: The pointer of the next argument.
                    Unmanaged<Databases>.fromOpaque(databases!).takeUnretainedValue()
                        .noteCleared(FactStore.upstreamSource)
                    return 0
                }, Unmanaged.passUnretained(databases).toOpaque())
        }
        await #expect(throws: Databases.contentGone) { try await store.replaceUpstream(facts) }
        await #expect(record(store) == nil)
        try await databases.cache.write { _ = sqlite3_commit_hook($0.handle, nil, nil) }
        try await store.replaceUpstream(facts)
        #expect(store.catalogue.upstreamCount == 20)
        await databases.close()
    }

    /// Facts in memory are served although the file was removed.
    @Test func lossOfTheCacheOfARunningDaemonHidesNoFact() async throws {
        let store = try await fixture.open()
        try await store.replaceUpstream(upstreamFacts(0..<20))
        try fixture.folder.remove("cache")
        await store.databases.heal()
        #expect(store.databases.faults.map { $0.hasPrefix("cache.db was missing") } == [true])
        #expect(store.catalogue.upstreamCount == 20)
        try await store.replaceUpstream(upstreamFacts(10..<30))
        #expect(store.fact(id: upstreamFacts(0..<1)[0].id) == nil)
        await store.databases.close()
        try await fixture.run { #expect($0.catalogue.upstreamCount == 20 && $0.databases.faults == []) }
    }

    @Test func withoutAnyFolderTheDaemonServes() async throws {
        let file = try fixture.folder.write("file", "")
        let databases = try await Databases(cacheFolder: file + "/c", stateFolder: file + "/s", logger: .silent)
        let store = await FactStore(databases: databases)
        #expect(Set(store.nextIDs(100)).count == 100)
        #expect(await store.writeShuffles())
        #expect(try store.search(FactQuery(text: "chuck"), limit: 5).items.count == 5)
        let day = try #require(CivilDate("2026-02-28"))
        let fact = store.factOfTheDay(day, today: day, source: .all)
        #expect(fact != nil && store.factOfTheDay(day, today: day, source: .all) == fact)
        #expect(databases.isReadOnly)
        #expect(databases.faults.count == 2)
        #expect(databases.faults.allSatisfy { $0.contains(file) && $0.contains("in memory") })
        await databases.close()
    }

    /// Facts are drawn while a catalogue is built.
    @Test func requestsNoticeNothingOfALargeFetch() async throws {
        let store = try await FactStore.new()
        let facts = upstreamFacts(0..<3_000, categories: ["dev"])
        let isDone = Mutex(false)
        async let change: Void = {
            defer { isDone.withLock { $0 = true } }
            try await store.replaceUpstream(facts)
        }()
        var served: [String] = []
        while !isDone.withLock({ $0 }) {
            // Fewer than the initial facts, because the cycle would end with the last of these facts.
            if served.count < devIDs.count - 1 { served += store.nextIDs(1, dev) }
            await Task.yield()
        }
        try await change
        let rest = store.nextIDs(3_000 + devIDs.count, dev)
        #expect(Set(served).count == served.count)
        #expect(Set(rest).isSuperset(of: facts.map(\.id)))
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

    @Test func limitHoldsAcrossRepliesWhoseFactsStay() async throws {
        let store = try await FactStore.new()
        try await store.replaceUpstream(facts(0..<240), isComplete: false)
        let known = names(store)
        let changes = try await store.replaceUpstream(facts(300..<500), isComplete: false)
        #expect(changes.droppedCategories == 200 - (maximum - 1 - 240))
        #expect(store.catalogue.upstreamCount == 440)
        #expect(names(store).count == maximum - 1 && names(store).isSuperset(of: known))
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
