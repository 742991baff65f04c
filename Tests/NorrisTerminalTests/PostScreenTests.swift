import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisTestSupport
import NorrisText
import Testing

struct PostScreenTests {
    @Test(
        "A title that the text begins with is shown once",
        arguments: [
            ("Good morning, all", false), ("Good morning", false), ("Good mor…", false), ("Good\nmorning,  ", false),
            ("…", false), ("Good mor", true), ("good morning", true), ("Good morning, all, and more", true),
        ])
    func leavesOutATitleThatTheTextRepeats(title: String, isShown: Bool) {
        var post = post("Good morning,\nall")
        post.title = title
        let line = isShown ? "\n\(title)" : ""
        #expect(cards([post], 80).hasSuffix(" · town\(line)\nGood morning,\nall\ntown:109\n"))
        let words = isShown ? "\(title): " : ""
        #expect(cards([post], nil).hasSuffix("\tAda Lovelace\t\(words)Good morning, all\n"))
    }

    @Test func holdsBackWhatIsSensitive() {
        var post = post("It has eight legs.", images: 1)
        post.title = "Spiders"
        post.isSensitive = true
        post.stats = Post.Stats(likes: 1)
        #expect(
            cards([post], 80) == """
                Ada Lovelace @ada@town.example · 3 minutes ago · town
                Sensitive: Spiders
                norrisctl post town:109
                town:109

                """)
        #expect(
            cards([post], nil) == """
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\tSensitive: Spiders

                """)
        #expect(visible(cards([post], 80, escapes: true)).contains("\n<33mSensitive: Spiders<0m\n"))
        post.title = nil
        #expect(cards([post], 80).contains("\nSensitive\n"))
        #expect(cards([post], 80, showsAll: true).contains("\nSensitive\nIt has eight legs.\n"))
        #expect(cards([post], nil, showsAll: true).hasSuffix("\tSensitive: It has eight legs.\n"))
    }

    @Test func marksWhatIsUnread() {
        var post = post()
        post.isRead = false
        #expect(cards([post], 80).hasPrefix("● Ada Lovelace @ada@town.example · 3 minutes ago · town\n"))
        post.author = Post.Author(id: "town:8", name: "A name of twenty col")
        #expect(cards([post], 20).hasPrefix("● A name of twenty…\n3 minutes ago · town\n"))
        #expect(cards([post], 1).hasPrefix("●\n…\n…\n…\nG\no\n…\nnorrisctl post town:109\n"))
    }

    @Test func leavesOutWhatIsNotThere() {
        var post = post(nil)
        post.author = Post.Author(id: "town:8", name: " ", handle: "@eve")
        #expect(
            cards([post], 80) == """
                @eve · 3 minutes ago · town
                https://town.example/@ada/109
                town:109

                """)
        post.author.handle = nil
        post.tags = ["", "a"]
        #expect(
            cards([post], 20) == """
                town:8
                3 minutes ago · town
                https://town.exampl…
                #a  town:109

                """)
        post.source = ""
        post.tags = []
        post.text = " \n"
        post.title = ""
        post.url = nil
        #expect(cards([post], 80) == "town:8 · 3 minutes ago\ntown:109\n")
        post.title = "Only a title"
        #expect(cards([post], 80) == "town:8 · 3 minutes ago\nOnly a title\ntown:109\n")
    }

    @Test(
        arguments: [
            (Post.Stats(likes: 0, comments: 0, shares: 1), "1 share"), (Post.Stats(comments: 2), "2 comments"),
            (
                Post.Stats(likes: 1_234_567, comments: 1_000, shares: 999),
                "1,234,567 likes · 1,000 comments · 999 shares"
            ),
            (Post.Stats(likes: 0, comments: 0, shares: 0), nil), (Post.Stats(likes: -1), nil),
        ] as [(Post.Stats, String?)])
    func countsWithoutZeros(stats: Post.Stats, text: String?) {
        var post = post()
        post.stats = stats
        let line = text.map { "\($0)\n" } ?? ""
        #expect(cards([post], 80).hasSuffix("\nGood morning.\n\(line)town:109\n"))
    }

    @Test func printsOneLineAPostToAPipe() {
        var titled = post("Thanks!\n\tAnd good night.")
        titled.title = "A day"
        titled.publishedAt = nil
        var empty = post(nil)
        #expect(
            cards([post("a\n\n b"), titled, post(nil, images: 1), post(nil, images: 2), empty], nil) == """
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\ta b
                town:109\t-\tAda Lovelace\tA day: Thanks! And good night.
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t[1 image]
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t[2 images]
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\thttps://town.example/@ada/109

                """)
        empty.url = nil
        #expect(cards([empty], nil).hasSuffix("\tAda Lovelace\t-\n"))
    }

    private func lines(_ posts: [Post], _ width: Int?, numberedFrom first: Int? = 9) -> String {
        screen(width) { $0.posts(posts, as: .line, now: now, numberedFrom: first) { _, _ in "" } }
    }

    @Test func printsOneLineAPostInColumns() {
        var (titled, hidden, long, dateless) = (post("All of it."), post(), post("One\n\ntwo"), post(nil))
        (titled.title, titled.isRead) = ("漢字", false)
        (hidden.title, hidden.isSensitive) = ("Spiders", true)
        long.source = "a name of thirty-one characters"
        (dateless.publishedAt, dateless.source) = (nil, "planet")
        #expect(
            lines([titled, hidden, long, dateless], 60) == """
                 9  ● 漢字                       town          3 minutes ago
                10    Sensitive: Spiders         town          3 minutes ago
                11    One two                    a name of t…  3 minutes ago
                12    https://town.example/@ad…  planet

                """)
        #expect(lines([titled], 80) == "9  ● 漢字  town  3 minutes ago\n")
        #expect(lines([titled, hidden], 30) == " 9  ● 漢字\n10    Sensitive: Spiders\n")
        #expect(lines([titled], nil).hasPrefix("town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t漢字"))
    }

    @Test("A line is never wider than the terminal, however long the text is", arguments: [10, 24, 60, 200])
    func linesFitTheTerminal(width: Int) {
        var post = post(String(repeating: "日本 word ", count: 20_000))
        post.isRead = false
        for line in lines([post, post], width).split(separator: "\n" as Character) {
            #expect(width - 1...width ~= displayWidth(of: String(line)), "\(line)")
        }
        #expect(lines([post, post], width).split(separator: "\n" as Character).count == 2)
    }

    @Test func anItemWithANumberHasNoID() {
        func shown(_ first: Int) -> String {
            screen(40) { screen in
                screen.posts([post()], as: .excerpt, now: now, numberedFrom: first) { _, _ in "" }
                screen.facts([Fact(id: "fact-id", text: "x", categories: [], source: "s")], numberedFrom: first)
                let favorite = Favorite(kind: .post, id: "kept-id", title: "t", addedAt: now)
                screen.favorites([favorite], now: now, numberedFrom: first)
                let gif = Gif(id: "gif-id", title: "t", rating: "g", pageURL: "https://giphy.com/gifs/x")
                screen.gifs([gif], numberedFrom: first)
            }
        }
        let ids = ["town:109", "fact-id", "kept-id", "gif-id"]
        #expect(!ids.contains { shown(100).contains($0) }, "\(shown(100))")
        #expect(ids.allSatisfy { shown(101).contains($0) }, "A list has at most 100 numbers.")
    }

    @Test func showsTheTitleOfTheSourceOnce() {
        var post = post()
        post.sourceTitle = "The\nTown  "
        #expect(cards([post], 80).hasPrefix("Ada Lovelace @ada@town.example · 3 minutes ago · The Town\n"))
        #expect(lines([post], 80) == "9    Good morning.  The Town  3 minutes ago\n")
        post.sourceTitle = "Ada Lovelace"
        #expect(cards([post], 80).hasPrefix("Ada Lovelace @ada@town.example · 3 minutes ago\n"))
        post.sourceTitle = " "
        #expect(cards([post], 80).hasPrefix("Ada Lovelace @ada@town.example · 3 minutes ago · town\n"))
    }

    // MARK: Structure

    private static let foot = "https://town.example/@ada/109\ntown:109\n"

    @Test("Code ends at the first line without its indentation, and no character of the next line is lost")
    func codeEndsAtTheFirstOtherLine() {
        let text = "Release 1.2\n\n    make install\n    \n      all\nSee the notes.\n    Not code."
        let lines = "Release 1.2\n\n    make install\n    \n      all\n\nSee the notes.\nNot code.\n"
        #expect(cards([post(text)], 40, showsAll: true).hasSuffix(" · town\n\(lines)\(Self.foot)"))
    }

    @Test func aQuotationInAnItemRepeatsBothMarks() {
        #expect(
            cards([post("10. > a quotation of two lines\n    more\n-\n- [x] b")], 22, showsAll: true).hasSuffix(
                " · town\n10. > a quotation of\n    > two lines\n\n    more\n\n-\n- [x] b\n\(Self.foot)"))
    }

    @Test("Of a shortened text only the beginning is read") func readsTheBeginningOfALongText() {
        let code = String(repeating: "    code\n", count: 1_000)
        let short = String(repeating: "    code\n", count: 4)
        let foot = "…\nnorrisctl post town:109\ntown:109\n"
        #expect(cards([post("\(short)\nprose")], 40).hasSuffix(" · town\nprose\(foot)"))
        #expect(cards([post("\(code)\nprose")], 40).hasSuffix(" · town\n    code\n    code\n    code\(foot)"))
        let line = String(repeating: "word ", count: 20_000)
        let cut = "word word word\nword word word\nword word wor…\nnorrisctl post town:109\ntown:109\n"
        #expect(cards([post(line)], 14).hasSuffix(cut))
    }

    @Test func anExcerptIsTheFirstParagraph() {
        var post = post("    code\n    more\n\n-\n\n---\n\none\n\n- two\n\n      x\n\n> three\n\nfour")
        #expect(
            cards([post], 40).hasSuffix(" · town\none…\nnorrisctl post town:109\ntown:109\n"))
        post.text = "# One\n\n- two.\n- three\n\nfour"
        #expect(cards([post], 40).contains(" · town\ntwo…\n"))
        post.text = "Hello,\n\nthe kettle is back.\n\nthree\n\nfour"
        #expect(cards([post], 40).contains(" · town\nHello,\nthe kettle is back…\n"))
        post.text = "> quoted\n\nb\n\nc\n\nd"
        #expect(cards([post], 40).contains(" · town\n> quoted…\n"))
        // A short text is shown whole.
        post.text = "one\n\n    code"
        #expect(cards([post], 40).hasSuffix(" · town\none\n    code\ntown:109\n"))
        post.text = "    only\n    code"
        #expect(cards([post], 40).hasSuffix(" · town\n    only\n    code\ntown:109\n"))
        post.text = "one"
        #expect(cards([post], 40).hasSuffix(" · town\none\ntown:109\n"))
    }

    @Test(arguments: [1, 2, 5, 9, 14, 40, 80]) func structuredLinesFitTheWidth(width: Int) {
        let deep = String(repeating: "> ", count: 8) + "- a word and\n\n```\n\tcode\n```\n\n" + Self.document
        for line in cards([post(deep)], width, showsAll: true).split(separator: "\n" as Character)
        where !["https://town", "norrisctl", "town:109"].contains(where: { line.hasPrefix($0) }) {
            let isCode = ["let line =", "code"].contains { line.contains($0) }
            // The marker of an item has up to three columns.
            #expect(isCode || displayWidth(of: String(line)) <= max(width, 3), "\(line)")
        }
    }

    // MARK: CommonMark

    private func marked(
        _ markdown: String, _ width: Int = 40, links: [String] = [], escapes: Bool = false, showsAll: Bool = true
    ) -> String {
        var post = post("the text")
        (post.markdown, post.links) = (markdown, links)
        let card = cards([post], width, escapes: escapes, showsAll: showsAll)
        // Below the line with author and source.
        let end = card.ranges(of: escapes ? "town\u{1B}[0m\n" : "town\n").first?.upperBound
        return String(card[(end ?? card.startIndex)...])
    }

    private static let document = """
        ## A heading, long enough for two lines

        *em* **strong** ~~old~~ `code` [words](https://e.org/2) [other](https://e.org/3)

        - one
        - two

          9. nine
          10. ten\\
              more
        - > quoted `code`

        ![a cat](https://e.org/cat.png)

        ```swift
        let line = "is longer than the forty columns"
        ```

        | Name | Size |
        | --- | --- |
        | a\\|b | *12* |
        | [c](https://e.org/2) | |
        """

    @Test func showsTheStructureOfCommonMark() {
        #expect(
            marked(Self.document, links: ["https://e.org/1", "https://e.org/2"]).hasPrefix(
                """
                A heading, long enough for two lines

                em strong ~~old~~ code words[2] other

                - one

                - two

                  9. nine
                  10. ten
                      more

                - > quoted code

                ▣ a cat

                    let line = "is longer than the forty columns"

                Name │ Size
                ─────┼─────
                a|b  │ 12
                c[2] │ 

                [1] https://e.org/1
                """))
    }

    @Test func marksAreStyles() {
        let text = visible(marked(Self.document, 80, links: ["", "https://e.org/2"], escapes: true))
        for part in [
            "<1mA heading, long enough for two lines<0m\n", "<3mem<0m <1mstrong<0m ~~old~~ <36mcode<0m",
            "<link https://e.org/2><4mwords<0m<link ><link https://e.org/2><2m[2]<0m<link >",
            "<link https://e.org/3><4mother<0m<link >\n", "<2m- > <0m<2mquoted <0m<36mcode<0m",
            "<link https://e.org/cat.png><2m▣ a cat<0m<link >\n",
            "<36m    let line = \"is longer than the forty columns\"<0m", "<1mName<0m<2m │ <0m<1mSize<0m",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(visible(marked("***a* b**", escapes: true)).hasPrefix("<1;3ma<0m<1m b<0m\n"))
    }

    @Test func stylesContinueOnTheNextLine() {
        let text = visible(marked("a **bold text of\\\ntwo** [日本語](https://e.org)", 8, escapes: true))
        #expect(text.hasPrefix("a <1mbold<0m\n<1mtext of<0m\n<1mtwo<0m <link https://e.org><4m日本<0m<link >\n"))
        #expect(text.contains("\n<link https://e.org><4m語<0m<link >\n"))
    }

    @Test func aTableThatIsTooWideBecomesLinesOfCells() {
        let table = "| Name | What it is |\n|---|---|\n| a | a long description |\n| b | |\n| c | x |"
        #expect(
            marked(table, 20).hasPrefix(
                "Name: a\nWhat it is: a long\ndescription\n\nName: b\n\nName: c\nWhat it is: x\nhttps://"))
        #expect(
            marked(table.replacing("| Name | What it is |", with: "| | |"), 20).hasPrefix(
                "a\na long description\n\nb\n\nc\nx\n"))
        #expect(marked("| א | b |\n|---|---|\n| c | d |").hasPrefix("א: c\nb: d\n"))
    }

    @Test func anExcerptOfCommonMarkIsProse() {
        let text = "![a](https://e.org)\n\n# One\n\n```\ncode\n```\n\n[two](https://e.org)\n\n- three\n- four"
        let excerpt = "two[1]…\nnorrisctl post town:109\n"
        #expect(marked(text, links: ["https://e.org"], showsAll: false).hasPrefix(excerpt))
        let code = "```\n\(String(repeating: "x", count: 60))\n```"
        #expect(marked(code, showsAll: false).hasPrefix("    \(String(repeating: "x", count: 35))…\n"))
        #expect(cards([post("the text")], nil).hasSuffix("\tthe text\n"))
    }

    @Test(arguments: UInt64(1)...20) func noTextChangesTheTerminal(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        let parts = [
            "a", "*", "**", "`", "[", "](https://e.org)", "![", "\n\n", "\n- ", "\n> ", "\n|", "-|\n", hostile, "日",
        ]
        for _ in 0..<25 {
            let text = (0..<40).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            for width in [1, 7, 40] {
                let lines = marked(text, width, links: ["https://e.org"])
                #expect(forbidden(in: lines).isEmpty)
            }
        }
    }
}

