import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisFetch

struct MarkdownWriterTests {
    private func markdown(_ html: String) -> String {
        MarkupText(html: html, at: HTTPURL("https://blog.example/2026/post.html")).markdown
    }

    @Test func blocksKeepTheirStructure() {
        let html = """
            <h1>A <a href="/x">backup</a> #</h1><p>a<br>b</p><div>c</div><div>d</div><hr>
            <ul><li>e<ol><li>f</li></ol></li><li><p>g</p><p>h</p></li></ul>
            <ol start=9><li>i<pre>j</pre></li><li></li><li>k</li></ol><ol reversed><li>l<li>m</ol>
            <blockquote><p>n</p><blockquote>o</blockquote></blockquote><blockquote>p</blockquote><h4>q</h4><h2>r</h2>
            """
        #expect(
            markdown(html) == """
                ## A [backup](https://blog.example/x) \\#

                a\\
                b

                c\\
                d

                ---

                - e

                  1. f

                - g

                  h

                9. i

                   ```
                   j
                   ```

                11) k

                2. l

                1) m

                > n
                >
                > > o

                > p

                #### q

                ### r
                """)
    }

    @Test(arguments: [
        ("<b>a <i>b</i></b> <em>c</em><del>d</del>", "**a *b*** *c*~~d~~"), ("x<b> y </b>z", "x **y** z"),
        ("<b><b>a</b></b>", "**a**"), ("<b>a<p>b</p></b>", "**a**\n\n**b**"), ("<b>a</b><b>b</b>", "**ab**"),
        ("<b>a</b><i>b</i>", "**a**b"), ("x<b>“y”</b>z", "x“y”z"), ("x<del>(y)</del>z", "x\\~\\~(y)\\~\\~z"),
        ("<b>a&nbsp;</b>b", "**a** b"), ("他<b>“好”</b>。", "他“好”。"), ("他<b>好</b>了", "他**好**了"),
        ("<b> </b>a<i></i>", "a"), ("a<br> ---<br>&nbsp;&nbsp;&nbsp;# b", "a\\\n\\---\\\n\\# b"),
        ("<ul><li>a<hr>b</ul>", "- a\n\n  ---\n\n  b"), ("<code>a`b</code> <kbd>``</kbd>", "``a`b`` ``` `` ```"),
        ("<b><code>a</code></b><code>b</code>", "**`a`**`b`"), ("x<sup>2</sup>3 H<sub>2</sub>O", "x^(2)3 H_2O"),
        ("<q>a</q> <ruby>b<rt>c</rt></ruby>", "\"a\" b(c)"),
    ])
    func spansAreReadAsMeant(html: String, expected: String) { #expect(markdown("<div>\(html)</div>") == expected) }

    @Test(arguments: [
        ("<a href='/a_(b)'>c</a>", "[c](<https://blog.example/a_(b)>)"),
        ("<a href='javascript:x'>c</a>!", "c!"), ("<a href='/a'> b </a>c", "[b](https://blog.example/a) c"),
        ("<a href='/a'>[b] <b>c</b></a>", "[\\[b\\] **c**](https://blog.example/a)"),
        ("<b>a <a href='/b'>c</a></b>", "**a [c](https://blog.example/b)**"),
        ("<a class=mention href='/@a'>@a</a>", "[@a](https://blog.example/@a)"),
        ("!<a href='/a?b=1&amp;lt;'>c</a>", "\\![c](https://blog.example/a?b=1\\&lt;)"),
        ("a<img src='/b.png' alt='c [d]'>e", "a ![c \\[d\\]](https://blog.example/b.png)e"),
        ("<img src='/b' alt='^'>", "![\\^](https://blog.example/b)"),
        ("<a href='/a'><img src='/b'></a>", "[![](https://blog.example/b)](https://blog.example/a)"),
        ("<iframe src='https://v.example/1'></iframe>", "[embedded: v.example](https://v.example/1)"),
    ])
    func linksAndPicturesStandInPlace(html: String, expected: String) { #expect(markdown(html) == expected) }

    @Test func codeHasItsLanguageAndAFenceOfItsOwn() {
        #expect(markdown("<pre class='x language-c++'>a\n\n  ```\n</pre>") == "````c++\na\n\n  ```\n````")
        #expect(markdown("<pre><code class='lang-a`b'>*</code></pre>") == "```\n*\n```")
        #expect(markdown("<blockquote><pre>a\n\nb</pre></blockquote>") == "> ```\n> a\n>\n> b\n> ```")
        #expect(markdown("<pre>\n \n</pre>a") == "a")
    }

    @Test func tablesHaveAHeader() {
        let row = "<tr><td>a|b</td><td><p>c</p><p>d</p></td></tr>"
        #expect(
            markdown("<table><tr><th>x</th><th>y</th></tr>\(row)</table>")
                == "| x | y |\n| --- | --- |\n| a\\|b | c; d |")
        #expect(markdown("<table>\(row)</table>") == "|  |  |\n| --- | --- |\n| a\\|b | c; d |")
        #expect(markdown("<table></table><table><tr><td>a</td></tr></table>") == "a")
    }

    @Test(arguments: [
        ("a_b 1.5 5 < 6 & 2 (1) -x", "a_b 1.5 5 < 6 & 2 (1) -x"),
        ("C:\\x 2 * 3 [1] ~5", "C:\\\\x 2 \\* 3 \\[1] \\~5"),
        ("*a* _b_ `c` ~~d~~", "\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~"), ("[a](b) ![c](d)", "\\[a](b) !\\[c](d)"),
        ("<b> &amp; \\*", "\\<b> \\&amp; \\\\\\*"), ("# a\n## b\n#c", "\\# a\\\n\\## b\\\n#c"),
        ("- a\n+ b\n* c\n1. d\n2) e", "\\- a\\\n\\+ b\\\n\\* c\\\n1\\. d\\\n2\\) e"), ("> a", "\\> a"),
        ("#\ta", "\\#\ta"),
        ("a\n---\nb\n===", "a\\\n\\---\\\nb\\\n\\==="), ("a | b\n--|--\n|-|-|", "a | b\\\n\\--|--\\\n\\|-|-|"),
        ("    a\n\n\tb", "a\n\nb"), ("```\n~~~", "\\`\\`\\`\\\n\\~\\~\\~"), ("[a]: b", "\\[a]: b"),
        ("a\\\nb", "a\\\\\\\nb"),
    ])
    func plainTextIsEscapedWhereNeeded(text: String, expected: String) {
        #expect(MarkupText(plain: text).markdown == expected)
    }

    @Test func whatIsRemovedLaterDoesNotHideMarks() {
        #expect(markdown("<p>\u{200B}# a</p><p>*\u{202E}*</p>") == "\\# a\n\n\\*\\*")
        #expect(markdown("<p><b>\u{200B}</b>a<code>`\u{200B}`</code></p>") == "a``` `` ```")
    }

    @Test func aLongTextEndsAfterABlock() {
        let text = markdown(String(repeating: "<p>" + String(repeating: "*", count: 999) + "</p>", count: 200))
        #expect(text.hasSuffix("\\*\n\n…") && text.unicodeScalars.count == 49 * 2000 + 1)
        #expect(markdown(String(repeating: "a", count: 100_001)).isEmpty)
        #expect(markdown("<a href='https://e.example/\(String(repeating: "a", count: 1900))'>y</a>").utf8.count > 1900)
        let links = String(repeating: "<p><a href='/\(String(repeating: "a", count: 1900))'>y</a>", count: 2000)
        #expect(markdown(links).utf8.count < 100_000)
    }

    @Test(arguments: [
        "<blockquote>", "<ol><li>", "<table><tr><td>a<td>", "<b><i>a</b>", "<a href=x><b>*", "<q><sup>1", "<h1><pre>`",
        "<li value=9>x", "<code>`", "<ul><ol reversed><li>",
    ])
    func nestingIsBounded(html: String) {
        let text = markdown(String(repeating: html, count: 1000) + "x")
        #expect(text.unicodeScalars.count <= 100_000)
        #expect(text.split(separator: "\n").allSatisfy { !$0.hasPrefix(String(repeating: "> ", count: 9)) })
    }

    // MARK: Both directions

    private static let texts = [
        "a", "b c", "é", "中", "“", "”", ".", "€", "*", "_", "~~", "`", "``", "[", "](", "!", "<", "&amp;", "\\", "|",
        "#",
        "- ", "> ", "1. ", "+ ", "=", ":-", "a    b", "(", ")",
    ]

    /// Spans as norris-fetch makes them: white space between two spans has only the style of both.
    private func spans(_ generator: inout SeededRandom, isLine: Bool) -> [PostSpan] {
        var spans: [PostSpan] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            var span = PostSpan(marks: PostSpan.Marks(rawValue: .random(in: 0...15, using: &generator)))
            span.marks.formIntersection(PostSpan.Marks(rawValue: .random(in: 0...15, using: &generator)))
            let addresses = [nil, nil, "https://x.org/(a)?b&lt;", "https://y.org"]
            span.link = addresses.randomElement(using: &generator) ?? nil
            if Int.random(in: 0...9, using: &generator) == 0 {
                (span.picture, span.marks) = ("https://z.org/\\a", span.marks.subtracting(.code))
            }
            span.text = (0..<Int.random(in: 1...4, using: &generator))
                .map { _ in Self.texts.randomElement(using: &generator) ?? "" }.joined()
            if !isLine, span.marks.isEmpty, span.link == nil, span.picture == nil { span.text += "\nx" }
            spans.append(span)
        }
        return spans
    }

    private func blocks(_ generator: inout SeededRandom, depth: Int = 0) -> [PostBlock] {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            switch Int.random(in: depth > 2 ? 3...7 : 0...7, using: &generator) {
            case 0: .quotation(blocks(&generator, depth: depth + 1))
            case 1: .list(start: nil, items: [blocks(&generator, depth: depth + 1), [.paragraph([PostSpan("z")])]])
            case 2: .list(start: .random(in: 0...20, using: &generator), items: [blocks(&generator, depth: depth + 1)])
            case 3: .heading(level: 2, spans(&generator, isLine: true))
            case 4: .code("  a\n\n```\n- *b", language: "c")
            case 5: .table([[spans(&generator, isLine: true)], [spans(&generator, isLine: true)]])
            default: .paragraph(spans(&generator, isLine: false))
            }
        }
    }

    /// Only texts and addresses, because a mark without effect is left out.
    private func plain(_ blocks: [PostBlock]) -> [String] {
        blocks.flatMap { block -> [String] in
            switch block {
            case .quotation(let blocks): [">"] + plain(blocks)
            case .list(let start, let items): items.flatMap { ["\(start ?? -1)"] + plain($0) }
            case .code(let text, let language): [language, text]
            default:
                // Words of a link with different marks can be several links.
                [block.spans.map { ($0.picture ?? "") + $0.text }.joined().replacing(/[~ ]/, with: "")]
                    + Set(block.spans.compactMap(\.link)).sorted()
            }
        }
    }

    @Test(arguments: UInt64(1)...400) func whatIsWrittenIsReadAgain(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<10 {
            let blocks = blocks(&generator)
            let text = NorrisFetch.markdown(of: blocks)
            #expect(plain(postBlocks(of: text)) == plain(blocks), "\(text)")
        }
    }
}
