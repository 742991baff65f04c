import Testing

@testable import NorrisCards

struct CardTextTests {
    @Test(
        "White space and controls go, lines and paragraphs stay",
        arguments: [
            ("  two\t words  ", "two words"),
            ("\n\n\u{3000}first\n\n\n\nsecond \n\tthird\n\n", "first\n\nsecond\nthird"),
            ("\u{1B}[31mred\u{1B}[0m\u{0}\u{202E}!", "red!"), ("a\u{2028}b\r\nc", "a\nb\nc"),
            ("<b>&amp;</b>", "<b>&amp;</b>"), ("🇩🇪", "🇩🇪"), ("e\u{301}", "e\u{301}"), ("#", "#"),
        ])
    func cleans(source: String, expected: String) throws { #expect(try CardText(source).text == expected) }

    @Test(
        "A text that shows nothing is refused",
        arguments: [
            "", " \n\t", "\u{200D}\u{200C}", "\u{FE0F}", "\u{301}\u{308}", "\u{200B}\u{FEFF}", "\u{3164}\u{115F}",
            "\u{2800}\u{3000}", "\u{7}\u{1B}[31m",
        ])
    func refusesNothing(source: String) { #expect(throws: CardError.nothingToDraw) { try CardText(source) } }

    @Test func takesTheLongestFactAndNoLongerOne() throws {
        #expect(try CardText(String(repeating: "x", count: 10_000)).lineCount == 1)
        #expect(throws: CardError.tooLong) { try CardText(String(repeating: "x", count: 10_001)) }
    }

    @Test func joinsWhatWasBrokenForATerminal() throws {
        let fortune = """
            Q:\tWhat did he do with the line that was too long for the terminal
            \tof somebody who had but one?
            A:\tHe broke it.
            \t\t-- A Book
            """
        let expected = """
            Q: What did he do with the line that was too long for the terminal of somebody who had but one?
            A: He broke it.
            """
        let text = try CardText(fortune)
        #expect(text.text == expected)
        #expect(text.attribution == "— A Book")
        #expect(text.line.hasSuffix("A: He broke it. — A Book"))
    }

    @Test func knowsEmoji() throws {
        for emoji in ["👨‍👩‍👧‍👦", "🇩🇪 👍🏽", "❤️\n❤️"] { #expect(try CardText(emoji).isEmoji) }
        for text in ["1", "#", "❤️ you", "©"] { #expect(try !CardText(text).isEmoji) }
    }

    @Test(
        "A name at the end, behind a dash, is whose words they are",
        arguments: [
            ("Be.\n\t\t-- Ada", "Be.", "— Ada"), ("Be.\n\n-- Ada,\n   \"A Book\"", "Be.", "— Ada, “A Book”"),
            ("Be brave. -- Ada Lovelace", "Be brave.", "— Ada Lovelace"), ("\"Be!\" — Ada", "“Be!”", "— Ada"),
            ("Be.\n—Ada", "Be.", "— Ada"), ("Be.\n-- unknown", "Be.", "— unknown"),
            ("Be.\n--Ada", "Be.", "— Ada"), ("Sei.\n— 老子", "Sei.", "— 老子"),
        ])
    func findsAttributions(source: String, text: String, name: String) throws {
        let card = try CardText(source)
        #expect(card.text == text)
        #expect(card.attribution == name)
    }

    @Test(
        "Other dashes are not",
        arguments: [
            "He waits -- and strikes.", "He waits. -- Then he strikes.", "-- Ada", "Use it.\n--help",
            "He has two -- Ada", "-- one\n-- two", "Wait. -- \(String(repeating: "long ", count: 20))", "A - B.\n- C",
            "Temperature:\n–5 °C", "Temperature:\n– 5 °C", "Temperature:\n-- 5", "It was cold. – 5 °C",
            "He went\n—away",
            String(repeating: "-", count: 10_000),
        ])
    func leavesOtherDashes(source: String) throws { #expect(try CardText(source).attribution == nil) }
}

struct TypographyTests {
    @Test(
        "Quotes, apostrophes and dashes are those of print",
        arguments: [
            ("He said \"hi\" (\"no\").", "He said “hi” (“no”)."), ("don't, dogs' and it's", "don’t, dogs’ and it’s"),
            ("'Tis the '70s, rock 'n' roll, get 'em", "’Tis the ’70s, rock ’n’ roll, get ’em"),
            ("He said 'yes' to \"'no'\".", "He said ‘yes’ to “‘no’”."), ("the 1990's", "the 1990’s"),
            ("He waits -- and strikes--hard.", "He waits — and strikes—hard."),
            ("``Yes,'' he said.", "“Yes,” he said."), ("\"In 1999\"", "“In 1999”"), ("word\n\"line\"", "word\n“line”"),
            ("See \"https://x.org/a--b\", it's here--now.", "See “https://x.org/a--b”, it’s here—now."),
            ("Note: don't...wait, it's 'a.b'.", "Note: don’t...wait, it’s ‘a.b’."),
            ("_Don't_ go--now", "_Don’t_ go—now"),
            ("git is hard -- he isn't.", "git is hard — he isn’t."), ("``a' b'', c.", "“a’ b”, c."),
        ])
    func replaces(text: String, expected: String) { #expect(typographic(text) == expected) }

    @Test(
        "Quotes and hyphens with another meaning stay",
        arguments: [
            "6'2\" tall", "a 19\" rack", "print(\"hi\")", "x = 'a'", "`ls 'a'`", "--help", "a --- b", "צה\"ל",
            "a \" b ' c", "i-- and --i", "git checkout -- file", "cd \"/tmp\"", "echo \"Hello, world!\"",
            "https://x.org/a--b", "at x.org/Moore's--law", "foo--bar.txt", "a--b@x.org", "std::a--b",
        ])
    func keeps(text: String) { #expect(typographic(text) == text) }

    @Test func codeHasNoBackquotes() throws {
        let text = try CardText("He runs `rm -rf '/'` -- \"twice\". 'Tis `x`.")
        #expect(text.text == "He runs rm -rf '/' — “twice”. ’Tis x.")
        let scalars = Array(text.text.unicodeScalars)
        let code = text.code.map { String(String.UnicodeScalarView(scalars[$0])) }
        #expect(code == ["rm -rf '/'", "x"])
        #expect(try CardText("A ` alone and ``quotes'' stay").code.isEmpty)
    }
}