/// Tests properties of the card of every post at every width.
struct PostPropertyTests {
    private static let parts = [
        "a", "word", "supercalifragilistic", " ", " ", "   ", "\n", "\n\n", "\t", "日本", "。", "「", "👩‍👩‍👧‍👦", "👍🏽",
        "e\u{301}", "\u{1B}[31m", "\u{9B}2J", "\u{202E}", "\u{A0}", "│", "…", "🇨🇭", "กำ",
    ]

    private func text(_ generator: inout SeededRandom) -> String {
        (0..<Int.random(in: 0...30, using: &generator)).map { _ in Self.parts.randomElement(using: &generator) ?? "" }
            .joined()
    }

    private func post(_ generator: inout SeededRandom) -> Post {
        Post(
            id: "p", source: text(&generator),
            author: Post.Author(id: "a", name: text(&generator), handle: text(&generator)),
            publishedAt: Bool.random(using: &generator) ? now : nil,
            title: Bool.random(using: &generator) ? text(&generator) : nil,
            text: Bool.random(using: &generator) ? text(&generator) : nil,
            isSensitive: Int.random(in: 0..<5, using: &generator) == 0,
            tags: (0..<Int.random(in: 0...3, using: &generator)).map { _ in text(&generator) },
            images: (0..<Int.random(in: 0...7, using: &generator)).map { _ in
                Post.Image(
                    url: "https://example.org/b", width: Int.random(in: 0...5_000, using: &generator), height: 1,
                    alt: text(&generator))
            }, stats: Post.Stats(likes: Int.random(in: 0...5_000, using: &generator)),
            url: Bool.random(using: &generator) ? "https://example.org/a/long/address" : nil,
            isRead: Bool.random(using: &generator))
    }

    @Test(arguments: UInt64(1)...40) func noLineIsWiderThanTheTerminalAndNoneIsEmpty(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<25 {
            let post = post(&generator)
            let width = Int.random(in: 2...100, using: &generator)
            let lines = cards([post], width).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            for line in lines where line != "norrisctl post p" {
                #expect(displayWidth(of: String(line)) <= min(width, 80), "\(line) in \(width)")
                #expect(!line.isEmpty, "\(post) in \(width)")
            }
            #expect(lines.last?.hasSuffix("p") == true)
        }
    }

    @Test(arguments: UInt64(1)...20) func boxesHaveStraightSides(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<25 {
            var post = post(&generator)
            post.isSensitive = false
            let width = Int.random(in: 8...80, using: &generator)
            for line in cards([post], width, showsAll: true).split(separator: "\n")
            where line.hasPrefix("┌") || line.hasPrefix("│ ") {
                guard line.hasSuffix("┐") || line.hasSuffix(" │") else { continue }
                #expect(displayWidth(of: String(line)) == width, "\(line) in \(width)")
            }
        }
    }
}
