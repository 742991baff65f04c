import NorrisProtocol
import NorrisTerminal
import NorrisText
import Testing

struct FactScreenTests {
    @Test func codeHasAColor() {
        let fact = Fact(id: "1", text: "Run `rm -rf /` and\n`ls`, not ``this'' or `that.", categories: [], source: "s")
        let lines = screen(80, escapes: true) { $0.facts([fact]) }.split(separator: "\n")
        #expect(lines[0] == "Run \u{1B}[36m`rm -rf /`\u{1B}[0m and")
        #expect(lines[1] == "\u{1B}[36m`ls`\u{1B}[0m, not ``this'' or `that.")
        let narrow = screen(10, escapes: true) { $0.facts([fact]) }.split(separator: "\n")
        #expect(narrow[0] == "Run \u{1B}[36m`rm\u{1B}[0m" && narrow[1] == "\u{1B}[36m-rf /`\u{1B}[0m and")
        #expect(!screen(80) { $0.facts([fact]) }.contains("\u{1B}"))
        let found = screen(80, escapes: true) { $0.facts([fact], query: "rm") }
        #expect(found.contains("\u{1B}[36m`\u{1B}[0m\u{1B}[1;31mrm\u{1B}[0m\u{1B}[36m -rf /`\u{1B}[0m"))
    }

    @Test(arguments: [1, 2, 40, 80, 132]) func wrapsTheLongestFactThereMayBe(width: Int) {
        let words = String(repeating: "word\t漢字 ", count: 1_250)
        #expect(words.unicodeScalars.count == 10_000)
        let fact = Fact(id: "x", text: words, categories: [], source: "s")
        let lines = screen(width) { $0.facts([fact]) }.split(separator: "\n")
        #expect(lines.allSatisfy { displayWidth(of: String($0)) <= max(width, 2) })
        let shown = lines.dropLast().joined().filter { $0 != " " }
        #expect(shown == words.filter { $0 != " " && $0 != "\t" })
    }

    @Test func keepsItsOwnPartsOffALineFromRightToLeft() {
        let fact = Fact(id: "3", text: "عربي", categories: ["שלום", "dev"], source: "s")
        #expect(screen(80) { $0.facts([fact]) } == "عربي\n#שלום\n#dev  3\n")
    }

    @Test func dividesNoTagAndNoId() {
        let foot = screen(12) { $0.facts([long]) }.split(separator: "\n").suffix(4)
        #expect(foot == ["#dev", "#science", "#career", "builtin-dev-12"])
    }

    @Test("Forced colors add no content to a pipe") func colorsAddNoContent() {
        #expect(screen(nil, escapes: true) { $0.facts([long, wide]) } == screen(nil) { $0.facts([long, wide]) })
    }

    @Test(arguments: [
        "javascript:alert(1)", "ftp://example.org/", "https://example.org/a b", "https://exämple.org/", "",
    ]) func linksNothingButSafeAddresses(url: String) {
        var fact = short
        fact.url = url
        #expect(!screen(80, escapes: true) { $0.facts([fact]) }.contains("\u{1B}]8"))
    }

    @Test(arguments: ["http://example.org/", "HTTPS://example.org/?a=b;c#d"]) func linksAddressesOfTheWeb(url: String) {
        var fact = short
        fact.url = url
        #expect(screen(80, escapes: true) { $0.facts([fact]) }.contains("\u{1B}]8;;\(url)\u{1B}\\"))
    }
}

struct CategoriesScreenTests {
    private let categories = [
        FactCategories.Category(name: "animal", count: 9), FactCategories.Category(name: "dev", count: 1_204),
        FactCategories.Category(name: "日本", count: 31),
    ]

    @Test func aNameThatLeavesNoRoomIsNoMeasureForTheOthers() {
        let long = String(repeating: "long", count: 10)
        let all = categories + [FactCategories.Category(name: long, count: 5)]
        #expect(
            screen(40) { $0.categories(all) } == """
                animal      9
                dev     1,204
                日本       31
                \(long)
                            5

                """)
        #expect(screen(1) { $0.categories([categories[0]]) } == "animal\n  9\n")
    }
}
