import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

struct MarkdownReaderTests {
    /// The blocks as HTML without ends of paragraphs, for comparison.
    private func html(_ text: String) -> String { html(postBlocks(of: text)) }

    private func html(_ blocks: [PostBlock]) -> String { blocks.map(html).joined() }

    private func html(_ block: PostBlock) -> String {
        switch block {
        case .paragraph(let spans): return "<p>" + html(spans)
        case .heading(let level, let spans): return "<h\(level)>" + html(spans)
        case .code(let text, let language): return "<pre \(language)>\(text)</pre>"
        case .quotation(let blocks): return "<q>\(html(blocks))</q>"
        case .rule: return "<hr>"
        case .list(let start, let items):
            let name = (PostBlock.isTight(items) ? "list" : "loose") + (start.map { " \($0)" } ?? "")
            return "<\(name)>" + items.map { "<li>" + html($0) }.joined() + "</list>"
        case .table(let rows):
            return "<table>" + rows.map { "<tr>" + $0.map { html($0) }.joined(separator: "|") }.joined()
        }
    }

    private func html(_ spans: [PostSpan]) -> String {
        spans.map { span in
            var text = span.text.replacing("\n", with: "<br>")
            let names: [(PostSpan.Marks, String)] = [(.code, "c"), (.deleted, "s"), (.emphasis, "i"), (.strong, "b")]
            for (mark, name) in names where span.marks.contains(mark) { text = "<\(name)>\(text)</\(name)>" }
            if let picture = span.picture { text = "<img \(picture.dropFirst(8)) \(text)>" }
            return span.link.map { "<a \($0.dropFirst(8))>\(text)</a>" } ?? text
        }.joined()
    }

    @Test(
        "Blocks",
        arguments: [
            ("a\nb  \n c\\\nd\n\n\ne\r\n", "<p>a<br>b<br>c<br>d<p>e"), ("a\\", "<p>a\\"), ("", ""),
            ("# a\n## b\n###### c\n####### d\n#e", "<h1>a<h2>b<h6>c<p>####### d<br>#e"),
            ("## \\# *a* [b](https://x.org) \\#", "<h2># <i>a</i> <a x.org>b</a> #"),
            ("```swift\nlet *a*\n\n  b\n```\nc", "<pre swift>let *a*\n\n  b</pre><p>c"),
            ("````\n```\nx\n`````\n```c++\ny", "<pre >```\nx</pre><pre c++>y</pre>"),
            ("```a b\nc", "<p>```a b<br>c"), ("    a\n      b\n\nc\n    d", "<pre >a\n  b</pre><p>c<br>d"),
            ("a\n\n---\n\nb\n\n***", "<p>a<hr><p>b<p>***"),
            ("- a\n  b\n  - c\n- d", "<list><li><p>a<br>b<list><li><p>c</list><li><p>d</list>"),
            ("- a\n\n  b\n\n- c\n\nd", "<loose><li><p>a<p>b<li><p>c</list><p>d"),
            (
                "- a\n+ b\n1. c\n2) d",
                "<list><li><p>a</list><list><li><p>b</list><list 1><li><p>c</list><list 2><li><p>d</list>"
            ),
            ("9. a\n10. b\n    - c\n- d", "<list 9><li><p>a<li><p>b<list><li><p>c</list></list><list><li><p>d</list>"),
            ("The year\n1968. was\n1. a", "<p>The year<br>1968. was<list 1><li><p>a</list>"),
            ("-\n- b\n-c", "<list><li><li><p>b</list><p>-c"), ("1000000000. a", "<p>1000000000. a"),
            ("> a\n> b\n>\n> > c\n>d", "<q><p>a<br>b<q><p>c</q></q><p>>d"),
            ("- ```\n  a\n  ```\n> - b", "<loose><li><pre >a</pre></list><q><list><li><p>b</list></q>"),
            (
                "| a | *b* |\n| --- | --- |\n| c\\|d | `e\\|f` |\n| g |\n| h | i | j |\nk",
                "<table><tr>a|<i>b</i><tr>c|d|<c>e|f</c><tr>g|<tr>h|i<p>k"
            ),
            ("|  |  |\n| --- | --- |\n| a |  |", "<table><tr>|<tr>a|"), ("| a |\n|---|", "<table><tr>a"),
            ("| a |\n| b |", "<p>| a |<br>| b |"), ("| a |\n|---|---|", "<p>| a |<br>|---|---|"),
        ])
    func readsBlocks(text: String, expected: String) { #expect(html(text) == expected) }

    @Test(
        "Spans",
        arguments: [
            ("*a* **b** ***c*** ~~f~~ _d_", "<i>a</i> <b>b</b> <b><i>c</i></b> <s>f</s> _d_"),
            ("*a **b** c*", "<i>a </i><b><i>b</i></b><i> c</i>"), ("***a* b**", "<b><i>a</i></b><b> b</b>"),
            ("*a **b*", "*a *<i>b</i>"), ("**a*", "*<i>a</i>"), ("*a* * b ** c_d_e 2*3", "<i>a</i> * b ** c_d_e 2*3"),
            ("a*\"b\"* *(c)*.", "a*\"b\"* <i>(c)</i>."), ("**中文**中文 **中。**文", "<b>中文</b>中文 **中。**文"),
            ("a*b**c**d*", "a<i>b</i><b><i>c</i></b><i>d</i>"), ("**a*b*c**", "<b>a</b><b><i>b</i></b><b>c</b>"),
            ("~a~ ~~~b~~~ ~~c", "~a~ ~~~b~~~ ~~c"), ("\\*a\\* \\\\ \\d \\`", "*a* \\ \\d `"),
            ("`a` ``b`c`` `` ` `` `d", "<c>a</c> <c>b`c</c> <c>`</c> `d"),
            ("`a\\` *`*`*", "<c>a\\</c> <i><c>*</c></i>"),
            ("[a *b*](https://x.org)*c*", "<a x.org>a </a><a x.org><i>b</i></a><i>c</i>"),
            ("[a](<https://x.org/(>) [b](https://x.org/(b\\)))", "<a x.org/(>a</a> <a x.org/(b)>b</a>)"),
            ("*[a*](https://x.org)", "*<a x.org>a*</a>"), ("`[a`](https://x.org)", "<c>[a</c>](https://x.org)"),
            ("[a](javascript:b) [c](/d) [e](https://x y)", "[a](javascript:b) [c](/d) [e](https://x y)"),
            ("[a]\\(https://x.org) [](https://x.org \"b\") [c] ]", "[a](https://x.org) [](https://x.org \"b\") [c] ]"),
            ("[a [b](https://x.org)](https://y.org)", "[a <a x.org>b</a>](https://y.org)"),
            ("![a \\] *b*](https://x.org/i) ![](https://x.org)", "<img x.org/i a ] b> <img x.org >"),
            ("[![a](https://x.org)](https://y.org) !a", "<a y.org><img x.org a></a> !a"),
            ("<b>x</b> &amp; https://x.org [1]", "<b>x</b> &amp; https://x.org [1]"),
            ("مرحبا *שלום*, [a\u{202E}b](https://x.org)\u{0}", "مرحبا <i>שלום</i>, <a x.org>ab</a>"),
        ])
    func readsSpans(text: String, expected: String) {
        #expect(html(text) == "<p>" + expected)
        #expect(html("| \(text.replacing("|", with: "\\|")) |\n|-|") == "<table><tr>" + expected)
    }

    // MARK: Bad input

    private static let parts = [
        "a", "b c", "é", "中", "ש", "*", "**", "_", "~~", "`", "``", "```", "[", "](", "](https://x.org)", "![", ")",
        "<",
        "\\", "|", "\n", "\n\n", "\n- ", "\n> ", "\n1. ", "\n# ", "\n  ", "\n    ", "\n|", "-|\n", " ", "\u{202E}",
        "\u{0}", "\u{1B}[1m", "&lt;", "\r\n", "\t",
    ]

    /// All texts, names of languages and addresses.
    private func content(_ blocks: [PostBlock]) -> String {
        func content(_ spans: [PostSpan]) -> String {
            spans.map { $0.text + ($0.link ?? "") + ($0.picture ?? "") }.joined()
        }
        return blocks.map { block in
            switch block {
            case .code(let text, let language): language + text
            case .quotation(let blocks): self.content(blocks)
            case .list(_, let items): items.map(self.content).joined()
            default: content(block.spans)
            }
        }.joined()
    }

    @Test("Every letter of any text is in exactly one span", arguments: UInt64(1)...20)
    func losesNothing(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let parts = (0..<Int.random(in: 0...60, using: &generator)).compactMap { _ in
                Self.parts.randomElement(using: &generator)
            }
            let text = parts.joined()
            let blocks = postBlocks(of: text)
            // An address follows its words, and is repeated for each of their spans.
            let letters = ["a", "b", "c", "é", "中", "ש"]
            for letter in letters {
                let (expected, found) = (
                    places(of: letter, in: sanitizedText(text)), places(of: letter, in: content(blocks))
                )
                #expect(found == expected, "\(text.debugDescription)")
            }
            #expect(sanitizedText(content(blocks)) == content(blocks))
        }
    }

