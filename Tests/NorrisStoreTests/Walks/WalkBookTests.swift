import Testing

@testable import NorrisStore

struct WalkBookTests {
    private let walk: Walk

    init() {
        var world = WalkWorld()
        walk = world.walk(WalkFilter(), key: 1)
    }

    private func key(_ number: Int, uid: Int64 = 1) -> WalkBook.Key {
        WalkBook.Key(uid: uid, filter: WalkFilter(maxLength: number))
    }

    private func use(_ key: WalkBook.Key, in book: inout WalkBook) {
        _ = book.walk(of: key.uid, key.filter) { walk }
    }

    @Test func walkNotUsedForLongestIsForgotten() {
        var book = WalkBook()
        for number in 1...64 { use(key(number), in: &book) }
        use(key(1), in: &book)
        for number in 1...64 { #expect(book.hasWalk(key(number))) }
        use(key(65), in: &book)
        #expect(book.hasWalk(key(1)))
        #expect(!book.hasWalk(key(2)))
        #expect((3...65).allSatisfy { book.hasWalk(key($0)) })
    }

    @Test func anotherUsersWalksStay() {
        var book = WalkBook()
        use(key(1, uid: 2), in: &book)
        for number in 1...70 { use(key(number), in: &book) }
        #expect(book.hasWalk(key(1, uid: 2)))
    }

    @Test func whatMovedIsWrittenOnce() {
        var book = WalkBook()
        #expect(!book.hasChanges)
        use(key(1), in: &book)
        use(key(1), in: &book)
        #expect(book.hasChanges)
        #expect(book.takeChanges().map(\.key) == [key(1)])
        #expect(!book.hasChanges)
        #expect(book.takeChanges() == [])
    }

    @Test func whatIsForgottenIsDeleted() {
        var book = WalkBook()
        for number in 1...64 { use(key(number), in: &book) }
        _ = book.takeChanges()
        use(key(65), in: &book)
        let changes = book.takeChanges()
        #expect(Set(changes.map(\.key)) == [key(1), key(65)])
        #expect(changes.first { $0.key == key(1) }?.position == nil)
        #expect(changes.first { $0.key == key(65) }?.position != nil)
    }

    @Test func forgottenWalkThatBeginsAnewIsNotDeleted() {
        var book = WalkBook()
        for number in 1...65 { use(key(number), in: &book) }
        use(key(1), in: &book)
        let changes = book.takeChanges()
        #expect(changes.filter { $0.key == key(1) }.map { $0.position != nil } == [true])
        #expect(changes.first { $0.key == key(2) }?.position == nil)
    }

    @Test func whatCouldNotBeWrittenIsGivenAgain() {
        var book = WalkBook()
        for number in 1...65 { use(key(number), in: &book) }
        let changes = book.takeChanges()
        book.giveBack(changes)
        #expect(Set(book.takeChanges().map(\.key)) == Set(changes.map(\.key)))
    }

    @Test func orderOfUseSurvivesTheDisk() {
        var before = WalkBook()
        for number in [3, 1, 2] { use(key(number), in: &before) }
        var after = WalkBook()
        for record in before.takeChanges() { after.restore(walk, key: record.key, usedAt: record.usedAt) }
        for number in 4...65 { use(key(number), in: &after) }
        #expect(!after.hasWalk(key(3)))
        #expect(after.hasWalk(key(1)) && after.hasWalk(key(2)))
    }
}
