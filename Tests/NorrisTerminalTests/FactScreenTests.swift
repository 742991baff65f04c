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

    @Test func dividesNoTagAndNoId() {
        let fact = Fact(id: "builtin-dev-12", text: "x", categories: ["dev", "science", "career"], source: "builtin")
        let foot = screen(12) { $0.facts([fact]) }.split(separator: "\n").suffix(4)
        #expect(foot == ["#dev", "#science", "#career", "builtin-dev-12"])
    }

    @Test(arguments: [
        ("javascript:alert(1)", false), ("https://example.org/a b", false), ("https://exämple.org/", false),
        ("", false),
        ("http://example.org/", true), ("HTTPS://example.org/?a=b;c#d", true),
    ]) func linksNothingButSafeAddresses(url: String, isLinked: Bool) {
        let fact = Fact(id: "x", text: "x", categories: [], source: "s", url: url)
        let text = screen(80, escapes: true) { $0.facts([fact]) }
        #expect(text.contains("\u{1B}]8") == isLinked && text.contains("\u{1B}]8;;\(url)\u{1B}\\") == isLinked)
    }
}
