import NorrisProtocol
import NorrisTerminal
import NorrisText
import Testing

struct FactScreenTests {
    @Test func wrapsTo40Columns() {
        #expect(screen(40) { $0.facts([short, long, wide]) } == """
            Chuck Norris can instantiate an abstract
            class.
            #dev  ye0_hnd3rgq68e_pfvsqqg

            Chuck Norris once opened a text editor,
            looked at the screen for a minute and
            closed it again; the program was
            finished, tested and documented, and the
            computer had learned some manners as
            well.
            #dev  #science  #career  builtin-dev-12

            チャック・ノリスは腕立て伏せをしない。地
            球を押し下げるのだ。👩‍💻 does the rest.
            fortune-1

            """)
    }

    @Test func wrapsTo80Columns() {
        #expect(screen(80) { $0.facts([short, long]) } == """
            Chuck Norris can instantiate an abstract class.
            #dev  ye0_hnd3rgq68e_pfvsqqg

            Chuck Norris once opened a text editor, looked at the screen for a minute and
            closed it again; the program was finished, tested and documented, and the
            computer had learned some manners as well.
            #dev  #science  #career  builtin-dev-12

            """)
    }

    @Test func wrapsTo132Columns() {
        #expect(screen(132) { $0.facts([long]) } == """
            Chuck Norris once opened a text editor, looked at the screen for a minute and closed it again; \
            the program was finished, tested and
            documented, and the computer had learned some manners as well.
            #dev  #science  #career  builtin-dev-12

            """)
    }

    @Test func keepsTheLinesOfVerse() {
        #expect(screen(40) { $0.facts([verse]) } == """
            One line,
                    and another.
            #poems  fortune-2

            """)
    }

    @Test func dimsTheFootAndLinksTheId() {
        #expect(visible(screen(80, escapes: true) { $0.facts([short, verse]) }) == """
            Chuck Norris can instantiate an abstract class.
            <2m#dev<0m  <link https://api.chucknorris.io/jokes/ye0_hnd3rgq68e_pfvsqqg>\
            <2mye0_hnd3rgq68e_pfvsqqg<0m<link >

            One line,
                    and another.
            <2m#poems<0m  <2mfortune-2<0m

            """)
    }

    @Test(arguments: [1, 2, 40, 80, 132])
    func wrapsTheLongestFactThereMayBe(width: Int) {
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

    @Test func printsOneLineAFactToAPipe() {
        #expect(screen(nil) { $0.facts([short, long, verse, wide]) } == """
            Chuck Norris can instantiate an abstract class.
            \(long.text)
            One line, and another.
            \(wide.text)

            """)
    }

    @Test func addsDimTagsToAPipeOnlyIfColoursWereForced() {
        #expect(visible(screen(nil, escapes: true) { $0.facts([long, wide]) }) == """
            \(long.text) <2m#dev<0m <2m#science<0m <2m#career<0m
            \(wide.text)

            """)
    }

    @Test(arguments: [1, 7, 40, 80, nil])
    func letsNoControlCharacterThrough(width: Int?) {
        var fact = Fact(id: hostile, text: hostile, categories: [hostile, hostile], source: hostile, url: hostile)
        let text = screen(width) { $0.facts([fact, fact]) }
        #expect(forbidden(in: text) == [])
        if width == nil {
            #expect(text == "abcdefg h i j\nabcdefg h i j\n")
        }
        // With escapes on, only those of the renderer's own are there.
        fact.url = "https://example.org/\u{1B}]8;;evil"
        let coloured = screen(width, escapes: true) { $0.facts([fact]) }
        let rest = coloured.replacing("\u{1B}[2m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(forbidden(in: rest) == [])
    }

    @Test(arguments: [
        "javascript:alert(1)", "ftp://example.org/", "https://example.org/a b", "https://exämple.org/", "",
    ])
    func linksNothingButSafeAddresses(url: String) {
        var fact = short
        fact.url = url
        #expect(!screen(80, escapes: true) { $0.facts([fact]) }.contains("\u{1B}]8"))
    }

    @Test(arguments: ["http://example.org/", "HTTPS://example.org/?a=b;c#d"])
    func linksAddressesOfTheWeb(url: String) {
        var fact = short
        fact.url = url
        #expect(screen(80, escapes: true) { $0.facts([fact]) }.contains("\u{1B}]8;;\(url)\u{1B}\\"))
    }
}