    private func places(of letter: String, in text: String) -> Int {
        text.unicodeScalars.count { String($0) == letter }
    }

    @Test func readsEveryBeginning() {
        let text = """
            # A *b* `c`\n\n- a [b](https://x.org/c)\n  > ![d](<https://x.org/(e)>)\n\n1. x\\\n   y\n\n```c\nd\n```\n\n\
            | a | b |\n|---|---|\n| c\\|d | ~~e~~ |\n\n***\n
            """
        for count in 0...text.count {
            let blocks = postBlocks(of: String(text.prefix(count)))
            let letters = text.prefix(count).filter(\.isLetter).count
            #expect(content(blocks).filter(\.isLetter).count == letters)
        }
    }

    // The square of the length would take an hour.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "> ", "- ", "1. ", "*a ", "**a* ", "a**b", "*a", "~~a", "[", "![", "[](", "[a](https://a",
            "![a](https://x)",
            "[![a](https://x)", "`", "`` ` ", "a\n", "- a\n", "- a\n\n", "  - a\n", "> a\n\n", "|a", "|a|\n|-|\n",
            "```\n", "***a b*** ", "]", "\\", "~~`[1] | ",
        ])
    func theTimeGrowsWithTheLength(part: String) {
        let text = String(repeating: part, count: 100_000 / part.utf8.count)
        #expect(!postBlocks(of: text).isEmpty)
    }

    @Test func ofManyNestedQuotationsTheInnerOnesAreText() {
        var blocks = postBlocks(of: String(repeating: "> ", count: 1_000) + "a")
        for _ in 0..<16 {
            guard case .quotation(let inner)? = blocks.first else { break }
            blocks = inner
        }
        #expect(html(blocks) == "<p>" + String(repeating: "> ", count: 984) + "a")
    }
}
