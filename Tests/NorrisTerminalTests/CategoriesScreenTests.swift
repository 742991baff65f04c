import NorrisProtocol
import NorrisTerminal
import Testing

struct CategoriesScreenTests {
    private let categories = [
        FactCategories.Category(name: "animal", count: 9),
        FactCategories.Category(name: "dev", count: 1_204),
        FactCategories.Category(name: "日本", count: 31),
    ]

    @Test func alignsNamesAndCounts() {
        #expect(screen(80) { $0.categories(categories) } == """
            animal      9
            dev     1,204
            日本       31

            """)
    }

    @Test func aNameThatLeavesNoRoomIsNoMeasureForTheOthers() {
        let long = String(repeating: "long", count: 10)
        let all = categories + [FactCategories.Category(name: long, count: 5)]
        #expect(screen(40) { $0.categories(all) } == """
            animal      9
            dev     1,204
            日本       31
            \(long)
                        5

            """)
        #expect(screen(1) { $0.categories([categories[0]]) } == "animal\n  9\n")
    }

    @Test func dimsTheCounts() {
        #expect(visible(screen(80, escapes: true) { $0.categories([categories[1]]) }) == "dev  <2m1,204<0m\n")
    }

    @Test func putsATabBetweenThemForAPipe() {
        #expect(screen(nil) { $0.categories(categories) } == "animal\t9\ndev\t1204\n日本\t31\n")
    }

    @Test(arguments: [40, nil])
    func letsNoControlCharacterThrough(width: Int?) {
        let text = screen(width) { $0.categories([FactCategories.Category(name: hostile, count: 1)]) }
        #expect(text == (width == nil ? "abcdefg h i j\t1\n" : "abcdefg h i j  1\n"))
    }
}
