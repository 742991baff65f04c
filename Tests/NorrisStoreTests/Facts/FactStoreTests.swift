import Foundation
import GRDB
import NorrisProtocol
import Synchronization
import Testing

@testable import NorrisStore

/// What a user is given, over starts, stops, kills and losses of the disk.
struct FactStoreTests {
    private let dev = WalkFilter(categories: ["dev"])
    private let devIDs = Set(StartingCollection.facts().filter { $0.categories.contains("dev") }.map(\.id))

    @Test func everyFactComesBeforeAnyComesAgainOverRestarts() async throws {
        let fixture = StoreFixture()
        var given: [String] = []
        while given.count < devIDs.count {
            given += try await fixture.run { store in
                store.importStartingCollection()
                return store.nextIDs(min(7, devIDs.count - given.count), dev)
            }
        }
        #expect(Set(given) == devIDs)
    }

    @Test func nothingThatWasWrittenIsLostInACrash() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.importStartingCollection()
        var given = store.nextIDs(12, dev)
        #expect(await store.writeWalks())
        let next = try fixture.killed()
        given += try await next.run { store in
            store.importStartingCollection()
            return store.nextIDs(devIDs.count - 12, dev)
        }
        #expect(Set(given) == devIDs)
        store.databases.close()
    }

    @Test func lossOfTheCacheBetweenRunsCostsNoRepeat() async throws {
        let fixture = StoreFixture()
        let upstream = upstreamFacts(0..<30, categories: ["dev"])
        var given = try await fixture.run { store in
            store.importStartingCollection()
            try store.replaceUpstream(upstream)
            return store.nextIDs(20, dev)
        }
        try fixture.folder.remove("cache")
        given += try await fixture.run { store in
            store.importStartingCollection()
            // Draws while the upstream's facts are not there yet, and they come in another order.
            let early = store.nextIDs(3, dev)
            for end in 1...3 { try store.replaceUpstream(Array(upstream.reversed().prefix(10 * end))) }
            return early + store.nextIDs(devIDs.count + 30 - 23, dev)
        }
        #expect(Set(given).count == devIDs.count + 30)
    }

    @Test func lossOfTheCacheUnderARunningDaemonIsMended() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        store.importStartingCollection()
        try store.replaceUpstream([.upstream("gone", "Nowhere else.")])
        let everything = store.count
        var given = store.nextIDs(20, dev)
        #expect(!store.databases.reopenCacheIfDeleted(.silent))

        for name in try fixture.folder.names("cache") { try fixture.folder.remove("cache/" + name) }
        #expect(store.databases.reopenCacheIfDeleted(.silent))
        store.refill(fortunes: [])
        #expect(!store.databases.reopenCacheIfDeleted(.silent))
        #expect(store.count == everything - 1)
        #expect(store.fact(id: "gone") == nil)
        #expect(try await store.search(FactQuery(text: "nowhere else"), cursor: nil, limit: 10).items.isEmpty)
        #expect(try await !store.search(FactQuery(text: "chuck"), cursor: nil, limit: 10).items.isEmpty)
        given += store.nextIDs(devIDs.count - 20, dev)
        #expect(Set(given) == devIDs)
        await store.writeWalks()
        store.databases.close()
        // The new file is whole, and the old one's log has not got into it.
        try await fixture.run { #expect($0.count == everything - 1 && $0.databases.faults == []) }
    }

    /// Only the database is deleted; its log and index stay, as when somebody deletes by the exact name.
    @Test func leftoversOfADeletedCacheDoNoHarm() async throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try store.replaceUpstream(upstreamFacts(0..<50))
        let identities = { ["-wal", "-shm"].map { Folder.identity(of: fixture.folder["cache/cache.db" + $0]) } }
        let before = identities()
        try fixture.folder.remove("cache/cache.db")
        #expect(store.databases.reopenCacheIfDeleted(.silent))
        // The old connections were open until then; what they share is not what the new ones share.
        #expect(zip(before, identities()).allSatisfy { $0 != nil && $1 != nil && $0 != $1 })
        store.refill(fortunes: [])
        try store.replaceUpstream(upstreamFacts(50..<60))
        store.databases.close()
        try await fixture.run { store in
            #expect(store.databases.faults == [])
            #expect(upstreamFacts(50..<60).allSatisfy { store.fact(id: $0.id) != nil })
            #expect(store.fact(id: "fact-000007") == nil)
        }
    }

    @Test func usersDoNotSeeEachOther() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        for _ in 0..<devIDs.count {
            #expect(store.nextIDs(1, uid: 1, dev).count == 1)
        }
        #expect(Set(store.nextIDs(devIDs.count, uid: 2, dev)) == devIDs)
        // 32 bits of uid, the highest included.
        #expect(Set(store.nextIDs(devIDs.count, uid: .max, dev)) == devIDs)
    }

    @Test func sameSetOfCategoriesIsTheSameWalk() throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let filters = [["dev", "food"], ["food", "dev"], ["food", "dev", "food"]].map { WalkFilter(categories: $0) }
        let all = StartingCollection.facts().filter { !Set($0.categories).isDisjoint(with: ["dev", "food"]) }.count
        let given = (0..<all).flatMap { store.nextIDs(1, filters[$0 % 3]) }
        #expect(Set(given).count == all)
    }

    @Test func countIsNoPartOfTheWalk() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<60))
        let given = [1, 10, 2, 30, 17].flatMap { store.nextIDs($0) }
        #expect(Set(given).count == 60)
    }

    @Test func sixtyFifthWalkForgetsTheOneNotUsedForLongest() async throws {
        let fixture = StoreFixture()
        let filters = (1...65).map { WalkFilter(maxLength: 1_000 + $0) }
        let given = try await fixture.run { store in
            try store.replaceUpstream(upstreamFacts(0..<20))
            return filters.map { store.nextIDs(19, $0) }
        }
        try await fixture.run { store in
            // The second walk goes on where it was.
            #expect(Set(given[1] + store.nextIDs(1, filters[1])).count == 20)
            let count = try await store.databases.state.opened.writer.read { try Int.fetchOne($0, sql: walksOfUser) }
            #expect(count == 64)
        }
    }

    private var walksOfUser: String { "SELECT count(*) FROM walks WHERE uid = 1" }

    @Test func newFactsJoinTheRound() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<10))
        var given = store.nextIDs(8)
        try store.replaceUpstream(upstreamFacts(0..<25))
        given += store.nextIDs(17)
        #expect(Set(given).count == 25)
    }

    @Test func changedTextIsServedAtOnce() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([.upstream("a", "Before."), .upstream("b")])
        try store.replaceUpstream([.upstream("a", "After it."), .upstream("b")])
        #expect(store.fact(id: "a")?.fact.text == "After it.")
        #expect(store.count == 2)
        #expect(Set(store.next(2, uid: 1, filter: WalkFilter()).map(\.fact.text)) == ["After it.", "The text of b."])
        #expect(store.nextIDs(2, WalkFilter(maxLength: 9)) == ["a"])
    }

    @Test func changedTextKeepsItsPlaceWhereItIsAsLong() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<20))
        let given = store.nextIDs(12)
        try store.replaceUpstream(upstreamFacts(0..<20).map { .upstream($0.id, $0.text.uppercased()) })
        #expect(Set(given + store.nextIDs(8)).count == 20)
    }

    /// A fact with another length has other seats, now and after a start; the lists of lengths stay exact.
    @Test func changedLengthIsFoundByItsNewLengthOnly() async throws {
        let fixture = StoreFixture()
        let (short, long) = (WalkFilter(maxLength: 4), WalkFilter(maxLength: 5))
        try await fixture.run { store in
            try store.replaceUpstream([.upstream("a", "1234"), .upstream("b", "12345")])
            #expect(store.nextIDs(9, short) == ["a"])
            try store.replaceUpstream([.upstream("a", "12345"), .upstream("b", "1234")])
            #expect(store.nextIDs(9, short) == ["b"])
            #expect(Set(store.nextIDs(9, long)) == ["a", "b"])
            #expect(store.databases.faults == [])
        }
        try await fixture.run { store in
            #expect(store.nextIDs(9, short) == ["b"])
            try store.replaceUpstream([.upstream("a", "1234"), .upstream("b", "12345")])
            #expect(store.nextIDs(9, short) == ["a"])
            #expect(Set(store.nextIDs(9, long)) == ["a", "b"])
            #expect(store.nextIDs(9).count == 2)
            #expect(store.databases.faults == [])
        }
    }

    @Test func changedCategoriesAreServedAtOnce() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([.upstream("a", categories: ["x", "y"])])
        #expect(store.nextIDs(5, WalkFilter(categories: ["x"])) == ["a"])
        try store.replaceUpstream([.upstream("a", categories: ["y", "z"])])
        #expect(store.nextIDs(5, WalkFilter(categories: ["x"])) == [])
        #expect(store.nextIDs(5, WalkFilter(categories: ["z"])) == ["a"])
        #expect(!store.hasCategory("x"))
        #expect(store.categories.map(\.name) == ["y", "z"])
    }

    @Test func otherWalksGoOnWhenCategoriesChange() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<20, categories: ["x"]))
        let given = store.nextIDs(11)
        try store.replaceUpstream(upstreamFacts(0..<20, categories: ["y", "x"]))
        #expect(Set(given + store.nextIDs(9)).count == 20)
    }

    @Test func explicitFactsAreGivenOnlyWhereTheyAreAllowed() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream([
            .upstream("rude", categories: ["dev", "explicit"]), .upstream("kind", categories: ["dev"]),
        ])
        for filter in [WalkFilter(), dev, WalkFilter(categories: ["explicit"])] {
            #expect(!store.nextIDs(9, filter).contains("rude"))
        }
        for categories in [[], ["dev"], ["dev", "explicit"]] {
            let filter = WalkFilter(categories: categories, allowsExplicit: true)
            #expect(Set(store.nextIDs(9, filter)) == ["rude", "kind"])
        }
        #expect(store.nextIDs(9, WalkFilter(categories: ["explicit"], allowsExplicit: true)) == ["rude"])
        #expect(store.categories.map(\.name) == ["dev"])
        #expect(store.categories.map(\.count) == [1])
        #expect(store.fact(id: "rude")?.isExplicit == true)
        // A known name, so that asking for it is no error.
        #expect(store.hasCategory("explicit"))

        try store.replaceUpstream([.upstream("rude", categories: ["dev"]), .upstream("kind", categories: ["explicit"])])
        #expect(store.nextIDs(9) == ["rude"])
        #expect(store.nextIDs(9, dev) == ["rude"])
    }

    @Test func factsThatGoAreNotServed() throws {
        let store = try FactStore.inMemory()
        try store.replaceUpstream(upstreamFacts(0..<20))
        _ = store.nextIDs(5)
        try store.replaceUpstream(upstreamFacts(15..<20))
        #expect(store.count == 5)
        #expect(Set(store.nextIDs(50)) == Set(upstreamFacts(15..<20).map(\.id)))
        try store.replaceUpstream([])
        #expect(store.nextIDs(50) == [])
        #expect(store.categories.isEmpty)
    }

    @Test func unchangedImportChangesNothing() async throws {
        let fixture = StoreFixture()
        try await fixture.run { $0.importStartingCollection() }
        let databases = try fixture.databases()
        defer { databases.close() }
        let facts = StartingCollection.facts().map {
            Fact(id: $0.id, text: $0.text, categories: $0.categories, source: "builtin")
        }
        let rules = FactImport.Rules(group: .builtin, goes: { _ in true })
        let changes = try databases.cache.take(facts, rules, at: .now()) { _ in }
        #expect(changes == FactChanges())
    }

    @Test func localMeansNothingOfAnUpstream() throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        #expect(store.isLocal)
        #expect(store.next(1, uid: 1, filter: WalkFilter()).first?.isLocal == true)
        try store.replaceUpstream([.upstream("a", categories: ["only"])])
        #expect(!store.isLocal)
        #expect(store.next(1, uid: 1, filter: WalkFilter(categories: ["only"])).first?.isLocal == false)
        try store.replaceUpstream([])
        #expect(store.isLocal)
    }

    /// Imports number new seats before the catalogue has them; two at one time must not number the same.
    @Test func importsAtOneTimeDoNotTakeEachOthersSeats() async throws {
        let fixture = StoreFixture()
        let paths = try (0..<12).map { number in
            let texts = (0..<40).map { "\(number), \($0)" }.joined(separator: "\n%\n")
            return try fixture.folder.write("fortunes/file\(number)", texts)
        }
        try await fixture.run { store in
            let imports: [@Sendable () -> Void] =
                paths.map { path in { store.importFortunes([path]) } } + [{ store.importStartingCollection() }]
            // Threads and not tasks: of those only as many run as there are processors, and imports wait for the disk.
            let group = DispatchGroup()
            for body in imports {
                group.enter()
                Thread.detachNewThread {
                    body()
                    group.leave()
                }
            }
            await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
            store.importFortunes(paths)
            #expect(store.databases.faults == [])
            #expect(store.count == 12 * 40 + StartingCollection.facts().count)
            var given: Set<String> = []
            for _ in 0..<store.count { given.formUnion(store.nextIDs(1)) }
            #expect(given.count == store.count)
        }
    }

    /// The catalogue grows beside the readers, who begin walks on rosters of their own meanwhile.
    @Test func readersNoticeNothingOfALargeFetch() async throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        let facts = upstreamFacts(0..<3_000, categories: ["dev"])
        let isDone = Mutex(false)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try store.replaceUpstream(facts) }
            isDone.withLock { $0 = true }
        }
        var given: [String] = []
        var rounds = 0
        while !isDone.withLock({ $0 }) {
            // Fewer than there were, for with those the round would end.
            if given.count < devIDs.count - 1 { given += store.nextIDs(1, dev) }
            rounds += 1
            let filter = WalkFilter(categories: ["none\(rounds % 50)", "food"], maxLength: 1 + rounds % 300)
            #expect(store.next(2, uid: 2, filter: filter).count <= 2)
        }
        given += store.nextIDs(3_000 + devIDs.count - given.count, dev)
        #expect(Set(given).count == 3_000 + devIDs.count)
        #expect(store.hasCategory("food") && !store.hasCategory("none1"))
    }
}
