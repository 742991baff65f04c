import NorrisProtocol
import Testing

@testable import NorrisStore

struct NumberedListsTests {
    private let lists = NumberedLists()

    private func note(
        _ ids: [String], of kind: Favorite.Kind = .post, cursor: String? = nil, next: String? = nil, uid: UInt32 = 1
    ) { lists.note(ids.map { .init(kind, $0) }, of: kind, cursor: cursor, next: next, uid: uid) }

    private func id(_ number: Int, of kind: Favorite.Kind = .post, uid: UInt32 = 1) throws -> String {
        try lists.item(number, of: kind, uid: uid).id
    }

    @Test func numbersAreThoseOfTheLastListOfAKind() throws {
        note(["a", "b"])
        note(["c"], of: .fact)
        #expect(try id(1) == "a" && id(2) == "b" && id(1, of: .fact) == "c")
        #expect(try lists.item(1, of: RecentServed.anyKind, uid: 1) == .init(.fact, "c"))
        note(["d"])
        note(["other"], uid: 2)
        #expect(try id(1) == "d" && id(1, of: RecentServed.anyKind) == "d" && id(1, uid: 2) == "other")
        #expect(throws: ResponseError.self) { try id(1, uid: 3) }
        #expect(throws: ResponseError.self) { try id(0) }
    }

    @Test func aPageContinuesTheListThatItsCursorEnds() throws {
        note(["a", "b"], next: "x")
        note(["c"], of: .gif)
        note(["d"], cursor: "x", next: "y")
        #expect(try id(2) == "b" && id(3) == "d" && id(3, of: RecentServed.anyKind) == "d")
        note(["e"], cursor: "y")
        #expect(try id(4) == "e")
        note(["e", "f"], cursor: "y", next: "z")
        #expect(try id(4) == "e" && id(5) == "f", "The last page was requested again.")
        note(["f"], cursor: "x")
        #expect(try id(1) == "f", "The list no longer ends with this cursor.")
        #expect(throws: ResponseError.self) { try id(2) }
    }

    @Test func aListWithoutItemsLeavesTheNumbersOfTheLastList() throws {
        note(["a", "b"], next: "x")
        note([])
        note([], of: .gif)
        lists.note([], of: nil, cursor: nil, next: nil, uid: 1)
        note([], cursor: "x")
        #expect(try id(2) == "b" && id(2, of: RecentServed.anyKind) == "b")
        note(["c"], cursor: "x")
        #expect(try id(3) == "c")
        let refusal = ResponseError.notFound(
            "There is no list of GIFs to take number 1 from; lists are forgotten when norrisd restarts.",
            hint: "List GIFs: norrisctl gif WORD")
        #expect(throws: refusal) { try id(1, of: .gif) }
    }

    @Test func aListHasAHundredNumbers() throws {
        note((1...80).map(String.init), next: "x")
        note((81...120).map(String.init), cursor: "x", next: "y")
        #expect(try id(100) == "100")
        let refusal = ResponseError.notFound("The last list has 100 items, so there is no number 101.")
        #expect(throws: refusal) { try id(101) }
    }

    @Test func favoritesAreTheLastListOfTheirKindsWithGaps() throws {
        note(["g"], of: .gif)
        lists.note([.init(.fact, "f"), .init(.post, "p")], of: nil, cursor: nil, next: nil, uid: 1)
        #expect(try id(2) == "p" && id(1, of: .fact) == "f" && id(1, of: .gif) == "g")
        #expect(try lists.item(2, of: RecentServed.anyKind, uid: 1).kind == .post)
        let refusal = ResponseError.notFound(
            "Number 1 of the last list is a fact, not a post.", hint: "List posts: norrisctl feed")
        #expect(throws: refusal) { try id(1) }
    }

    @Test func theListsOfTheLeastRecentUsersAreForgotten() throws {
        for uid in 0..<UInt32(NumberedLists.maximumUsers) { note(["\(uid)"], uid: uid) }
        note(["again"], uid: 0)
        note(["new"], uid: .max)
        #expect(lists.size.users == NumberedLists.maximumUsers)
        #expect(try id(1, uid: 0) == "again" && id(1, uid: .max) == "new" && id(1, uid: 2) == "2")
        #expect(throws: ResponseError.self) { try id(1, uid: 1) }
    }

    @Test func allListsTogetherAreBounded() throws {
        let long = String(repeating: "x", count: 800)
        for uid in 0..<200 as Range<UInt32> {
            note((0..<100).map { "\($0)\(long)" }, uid: uid)
            #expect(lists.size.bytes <= NumberedLists.maximumBytes)
        }
        #expect(try id(100, uid: 199).hasPrefix("99x"))
        // The bytes of a list are free once the list is replaced.
        for uid in 0..<200 as Range<UInt32> { note(["a"], uid: uid) }
        #expect(lists.size.bytes < 200 * 300 && lists.size.users == 200)
    }
}
