import NorrisProtocol
import Testing

@testable import NorrisStore

struct ShuffleBookTests {
    private let catalogue = FactCatalogue.of(upstreamFacts(0..<5))

    private struct Key: Hashable {
        let uid: Int64
        let number: Int?
    }

    private func key(_ number: Int, uid: Int64 = 1) -> Key { Key(uid: uid, number: number) }

    private func use(_ number: Int, uid: Int64 = 1, in book: inout ShuffleBook) {
        let filter = FactFilter(maxLength: number)
        let index = book.index(uid, filter)
        _ = book.next(index, filter, from: catalogue)
        book.note(index, name: nil)
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

    @Test func ofAllUsersTheLeastRecentlyUsedIsForgotten() {
        var book = ShuffleBook()
        for uid in 0..<1_024 as Range<Int64> { use(1, uid: uid, in: &book) }
        use(1, uid: 0, in: &book)
        use(1, uid: 5_000, in: &book)
        #expect(kept(book).count == 1_024 && !kept(book).contains(key(1, uid: 1)))
        // The least recently used shuffle is the only one of the requesting user.
        use(2, uid: 2, in: &book)
        #expect(kept(book).contains(key(2, uid: 2)) && !kept(book).contains(key(1, uid: 2)))
        #expect(kept(book).count == 1_024)
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
    }

    @Test(arguments: ["", "/", "a", "/all//-3", "/all//05", "/all/yes/", "b,a/all//", ",a/all//", "/some//", "/all///"])
    func anythingElseIsNoKey(text: String) { #expect(FactFilter(key: text) == nil) }
}
