import NorrisProtocol
import Testing

@testable import NorrisStore

struct ShuffleFilterTests {
    @Test(arguments: [
        ShuffleFilter(),
        ShuffleFilter(source: .norris),
        ShuffleFilter(source: .fortune, allowsExplicit: true),
        ShuffleFilter(maxLength: 10_000),
        ShuffleFilter(categories: ["dev"]),
        ShuffleFilter(categories: ["a-b", "c_d", "0"], allowsExplicit: true, maxLength: 1),
    ])
    func comesBackFromItsKey(filter: ShuffleFilter) {
        #expect(ShuffleFilter(key: filter.key) == filter)
    }

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
    ])
    func anythingElseIsNoKey(text: String) {
        #expect(ShuffleFilter(key: text) == nil)
    }

    @Test func listsAreThoseOfTheSourceAndOfTheCategories() {
        func names(_ filter: ShuffleFilter) -> [String] { filter.lists.map { "\($0.category):\($0.kind)" } }
        #expect(names(ShuffleFilter()) == [":norris", ":fortune"])
        #expect(names(ShuffleFilter(source: .norris)) == [":norris"])
        #expect(names(ShuffleFilter(source: .fortune, allowsExplicit: true)) == [":fortune", ":explicitFortune"])
        #expect(
            names(ShuffleFilter(categories: ["b", "a"], allowsExplicit: true))
                == ["a", "b"].flatMap { name in
                    ["norris", "explicitNorris", "fortune", "explicitFortune"].map { "\(name):\($0)" }
                }
        )
    }
}
