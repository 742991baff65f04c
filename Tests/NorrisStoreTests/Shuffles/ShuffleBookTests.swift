import NorrisProtocol
import Testing

@testable import NorrisStore
@testable import NorrisThreads

struct ShuffleBookTests {
    private func filter(_ number: Int) -> ShuffleFilter { ShuffleFilter(maxLength: number) }

    private func key(_ number: Int, uid: Int64 = 1) -> ShuffleBook.Key {
        ShuffleBook.Key(uid: uid, filter: filter(number))
    }

    @discardableResult
    private func use(_ number: Int, uid: Int64 = 1, name: String? = nil, in book: inout ShuffleBook) -> Bool {
        var isNew = false
        let entry = book.entry(uid, filter(number)) { key in
            isNew = true
            return ShuffleBook.Entry(key: key, shuffle: Shuffle(key: 1, lists: []), lists: [], isAttached: true)
        }
        book.note(entry, name: name)
        return isNew
    }

    /// The keys of all shuffles that the book would write.
    private func kept(_ book: inout ShuffleBook) -> Set<ShuffleBook.Key> { Set(book.takeChanges().records.map(\.key)) }

    @Test func leastRecentlyUsedIsForgotten() {
        var book = ShuffleBook()
        for number in 1...64 { use(number, in: &book) }
        use(1, in: &book)
        use(65, in: &book)
        #expect(kept(&book) == Set(([1] + Array(3...65)).map { key($0) }))
        #expect(!use(1, in: &book))
        #expect(!use(3, in: &book))
        #expect(use(2, in: &book))
    }

    @Test func anotherUsersShufflesStay() {
        var book = ShuffleBook()
        use(1, uid: 2, in: &book)
        for number in 1...70 { use(number, in: &book) }
        #expect(!use(1, uid: 2, in: &book))
    }

    @Test func ofAllUsersTheLeastRecentlyUsedIsForgotten() {
        var book = ShuffleBook()
        for uid in 0..<1_024 as Range<Int64> { use(1, uid: uid, in: &book) }
        use(1, uid: 0, in: &book)
        use(1, uid: 5_000, in: &book)
        let kept = kept(&book)
        #expect(kept.count == ShuffleBook.maximum && !kept.contains(key(1, uid: 1)))
    }

