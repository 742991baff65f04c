import Testing

@testable import NorrisStore

struct WalkFilterTests {
    @Test(arguments: [
        WalkFilter(),
        WalkFilter(allowsExplicit: true),
        WalkFilter(maxLength: 10_000),
        WalkFilter(categories: ["dev"]),
        WalkFilter(categories: ["a-b", "c_d", "0"], allowsExplicit: true, maxLength: 1),
    ])
    func comesBackFromItsKey(filter: WalkFilter) {
        #expect(WalkFilter(key: filter.key) == filter)
    }

    @Test func orderAndDoublesDoNotMatter() {
        let filter = WalkFilter(categories: ["b", "a", "b"])
        #expect(filter == WalkFilter(categories: ["a", "b"]))
        #expect(filter.key == "a,b//")
        #expect(WalkFilter(categories: ["a", "a"]) == WalkFilter(categories: ["a"]))
    }

    @Test func differentWalksHaveDifferentKeys() {
        let filters = [
            WalkFilter(), WalkFilter(allowsExplicit: true), WalkFilter(maxLength: 1), WalkFilter(maxLength: 11),
            WalkFilter(categories: ["explicit"]), WalkFilter(categories: ["a"]), WalkFilter(categories: ["a", "b"]),
        ]
        #expect(Set(filters.map(\.key)).count == filters.count)
    }

    @Test(arguments: ["", "/", "///", "a", "//x", "//-3", "//0", "//+5", "//05", "/yes/", "b,a//", "a,a//", ",a//"])
    func anythingElseIsNoKey(text: String) {
        #expect(WalkFilter(key: text) == nil)
    }

    @Test(arguments: [
        RosterName(category: "", isExplicit: false), RosterName(category: "", isExplicit: true),
        RosterName(category: "dev", isExplicit: false), RosterName(category: "dev", isExplicit: true),
    ])
    func rosterNameComesBackFromItsKey(name: RosterName) {
        #expect(RosterName(key: name.key) == name)
    }
}
