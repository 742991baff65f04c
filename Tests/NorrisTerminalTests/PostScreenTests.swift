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

    @Test func cutsLongTitlesToo() {
        var post = post(nil)
        post.title = String(repeating: "word ", count: 20)
        #expect(
            cards([post], 20) == """
                Ada Lovelace
                @ada@town.example
                3 minutes ago · town
                word word word word
                word word word word
                word word word word…
                norrisctl post town:109
                town:109

                """)
    }

    @Test func cutsNothingWhereAllIsShown() {
        let text = cards([post("\n\n" + essay + "\n \n", images: 9)], 80, showsAll: true)
        #expect(
            text.hasPrefix(
                """
                Ada Lovelace @ada@town.example · 3 minutes ago · town
                The analytical engine has no pretensions whatever to originate anything. It can
                do whatever we know how to order it to perform. It can follow analysis; but it
                has no power of anticipating any truths.

                Its province is to assist us in making available what we are already acquainted
                with.
                ┌─
                """))
        #expect(!text.contains("norrisctl") && !text.contains("more"))
        for index in 2...9 { #expect(text.contains("pic\(index).jpg")) }
    }

    @Test func fitsThreeLinesWithoutACommand() {
        #expect(
            cards([post("a\n\nb\n\nc\n")], 80) == """
                Ada Lovelace @ada@town.example · 3 minutes ago · town
                a
                b
                c
                town:109

                """)
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
        post.images = []
        #expect(cards([post], 80).contains("\nSensitive\n"))
        #expect(
            cards([post], 80, showsAll: true) == """
                Ada Lovelace @ada@town.example · 3 minutes ago · town
                Sensitive
                It has eight legs.
                1 like
                town:109

                """)
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

    @Test(
        arguments: [
            (-2 * 86_400, "in 2 days"), (0, "just now"), (86_400, "1 day ago"), (nil, nil),
        ] as [(Int64?, String?)])
    func tellsTheTimeIfThereIsOne(seconds: Int64?, text: String?) {
        var post = post()
        post.publishedAt = seconds.map(ago)
        let time = text.map { " · \($0)" } ?? ""
        #expect(cards([post], 80).hasPrefix("Ada Lovelace @ada@town.example\(time) · town\n"))
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
            (Post.Stats(likes: 12, comments: 1), "12 likes · 1 comment"), (Post.Stats(likes: 1), "1 like"),
            (Post.Stats(likes: 0, comments: 0, shares: 1), "1 share"), (Post.Stats(comments: 2), "2 comments"),
            (
                Post.Stats(likes: 1_234_567, comments: 1_000, shares: 999),
                "1,234,567 likes · 1,000 comments · 999 shares"
            ),
            (Post.Stats(), nil), (Post.Stats(likes: 0, comments: 0, shares: 0), nil), (Post.Stats(likes: -1), nil),
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
            cards([post(essay), titled, post(nil, images: 1), post(nil, images: 2), empty], nil) == """
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t\(essay.replacing("\n\n", with: " "))
                town:109\t-\tAda Lovelace\tA day: Thanks! And good night.
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t[1 image]
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\t[2 images]
                town:109\t2026-11-21T11:57:00Z\tAda Lovelace\thttps://town.example/@ada/109

                """)
        empty.url = nil
        #expect(cards([empty], nil).hasSuffix("\tAda Lovelace\t-\n"))
    }

    @Test func addsDetailsToBeCopied() {
        var bare = post(images: 1)
        bare.publishedAt = nil
        bare.url = nil
        bare.author = Post.Author(id: "town:8", name: "Eve")
        #expect(
            screen(80) { $0.details(of: bare, time: nil) } == """

                author id  town:8
                image      https://files.example/pic1.jpg?size=large

                """)
        #expect(screen(nil) { $0.details(of: bare, time: "noon") }.isEmpty)
    }

    @Test(
        "Only content that is out of date has a line below it",
        arguments: [
            (Freshness(origin: .cache, state: .fresh, fetchedAt: ago(180)), nil),
            (Freshness(origin: .upstream, state: .fresh, fetchedAt: now), nil),
            (Freshness(origin: .builtin, state: .stale), nil), (Freshness(origin: .none, state: .empty), nil),
            (Freshness(origin: .cache, state: .stale, fetchedAt: ago(7_200)), "out of date, last fetched 2 hours ago"),
            (Freshness(origin: .cache, state: .stale), "not fetched yet"),
            (
                Freshness(
                    origin: .cache, state: .stale, fetchedAt: ago(3_600),
                    error: SourceFailure(kind: .http, message: "HTTP 503 from e.org.", since: ago(1_800))),
                "out of date, last fetched 1 hour ago: failing for 30 minutes: HTTP 503 from\ne.org"
            ),
            // One source was fetched, another was not.
            (Freshness(origin: .cache, state: .stale, fetchedAt: ago(5)), "some content is out of date"),
        ] as [(Freshness, String?)])
    func tellsTheAgeOfOldContent(freshness: Freshness, text: String?) {
        #expect(screen(80) { $0.badge(freshness, now: now) } == (text.map { "\n\($0)\n" } ?? ""))
        #expect(screen(nil) { $0.badge(freshness, now: now) }.isEmpty)
    }

    // MARK: Structure

    private static let structured = """
        An intro[1] with a link that is long enough to be wrapped.

        - first item, which is longer than a line of this card
          - nested[2], and this one is longer than a line as well

            let code = "is not wrapped at words, but cut at the width"
            \tif tab { }

        > A quotation that is longer than one line of the card.
        >
        > > nested

        ---

        [9] leads nowhere.
        """

    private func structured(_ width: Int?, escapes: Bool = false, showsAll: Bool = true) -> String {
        var post = post(Self.structured)
        post.links = ["https://e.org/1", "https://e.org/2"]
        return cards([post], width, escapes: escapes, showsAll: showsAll)
    }

    @Test func showsTheStructureOfAText() {
        #expect(
            structured(40) == """
                Ada Lovelace @ada@town.example
                3 minutes ago · town
                An intro[1] with a link that is long
                enough to be wrapped.

                - first item, which is longer than a
                  line of this card
                  - nested[2], and this one is longer
                    than a line as well

                    let code = "is not wrapped at words,
                     but cut at the width"
                            if tab { }

                > A quotation that is longer than one
                > line of the card.
                >\u{20}
                > > nested

                ────────────────────────────────────────

                [9] leads nowhere.

                [1] https://e.org/1
                [2] https://e.org/2
                town:109

                """)
    }

    @Test func linkNumbersAreLinksAndQuotationsAreDim() {
        let text = visible(structured(80, escapes: true))
        #expect(text.contains("An intro<link https://e.org/1>[1]<link > with a link"))
        #expect(text.contains("<2m> <0m<2mA quotation that"))
        #expect(text.contains("[9] leads") && !text.contains(">[9]"))
    }

    @Test func anExcerptIsThreeLinesOfProse() {
        var post = post("    code\n    more\n\n-\n\n---\n\none\n\n- two\n\n    x\n\n> three\n\nfour")
        #expect(
            cards([post], 40).hasSuffix(" · town\none\n- two\n> three…\nnorrisctl post town:109\ntown:109\n"))
        post.text = "one\n\n    code"
        #expect(cards([post], 40).hasSuffix(" · town\none…\nnorrisctl post town:109\ntown:109\n"))
        post.text = "    only\n    code"
        #expect(cards([post], 40).hasSuffix(" · town\n    only\n    code\ntown:109\n"))
        post.text = "one"
        #expect(cards([post], 40).hasSuffix(" · town\none\ntown:109\n"))
    }

    @Test func aPipeGetsOneLine() {
        let text = structured(nil)
        #expect(text.count { $0 == "\n" } == 1)
        #expect(text.contains("to be wrapped. - first item"))
    }

    @Test(arguments: [1, 2, 5, 9, 14, 40, 80]) func structuredLinesFitTheWidth(width: Int) {
        let deep = String(repeating: "> ", count: 8) + "  - a word and\n\n        code\n\n" + Self.structured
        for line in cards([post(deep)], width, showsAll: true).split(separator: "\n" as Character)
        where !line.hasPrefix("town:109") && !line.hasPrefix("norrisctl") {
            #expect(displayWidth(of: String(line)) <= max(width, 2), "\(line)")
        }
    }

    @Test func framesNothingFromRightToLeft() {
        var arabic = post("صباح الخير", images: 9)
        arabic.author.name = "شهرزاد"
        arabic.images[0].alt = "قطة"
        #expect(
            cards([arabic], 60) == """
                شهرزاد
                @ada@town.example · 3 minutes ago · town
                صباح الخير
                ▣ قطة
                ▣ pic2.jpg
                +7 more
                town:109

                """)
        #expect(cards([arabic], 60, showsAll: true).contains("\n▣ pic9.jpg\ntown:109\n"))
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

    @Test(arguments: UInt64(1)...10) func nothingCrashesAtOneColumn(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for showsAll in [true, false] {
            let posts = (0..<25).map { _ in post(&generator) }
            #expect(forbidden(in: cards(posts, 1, showsAll: showsAll)) == [])
            #expect(forbidden(in: cards(posts, 0, showsAll: showsAll)) == [])
        }
    }
}
