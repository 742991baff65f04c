import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct ShuffleBookTests {
    private let catalogue = FactCatalogue.of(upstreamFacts(0..<5))

    private struct Key: Hashable {
        let uid: Int64
        let number: Int?
    }

    private func key(_ number: Int, uid: Int64 = 1) -> Key { Key(uid: uid, number: number) }

    @discardableResult
    private func use(_ number: Int, uid: Int64 = 1, name: String? = nil, in book: inout ShuffleBook) -> UInt64? {
        let filter = FactFilter(maxLength: number)
        let index = book.index(uid, filter)
        let fact = book.next(index, filter, from: catalogue)
        book.note(index, name: name)
        return fact.map(catalogue.hash)
    }

    private func kept(_ book: ShuffleBook) -> Set<Key> {
        Set(book.entries.map { Key(uid: $0.uid, number: $0.filter.maxLength) })
    }

    @Test func leastRecentlyUsedIsForgotten() {
        var book = ShuffleBook()
        for number in 1...64 { use(number, in: &book) }
        use(1, in: &book)
        use(65, in: &book)
        #expect(kept(book) == Set(([1] + Array(3...65)).map { key($0) }))
        use(2, in: &book)
        #expect(kept(book).count == 64 && kept(book).contains(key(2)) && !kept(book).contains(key(3)))
    }

    @Test func anotherUsersShufflesStay() {
        var book = ShuffleBook()
        use(1, uid: 2, in: &book)
        for number in 1...70 { use(number, in: &book) }
        #expect(kept(book).contains(key(1, uid: 2)))
    }

    @Test func ofAllUsersTheLeastRecentlyUsedIsForgotten() {
        var book = ShuffleBook()
        for uid in 0..<1_024 as Range<Int64> { use(1, uid: uid, in: &book) }
        use(1, uid: 0, in: &book)
        use(1, uid: 5_000, in: &book)
        #expect(kept(book).count == ShuffleBook.maximum && !kept(book).contains(key(1, uid: 1)))
        // The least recently used shuffle is the only one of the requesting user.
        use(2, uid: 2, in: &book)
        #expect(kept(book).contains(key(2, uid: 2)) && !kept(book).contains(key(1, uid: 2)))
        #expect(kept(book).count == ShuffleBook.maximum)
    }

    @Test func theDiskHasNoMoreThanTheBook() async throws {
        let databases = try await StoreFixture().databases()
        func entry(_ number: Int, uid: Int64 = 1, at usedAt: Int64) -> ShuffleBook.Entry {
            .init(uid: uid, filter: FactFilter(maxLength: number), shuffle: Shuffle(key: 1), usedAt: usedAt)
        }
        func stored(after entries: [ShuffleBook.Entry]) async throws -> [Key] {
            try await databases.state.write { database in
                try ShuffleBook.Entry.write(entries, database)
                return try ShuffleBook.Entry.all(database)
            }.map { Key(uid: $0.uid, number: $0.filter.maxLength) }
        }
        let own = try await stored(after: (1...70).map { entry($0, at: Int64($0)) })
        #expect(Set(own) == Set((7...70).map { key($0) }))
        let all = try await stored(after: (100...1_100).map { entry(1, uid: $0, at: $0) })
        #expect(all.count == ShuffleBook.maximum && all.last == key(48))
        await databases.close()
    }

    /// A user may request billions of facts.
    @Test func usesBeyond32BitsAreRead() async throws {
        let databases = try await StoreFixture().databases()
        let entry = ShuffleBook.Entry(uid: 1, filter: FactFilter(), shuffle: Shuffle(key: 1), usedAt: 1 << 40)
        let stored = try await databases.state.write { database in
            try ShuffleBook.Entry.write([entry], database)
            return try ShuffleBook.Entry.all(database)
        }
        #expect(stored.map(\.usedAt) == [1 << 40])
        await databases.close()
    }

    @Test func changesAreReturnedUntilTheyAreWritten() {
        var book = ShuffleBook()
        #expect(book.changes.entries.isEmpty && book.changes.served.isEmpty)
        use(1, in: &book)
        book.note(.id("g"), .gif, uid: 1)
        let changes = book.changes
        #expect(changes.entries.count == 1)
        #expect(book.changes.entries.count == 1, "it may not have been written")
        use(200, in: &book)
        book.noteWritten(changes)
        #expect(book.changes.entries.map(\.filter.maxLength) == [200])
        #expect(book.changes.served.map(\.kind) == [.fact])
        book.noteWritten(book.changes)
        #expect(book.changes.entries.isEmpty && book.changes.served.isEmpty)
    }

    @Test func everythingIsWrittenAgainAfterALoss() {
        var book = ShuffleBook()
        use(1, in: &book)
        book.noteWritten(book.changes)
        use(2, in: &book)
        let changes = book.changes
        // The file is lost during the write.
        book.noteLost()
        book.noteWritten(changes)
        #expect(book.changes.entries.contains { $0.filter.maxLength == 1 })
        book.noteWritten(book.changes)
        #expect(book.changes.entries.isEmpty)
    }

    @Test func orderOfUseSurvivesTheDisk() {
        var before = ShuffleBook()
        for number in [3, 1, 2] { use(number, in: &before) }
        var after = ShuffleBook()
        after.restore(before.changes.entries)
        #expect(after.changes.entries.isEmpty)
        for number in 4...65 { use(number, in: &after) }
        #expect(kept(after).isDisjoint(with: [key(3)]))
        #expect(kept(after).isSuperset(of: [key(1), key(2)]))
    }

    @Test func lastServedItemOfEachKindIsKnown() throws {
        var book = ShuffleBook()
        func hash() -> UInt64? {
            if case .hash(let hash)? = book.served([.fact], uid: 1).first?.item { hash } else { nil }
        }
        let first = use(100, name: "Ada", in: &book)
        #expect(first != nil && hash() == first && book.served([.fact], uid: 1).first?.name == "Ada")
        let second = use(200, in: &book)
        #expect(hash() == second && book.served([.fact], uid: 1).first?.name == nil)
        book.note(.id("x"), .fact, uid: 1)
        guard case .id("x")? = book.served([.fact], uid: 1).first?.item else {
            Issue.record("\(book.served([.fact], uid: 1))")
            return
        }
        let third = use(100, in: &book)
        book.note(.id("g"), .gif, uid: 1)
        #expect(hash() == third)
        #expect(book.served(Favorite.Kind.all, uid: 1).map(\.kind) == [.gif, .fact])
        #expect(book.served([.post], uid: 1).isEmpty && book.served([.fact], uid: 2).isEmpty)
        #expect(book.changes.served.map(\.kind) == [.fact, .gif])
    }

    /// The number of users in memory is limited, even if requests arrive from many users.
    @Test func whatIsToBeWrittenIsBounded() {
        var book = ShuffleBook()
        for uid in 1...6_000 as ClosedRange<Int64> { book.note(.id("g"), .gif, uid: uid) }
        #expect(book.changes.served.count == ShuffleBook.maximumUsers)
        book.noteWritten(book.changes)
        book.note(.id("g"), .gif, uid: 7_000)
        #expect(book.changes.served.map(\.uid) == [7_000])
    }
}

struct FactFilterTests {
    @Test(arguments: [
        FactFilter(), FactFilter(source: .norris), FactFilter(source: .fortune, allowsExplicit: true),
        FactFilter(maxLength: 10_000), FactFilter(categories: ["dev"]),
        FactFilter(categories: ["a-b", "c_d", "0"], allowsExplicit: true, maxLength: 1),
    ]) func comesBackFromItsKey(filter: FactFilter) { #expect(FactFilter(key: filter.key) == filter) }

    @Test func orderAndDoublesDoNotMatter() {
        let filter = FactFilter(categories: ["b", "a", "b"])
        #expect(filter == FactFilter(categories: ["a", "b"]))
        #expect(filter.key == "a,b/all//")
        #expect(FactFilter(categories: ["a", "a"]) == FactFilter(categories: ["a"]))
    }

    @Test(arguments: [
        "", "/", "///", "a", "/all/", "//all/", "/all//-3", "/all//0", "/all//+5", "/all//05", "/all/yes/", "b,a/all//",
        "a,a/all//", ",a/all//", "/some//", "/all///", "//",
    ]) func anythingElseIsNoKey(text: String) { #expect(FactFilter(key: text) == nil) }
}