    /// The least recently used shuffle is the only shuffle of the requesting user.
    @Test func userWhoseOnlyShuffleIsForgottenHasTheNewOne() {
        var book = ShuffleBook()
        for uid in 0..<1_024 as Range<Int64> { use(1, uid: uid, in: &book) }
        for number in 2...5 {
            #expect(use(number, uid: 0, in: &book))
            #expect(!use(number, uid: 0, in: &book))
            for uid in 1..<1_024 as Range<Int64> { #expect(!use(1, uid: uid, in: &book)) }
        }
        #expect(kept(&book).count == ShuffleBook.maximum)
    }

    @Test func theDiskHasNoMoreThanTheBook() throws {
        let pool = try DatabasePool(path: nil)
        try DatabaseKind.state.migrate(pool, BlockingAccess())
        try pool.write { database in
            let own = (1...70).map {
                ShuffleBook.Record(key: key($0), shuffle: [2], usedAt: SequenceNumber(columnValue: Int64($0)))
            }
            try ShuffleBook.Record.write(own, database)
            #expect(try Set(ShuffleBook.Record.all(database).map(\.key)) == Set((7...70).map { key($0) }))
            let others = (100...1_100).map { uid in
                ShuffleBook.Record(key: key(1, uid: uid), shuffle: [2], usedAt: SequenceNumber(columnValue: uid))
            }
            try ShuffleBook.Record.write(others, database)
            let kept = try ShuffleBook.Record.all(database)
            #expect(kept.count == ShuffleBook.maximum && kept.last?.key == key(48))
        }
    }

    @Test func whatMovedIsWrittenOnce() {
        var book = ShuffleBook()
        #expect(!book.hasChanges)
        use(1, in: &book)
        use(1, in: &book)
        #expect(book.hasChanges)
        #expect(kept(&book) == [key(1)])
        #expect(!book.hasChanges)
        #expect(book.takeChanges().records == [])
    }

    @Test func whatCouldNotBeWrittenIsReturnedAgain() {
        var book = ShuffleBook()
        for number in 1...65 { use(number, in: &book) }
        book.note(.init(uid: 1, kind: .gif), .id("g"))
        let (records, served) = book.takeChanges()
        book.restoreChanges(records, served)
        #expect(book.hasChanges)
        let again = book.takeChanges()
        #expect(Set(again.records.map(\.key)) == Set(records.map(\.key)))
        #expect(again.served.map(\.key.kind) == served.map(\.key.kind))
    }

    @Test func failedWriteDoesNotHideWhatCameMeanwhile() {
        var book = ShuffleBook()
        let gif = ServedItem.Key(uid: 1, kind: .gif)
        book.note(gif, .id("old"))
        let (records, served) = book.takeChanges()
        book.note(gif, .id("new"))
        book.restoreChanges(records, served)
        guard case .id("new")? = book.served(gif)?.what else {
            Issue.record("\(String(describing: book.served(gif)))")
            return
        }
    }

    @Test func orderOfUseSurvivesTheDisk() {
        var before = ShuffleBook()
        for number in [3, 1, 2] { use(number, in: &before) }
        var after = ShuffleBook()
        for record in before.takeChanges().records {
            after.restore(
                ShuffleBook.Entry(
                    key: record.key, shuffle: Shuffle(key: 1, lists: []), lists: [], usedAt: record.usedAt,
                    isAttached: false))
        }
        for number in 4...65 { use(number, in: &after) }
        #expect(!use(1, in: &after))
        #expect(use(3, in: &after))
    }

    @Test func allAreForgotten() {
        var book = ShuffleBook()
        for number in 1...5 { use(number, in: &book) }
        book.removeAll()
        #expect(!book.hasChanges)
        #expect(use(1, in: &book))
    }

    // MARK: Last served items

    private func ordinal(_ served: ShuffleBook.Served?) -> UInt32? {
        if case .ordinal(let ordinal)? = served?.what { ordinal } else { nil }
    }

    @Test func lastServedIsKnownUntilItIsOnTheDisk() {
        var book = ShuffleBook()
        let fact = ServedItem.Key(uid: 1, kind: .fact)
        book.note(fact, .ordinal(7))
        #expect(ordinal(book.served(fact)) == 7)
        let (records, served) = book.takeChanges()
        #expect(served.map { ordinal($0) } == [7])
        #expect(ordinal(book.served(fact)) == 7, "it is being written")
        book.noteWritten()
        #expect(book.served(fact) == nil)
        book.restoreChanges(records, served)
        #expect(ordinal(book.served(fact)) == 7)
        #expect(book.served(.init(uid: 2, kind: .fact)) == nil)
        #expect(book.served(.init(uid: 1, kind: .gif)) == nil)
    }

    @Test func lastOfShufflesAndOtherwiseCounts() throws {
        var world = ShuffleWorld()
        world.arrive(upstreamFacts(0..<5))
        var book = ShuffleBook()
        let key = ServedItem.Key(uid: 1, kind: .fact)
        func draw(_ filter: ShuffleFilter, _ name: String?) -> UInt32? {
            let entry = book.entry(1, filter) { key in
                .init(key: key, shuffle: world.shuffle(filter, key: 1), lists: [], isAttached: true)
            }
            let ordinal = entry.change { world.next(1, &$0, filter).first }
            book.note(entry, name: name)
            return ordinal
        }
        let first = draw(ShuffleFilter(), "Ada")
        #expect(ordinal(book.served(key)) == first && book.served(key)?.name == "Ada")
        let second = draw(filter(100), nil)
        #expect(ordinal(book.served(key)) == second && book.served(key)?.name == nil)
        book.note(key, .ordinal(99))
        #expect(ordinal(book.served(key)) == 99)
        let third = draw(ShuffleFilter(), "Bob")
        #expect(ordinal(book.served(key)) == third)
        let served = book.takeChanges().served
        #expect(served.map { ordinal($0) } == [third])
        #expect(served.first?.name == "Bob")
    }

    /// The number of noted items is limited, even if requests arrive from many users.
    @Test func whatIsToBeWrittenIsBounded() {
        var book = ShuffleBook()
        for length in 1...6_000 {
            _ = book.entry(1, ShuffleFilter(maxLength: length)) { key in
                .init(key: key, shuffle: Shuffle(key: 1, lists: []), lists: [], isAttached: true)
            }
            book.note(ServedItem.Key(uid: Int64(length), kind: .gif), .id("g"))
        }
        #expect(book.takeChanges().served.count == ShuffleBook.maximumNoted)
    }
}

struct ShuffleFilterTests {
    @Test(arguments: [
        ShuffleFilter(), ShuffleFilter(source: .norris), ShuffleFilter(source: .fortune, allowsExplicit: true),
        ShuffleFilter(maxLength: 10_000), ShuffleFilter(categories: ["dev"]),
        ShuffleFilter(categories: ["a-b", "c_d", "0"], allowsExplicit: true, maxLength: 1),
    ]) func comesBackFromItsKey(filter: ShuffleFilter) { #expect(ShuffleFilter(key: filter.key) == filter) }

    @Test func orderAndDoublesDoNotMatter() {
        let filter = ShuffleFilter(categories: ["b", "a", "b"])
        #expect(filter == ShuffleFilter(categories: ["a", "b"]))
        #expect(filter.key == "a,b/all//")
        #expect(ShuffleFilter(categories: ["a", "a"]) == ShuffleFilter(categories: ["a"]))
    }

    @Test func differentShufflesHaveDifferentKeys() {
        let filters = [
            ShuffleFilter(), ShuffleFilter(source: .norris), ShuffleFilter(source: .fortune),
            ShuffleFilter(allowsExplicit: true), ShuffleFilter(maxLength: 1), ShuffleFilter(maxLength: 11),
            ShuffleFilter(categories: ["explicit"]), ShuffleFilter(categories: ["a"]),
            ShuffleFilter(categories: ["a", "b"]),
        ]
        #expect(Set(filters.map(\.key)).count == filters.count)
    }

    @Test(arguments: [
        "", "/", "///", "a", "/all/", "//all/", "/all//-3", "/all//0", "/all//+5", "/all//05", "/all/yes/", "b,a/all//",
        "a,a/all//", ",a/all//", "/some//", "/all///", "//",
    ]) func anythingElseIsNoKey(text: String) { #expect(ShuffleFilter(key: text) == nil) }

    @Test func listsAreThoseOfTheSourceAndOfTheCategories() {
        func names(_ filter: ShuffleFilter) -> [String] { filter.lists.map { "\($0.category):\($0.kind)" } }
        #expect(names(ShuffleFilter()) == [":norris", ":fortune"])
        #expect(names(ShuffleFilter(source: .norris)) == [":norris"])
        #expect(names(ShuffleFilter(source: .fortune, allowsExplicit: true)) == [":fortune", ":explicitFortune"])
        #expect(
            names(ShuffleFilter(categories: ["b", "a"], allowsExplicit: true))
                == ["a", "b"].flatMap { name in
                    ["norris", "explicitNorris", "fortune", "explicitFortune"].map { "\(name):\($0)" }
                })
    }
}
