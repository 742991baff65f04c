import Foundation
import NorrisProtocol
import Synchronization
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FactStoreTests {
    private let dev = ShuffleFilter(categories: ["dev"])
    private let devIDs = Set(StartingCollection.facts().filter { $0.categories.contains("dev") }.map(\.id))

    @Test func everyFactComesBeforeAnyComesAgainOverRestarts() async throws {
        let fixture = StoreFixture()
        var given: [String] = []
        while given.count < devIDs.count {
            given += try await fixture.run { store in
                store.importStartingCollection()
                return await store.nextIDs(min(7, devIDs.count - given.count), dev)
            }
        }
        #expect(Set(given) == devIDs)
    }

    @Test func nothingThatWasWrittenIsLostInACrash() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.importStartingCollection()
        var given = await store.nextIDs(12, dev)
        #expect(await store.writeShuffles())
        let next = try fixture.killed()
        given += try await next.run { store in
            store.importStartingCollection()
            return await store.nextIDs(devIDs.count - 12, dev)
        }
        #expect(Set(given) == devIDs)
        store.databases.close()
    }

    /// A lost cache restarts the cycle, and each cycle contains each fact once.
    @Test func lossOfTheCacheBetweenRunsRestartsTheShuffles() async throws {
        let fixture = StoreFixture()
        let upstream = upstreamFacts(0..<30, categories: ["dev"])
        try await fixture.run { store in
            store.importStartingCollection()
            try await store.replaceUpstream(upstream)
            #expect(await store.nextIDs(20, dev).count == 20)
        }
        try fixture.folder.remove("cache")
        let given = try await fixture.run { store in
            store.importStartingCollection()
            // Draws before the upstream facts are stored. The upstream facts then arrive in another order.
            let early = await store.nextIDs(3, dev)
            for end in 1...3 { try await store.replaceUpstream(Array(upstream.reversed().prefix(10 * end))) }
            return await early + store.nextIDs(devIDs.count + 30 - 3, dev)
        }
        #expect(Set(given).count == devIDs.count + 30)
    }

    @Test func lossOfTheCacheUnderARunningDaemonIsMended() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.importStartingCollection()
        try await store.replaceUpstream([.upstream("gone", "Nowhere else.")])
        let everything = store.count
        #expect(await store.nextIDs(20, dev).count == 20)
        #expect(!store.databases.recreateLostCache())

        for name in try fixture.folder.names("cache") { try fixture.folder.remove("cache/" + name) }
        #expect(store.databases.recreateLostCache())
        store.refill()
        #expect(!store.databases.recreateLostCache())
        #expect(store.count == everything - 1)
        #expect(try await store.fact(id: "gone") == nil)
        #expect(try await store.search(FactQuery(text: "nowhere else"), cursor: nil, limit: 10).items.isEmpty)
        #expect(try await !store.search(FactQuery(text: "chuck"), cursor: nil, limit: 10).items.isEmpty)
        #expect(await Set(store.nextIDs(devIDs.count, dev)) == devIDs)
        await store.writeShuffles()
        store.databases.close()
        // The new file is intact and does not contain frames from the old log.
        try await fixture.run { #expect($0.count == everything - 1 && $0.databases.faults == []) }
    }

    /// Deletes only the database file, like `rm cache.db`. The log and its index remain.
    @Test func leftoversOfADeletedCacheDoNoHarm() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try await store.replaceUpstream(upstreamFacts(0..<50))
        let identities = { ["-wal", "-shm"].map { Folder.identity(of: fixture.folder("cache/cache.db" + $0)) } }
        let before = identities()
        try fixture.folder.remove("cache/cache.db")
        #expect(store.databases.recreateLostCache())
        // The old connections were still open. The new connections must not share their log and index.
        #expect(zip(before, identities()).allSatisfy { $0 != nil && $1 != nil && $0 != $1 })
        store.refill()
        try await store.replaceUpstream(upstreamFacts(50..<60))
        store.databases.close()
        try await fixture.run { store in
            #expect(store.databases.faults == [])
            let found = try await upstreamFacts(50..<60).mapped { try await store.fact(id: $0.id) }
            #expect(found == upstreamFacts(50..<60))
            let gone = try await store.fact(id: "fact-000007")
            #expect(gone == nil)
        }
    }

    @Test func usersDoNotSeeEachOther() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        for _ in 0..<devIDs.count { #expect(await store.nextIDs(1, uid: 1, dev).count == 1) }
        #expect(await Set(store.nextIDs(devIDs.count, uid: 2, dev)) == devIDs)
        // The highest 32-bit uid.
        #expect(await Set(store.nextIDs(devIDs.count, uid: .max, dev)) == devIDs)
    }

    @Test func sixtyFifthShuffleForgetsTheLeastRecentlyUsed() async throws {
        let fixture = StoreFixture()
        let filters = (1...65).map { ShuffleFilter(maxLength: 1_000 + $0) }
        let given = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<20))
            return await filters.mapped { await store.nextIDs(19, $0) }
        }
        try await fixture.run { store in
            #expect(await Set(given[1] + store.nextIDs(1, filters[1])).count == 20)
            let count = try await store.databases.state.writer.read { try Int.fetchOne($0, shufflesOfUser) }
            #expect(count == 64)
        }
    }

    private var shufflesOfUser: String { "SELECT count(*) FROM shuffles WHERE uid = 1" }

    /// A fact with a changed text is new: it is served in this cycle, even if its old text was served.
    @Test func changedTextIsServedInThisCycle() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(upstreamFacts(0..<20))
        let given = await store.nextIDs(12)
        let changed = Set(given.prefix(3))
        let facts = upstreamFacts(0..<20).map { changed.contains($0.id) ? .upstream($0.id, "New \($0.id).") : $0 }
        try await store.replaceUpstream(facts)
        let rest = await store.nextFacts(11)
        #expect(Set(rest.map(\.id)) == Set(facts.map(\.id)).subtracting(given).union(changed))
    }

    @Test func factsWithOtherCategoriesAreNew() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(upstreamFacts(0..<20, categories: ["x"]))
        let given = await store.nextIDs(11)
        try await store.replaceUpstream(
            upstreamFacts(0..<10, categories: ["y", "x"]) + upstreamFacts(10..<20, categories: ["x"]))
        let left = Set(upstreamFacts(0..<20).map(\.id)).subtracting(given).union(upstreamFacts(0..<10).map(\.id))
        #expect(await Set(store.nextIDs(left.count)) == left)
    }

    @Test func explicitFactsAreGivenOnlyWhereTheyAreAllowed() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream([
            .upstream("rude", categories: ["dev", "explicit"]), .upstream("kind", categories: ["dev"]),
        ])
        for filter in [ShuffleFilter(), dev, ShuffleFilter(categories: ["explicit"])] {
            #expect(await !store.nextIDs(9, filter).contains("rude"))
        }
        for categories in [[], ["dev"], ["dev", "explicit"]] {
            let filter = ShuffleFilter(categories: categories, allowsExplicit: true)
            #expect(await Set(store.nextIDs(9, filter)) == ["rude", "kind"])
        }
        #expect(await store.nextIDs(9, ShuffleFilter(categories: ["explicit"], allowsExplicit: true)) == ["rude"])
        #expect(store.categories(of: .all).map(\.name) == ["dev"])
        #expect(store.categories(of: .all).map(\.count) == [1])
        #expect(try await store.fact(id: "rude")?.isExplicit == true)
        // A known category name, so a request for it causes no error.
        #expect(store.hasCategory("explicit"))

        try await store.replaceUpstream([
            .upstream("rude", categories: ["dev"]), .upstream("kind", categories: ["explicit"]),
        ])
        #expect(await store.nextIDs(9) == ["rude"])
        #expect(await store.nextIDs(9, dev) == ["rude"])
    }

    @Test func factsThatGoAreNotServed() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(upstreamFacts(0..<20))
        _ = await store.nextIDs(5)
        try await store.replaceUpstream(upstreamFacts(15..<20))
        #expect(store.count == 5)
        #expect(await Set(store.nextIDs(50)) == Set(upstreamFacts(15..<20).map(\.id)))
        try await store.replaceUpstream([])
        #expect(await store.nextIDs(50) == [])
        #expect(store.categories(of: .all).isEmpty)
    }

    @Test func unchangedImportChangesNothing() async throws {
        let fixture = StoreFixture()
        try await fixture.run { $0.importStartingCollection() }
        let store = try fixture.open()
        defer { store.databases.close() }
        let facts = StartingCollection.facts().map {
            Fact(id: $0.id, text: $0.text, categories: $0.categories, source: "builtin")
        }
        let changes = try store.replaceBuiltin(facts)
        #expect(changes.added.isEmpty && changes.removed.isEmpty && changes.lists.isEmpty)
    }

    @Test func localMeansNothingOfAnUpstream() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        #expect(store.isLocal)
        #expect(await store.nextFacts(1, uid: 1, filter: ShuffleFilter()).first?.isLocal == true)
        try await store.replaceUpstream([.upstream("a", categories: ["only"])])
        #expect(!store.isLocal)
        #expect(await store.nextFacts(1, uid: 1, filter: ShuffleFilter(categories: ["only"])).first?.isLocal == false)
        try await store.replaceUpstream([])
        #expect(store.isLocal)
    }

    /// The lists grow while readers draw and begin new shuffles.
    @Test func readersNoticeNothingOfALargeFetch() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let facts = upstreamFacts(0..<3_000, categories: ["dev"])
        let isDone = Mutex(false)
        async let change: Void = {
            defer { isDone.withLock { $0 = true } }
            try await store.replaceUpstream(facts)
        }()
        var given: [String] = []
        var rounds = 0
        while !isDone.withLock({ $0 }) {
            // Fewer than the initial facts, because the cycle would end with the last of these facts.
            if given.count < devIDs.count - 1 { given += await store.nextIDs(1, dev) }
            rounds += 1
            // Lets the change run, because it may need this thread.
            await Task.yield()
            let filter = ShuffleFilter(categories: ["none\(rounds % 50)", "food"], maxLength: 1 + rounds % 300)
            #expect(await store.nextFacts(2, uid: 2, filter: filter).count <= 2)
        }
        try await change
        given += await store.nextIDs(3_000 + devIDs.count - given.count, dev)
        #expect(Set(given).count == 3_000 + devIDs.count)
        #expect(store.hasCategory("food") && !store.hasCategory("none1"))
    }
}
