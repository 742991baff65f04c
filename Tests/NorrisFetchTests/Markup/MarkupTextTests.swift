import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisFetch

struct MarkupTextTests {
    private func convert(_ html: String, at base: String = "https://blog.example/2026/post.html") -> MarkupText {
        MarkupText(html: html, at: HTTPURL(base))
    }

    private func text(_ html: String) -> String { convert(html).text }

    @Test func aWholePostKeepsItsStructure() {
        let post = convert(
            """
            <h2>A backup in one line</h2>
            <p>Last week a disk of mine died. <a href="https://restic.net/">restic</a> had a copy, and the
            <a href="/2025/setup.html">setup</a> took ten minutes:</p>
            <ol>
              <li>Install it.
                <ul><li>Debian: <code>apt install restic</code></li><li>Others: see the
                  <a href="https://restic.net/">manual</a>.</li></ul>
              </li>
              <li><p>Write a timer.</p><p>Once a day is enough.</p></li>
            </ol>
            <pre><code class="language-sh">for host in a b; do
            	restic -r "/srv/$host" backup /home

                echo &lt;done&gt;
            done
            </code></pre>
            <blockquote><p>Nobody wants backup.<br>Everybody wants restore.</p>
              <blockquote><p>True.</p></blockquote></blockquote>
            <p><a href="/big.png"><img src="/small.png" alt="A disk"></a></p>
            <hr>
            <table><tr><th>disk</th><th>age</th></tr><tr><td>a</td><td><p>9 years</p></td></tr></table>
            """)
        #expect(
            post.text == """
                A backup in one line

                Last week a disk of mine died. restic[1] had a copy, and the setup[2] took ten minutes:

                1. Install it.
                  - Debian: apt install restic
                  - Others: see the manual[1].
                2. Write a timer.
                  Once a day is enough.

                    for host in a b; do
                    \trestic -r "/srv/$host" backup /home
                \u{20}\u{20}\u{20}\u{20}
                        echo <done>
                    done

                > Nobody wants backup.
                > Everybody wants restore.
                >
                > > True.

                ---

                disk | age
                a | 9 years
                """)
        #expect(
            post.links == [
                "https://restic.net/", "https://blog.example/2025/setup.html", "https://blog.example/big.png",
            ])
    }

    @Test(
        arguments: [
            // Lists
            ("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"), ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
            ("<ol><li value=4>a<li>b</ol>", "4. a\n5. b"), ("<ol start=x><li>a</ol>", "1. a"),
            ("<ol start=99999999999999999999><li>a</ol>", "1. a"), ("<ul><li></li><li>b</li></ul>", "- b"),
            ("<ul><li>a<br><br>b</li></ul>", "- a\n  b"), ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
            ("<ol reversed start=9><li>a<li value=3>b<li>c</ol>", "9. a\n3. b\n2. c"),
            ("<dl><dt>a<dd><p>b<p>c<dd>d<dt>e</dl>f", "a\n  b\n  c\n  d\ne\n\nf"), ("<dl><dt>a<dd>b</dl>", "a\n  b"),
            ("<ul><li><ul><li>a</ul>b</ul>", "  - a\n- b"),
            ("<ul><li>a<ol><li>b</ol>c</ul>", "- a\n  1. b\n  c"), ("<li>a</li>", "a"), ("</ul>a</ol>", "a"),
            ("<ul><li>a<pre>b\n c</pre>d</ul>", "- a\n\n      b\n       c\n\n  d"),
            ("<ul><li><blockquote>a<br>b</blockquote></ul>", "- > a\n  > b"),
            // Code and quotations
            ("<pre>a\r\n\r\n  b  \n</pre>c", "    a\n    \n      b\n\nc"), ("<pre>\n\ta<br>b</pre>", "    \ta\n    b"),
            ("<pre><div>a</div><div>b</div></pre>", "    a\n    b"), ("a<pre>b", "a\n\n    b"),
            ("<blockquote>a<pre>b</blockquote>c", "> a\n>\n>     b\n\nc"), ("<pre></pre>a", "a"),
            ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b"),
            ("<blockquote>a<p>b</blockquote>", "> a\n>\n> b"), ("</blockquote>a", "a"),
            ("<blockquote>a<ul><li>b</ul></blockquote>", "> a\n>\n> - b"), ("<p>&nbsp;&nbsp;&nbsp;&nbsp;a</p>", "a"),
            ("a&#10;b&#x2028;c", "a b c"), ("<hr>a<hr>", "a"), ("a<hr><hr>b", "a\n\n---\n\nb"),
            // Tables
            ("<table><tr><td>a</td><td></td><td>b</td></tr><tr><td>c</td></tr></table>d", "a |  | b\nc\n\nd"),
            ("<td>a</td><td>b</td>", "a b"), ("<table><tr><td></td><td>1</td><td></td></table>", " | 1 |"),
            ("<table><tr><td>a<table><tr><td>b<td>c</table></table>", "a\n\nb | c"),
            ("<table><tr><td>a<td><ul><li>b</ul></table>", "a | b"),
            ("<table><tr><td><div>a</div></td><td><div>b</div></td></table>", "a | b"),
            ("<table><tr><td><pre>1</pre></td><td><pre>a\nb</pre></td></tr></table>", "    1\n\n    a\n    b"),
            ("<table><tr><td colspan=2>a<td>b<tr><td>1<td>2<td>3</table>", "a |  | b\n1 | 2 | 3"),
            ("<table><tr><td colspan=1000000>a<td>b</table>", "a |  | b"), ("<td colspan=9>a</td>", "a"),
            ("<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e</table>", "a | b\n | c\nd | e"),
            ("<table><tr><td>a<td rowspan=9>b<tr><td>c</table>", "a | b\nc |"),
            ("<table><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</table>", "a | b\n | c\n | d"),
            ("<table><thead><tr><th rowspan=2>a<th>b<tbody><tr><td>c<td>d</table>", "a | b\nc | d"),
            ("<table><tr><td>a<br>b<td>c</table>", "a; b | c"), ("<table><tr><td><p>a.<p>b<td>c</table>", "a. b | c"),
            ("<table><tr><td>a<td><ul><li>b<li>c</ul><td>d</table>", "a | b; c | d"),
            ("<table><tr><td>a<td><pre>b\n c</pre><td>d</table>", "a | b; c | d"),
            ("<table><tr><td>a<td><table><tr><td>1<td>2<tr><td>3<td>4</table><td>b</table>", "a | 1, 2; 3, 4 | b"),
            ("<table><tr><td><p>a<p>b<ul><li>c</ul></table>", "a\n\nb\n\n- c"),
            // Marks that keep the meaning
            ("2<sup>80</sup>, 10<sup>-3</sup>, H<sub>2</sub>O", "2^80, 10^-3, H_2O"),
            ("x<sup>n + 1</sup>", "x^(n + 1)"),
            ("x<sup>2</sup>3", "x^(2)3"), ("x<sup></sup>y", "xy"), ("a<sup><a href='#fn'>1</a></sup>.", "a^1."),
            ("<q>a</q> <q></q>b", "\"a\" b"),
            ("<del>10</del> <s> 11 </s><strike>12</strike> 13", "~~10~~ ~~11~~ ~~12~~ 13"),
            ("<pre>a<sup>2</sup> <del>b</del></pre>", "    a2 b"), ("<del>a<q>b</q></del>", "~~a\"b\"~~"),
            ("<ul><li><input type=checkbox checked> a<li><input type=CHECKBOX>b<li>c</ul>", "- [x] a\n- [ ] b\n- c"),
            ("<input type=text>a", "a"), ("a<wbr>b", "ab"), ("<ruby>x<rt>y</ruby>", "x(y)"),
            ("<ruby>x<rp>(<rt>y<rp>)</rp>z<rp>[</rp><rt>w</rt><rp>]</ruby>v", "x(y)z(w)v"), ("<ruby>x<rt></ruby>", "x"),
            ("\u{91}a\u{92} <b>\u{93}b\u{94}</b>\u{85}", "‘a’ “b”…"), ("a\u{A0}b", "a b"),
            // Formulas
            ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", "x^2"),
            ("<math><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup></math>", "x^(n+1)"),
            ("<math><mfrac><mrow><mi>a</mi><mo>-</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>", "(a-b)/2"),
            ("<math><msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt></math>", "√(a+b)"),
            ("<math><msubsup><mo>∑</mo><mn>1</mn><mi>n</mi></msubsup><mi>k</mi></math>", "∑_1^nk"),
            ("<math><semantics><mi>x</mi><annotation>\\x</annotation></semantics></math>", "x"),
            (
                "<span class=katex><span class=katex-mathml><math><mi>x</mi></math></span>"
                    + "<span class=katex-html>x</span></span>", "x"
            ), ("<span class=katex-html>x</span>", "x"),
            (
                "<span class='mwe-math-element a'><math><mi>x</mi></math>"
                    + "<img class='mwe-math-fallback-image-inline' alt='{x}' src=/x.svg></span>", "x"
            ),
        ] as [(String, String)])
    func keepsWhatHTMLMeans(html: String, text: String) { #expect(self.text(html) == text) }

    @Test(
        "Links",
        arguments: [
            ("<a href='/x?a=1&amp;b=2'>x</a>", "x[1]", ["https://blog.example/x?a=1&b=2"]),
            ("<a href=y.html>y </a>z", "y[1] z", ["https://blog.example/2026/y.html"]),
            ("<a href=//h.example/ä>x</a>", "x[1]", ["https://h.example/%C3%A4"]),
            ("<a href=/x>a</a> <a href=/x>b</a>", "a[1] b[1]", ["https://blog.example/x"]),
            ("<a href=/x>a<a href=/y>b", "a[1]b[2]", ["https://blog.example/x", "https://blog.example/y"]),
            ("<a href=/x><p>a</p></a>b", "a[1]\n\nb", ["https://blog.example/x"]),
            ("<a href=/x><img src=y></a>a", "a", ["https://blog.example/x"]), ("<a href=/x></a>a", "a", []),
            ("<a name=x>a</a>", "a", []),
            ("<a href=/x><img src=a alt=b></a> c", "b[1] c", ["https://blog.example/x"]),
            ("<a href=/x><img src=a> b</a>", "b[1]", ["https://blog.example/x"]),
            ("<a href=/x><img src=a width=1></a>b", "b", []),
            (
                "<a href=/x><img src=a alt=p></a><p><a href=/y>b</a> <a href=/x><img src=c></a></p>", "b[1]",
                ["https://blog.example/y", "https://blog.example/x"]
            ), ("<a href='mailto:a@b.example'>a</a>", "a", []), ("<a href='javascript:alert(1)'>a</a>", "a", []),
            ("<a href='#fn1'>1</a>", "1", []), ("<a href=''>a</a>", "a", []),
            (
                "<pre><a href=/x>a</a></pre>",
                "    a[1]", ["https://blog.example/x"]
            ),
            (
                "<a class='u-url mention' href=/@ann>@ann</a> <a class='mention hashtag' rel=tag href=/t/x>#x</a>",
                "@ann #x", []
            ),
        ])
    func links(html: String, text: String, links: [String]) {
        let post = convert(html)
        #expect(post.text == text)
        #expect(post.links == links)
    }

    @Test(
        "Pictures",
        arguments: [
            ("a <img src=e.png alt=🍞 class=wp-smiley> b", "a 🍞 b", 0),
            ("<img src=e.png alt=x class='a latex'>.", "x.", 0),
            ("a <img src=w.png alt=w width=32 height=32>", "a w", 0),
            ("a <img src=w.png alt=w width=33 height=9>", "a w", 1),
            ("<p><img src=a.png alt=cat></p><p>b</p>", "b", 1), ("<p><img src=a.png alt=cat> b</p>", "cat b", 1),
            ("<table><tr><td>a<td><img src=a.png alt=yes></table>", "a | yes", 1),
            ("a<img src=p.gif width=1 height=1 alt=p>", "a", 0),
            ("<img data-src=a.png src='data:image/gif;base64,R0'>", "", 1),
            ("<pre>a <img src=a.png alt=b></pre>", "    a", 1), ("<p>a</p><img alt=b><p>c</p>", "a\n\nb\n\nc", 0),
            ("a <img data-src=b.png alt=b><noscript><img src=b.png alt=b></noscript> c", "a b c", 1),
        ])
    func pictures(html: String, text: String, count: Int) {
        let post = convert(html)
        #expect(post.text == text && post.images.count == count)
    }

    @Test(
        "The address of a picture",
        arguments: [
            ("<img srcset='s.png 480w, l.png 960w, x.png 2400w'>", ["l.png"]),
            ("<img srcset='a,b/s.png 480w,l.png 960w'>", ["l.png"]), ("<img srcset='a.png 1x, b.png 2x'>", ["b.png"]),
            ("<img srcset='b.png 3000w, a.png 1500w 20h'>", ["a.png"]), ("<img srcset='a.png'>", ["a.png"]),
            ("<img src=a.png srcset='b.png 960w'>", ["a.png"]),
            ("<img src='data:image/gif;base64,R0' data-lazy-src=a.png>", ["a.png"]),
            ("<img src=blank.gif data-original=a.png>", ["a.png"]), ("<img data-srcset='a.png 9w'>", ["a.png"]),
            ("<img src=blank.gif data-lazy-srcset='a.png 9w'>", ["a.png"]),
            ("<img data-echo=a.png data-id=b>", ["a.png"]),
            ("<picture><source srcset=a.webp><img src='data:x'></picture>", ["a.webp"]),
            ("<picture><source srcset=a.webp><img src=a.png></picture>", ["a.png"]),
            ("<picture><source data-srcset='a.webp 1x'></picture>", ["a.webp"]),
            ("<img data-src=a.png><noscript><img src=a-1.png></noscript><img src=b.png>", ["a.png", "b.png"]),
            ("<noscript><img src=a.png></noscript><img class=lazy data-src=a-1.png>", ["a.png"]),
            ("<img src='data:x'><noscript><img src=a.png></noscript>", ["a.png"]),
            ("<amp-img src=a.png></amp-img><img srcset=', 1w'><img srcset=' '>", ["a.png"]),
        ])
    func sources(html: String, names: [String]) {
        #expect(convert(html).images.map(\.url) == names.map { "https://blog.example/2026/" + $0 })
    }

    @Test(
        "What browsers would lose in a tag stays",
        arguments: [
            // A quotation mark is missing
            ("1 <a href='/x>2</a> 3 <a href='/y'>4</a>", "1 2[1] 3 4[2]"), ("1 <a href='/x>2</a> 3", "1 2[1] 3"),
            ("1 <a href='/x>2</a> it's", "1 2[1] it's"), ("<a href='>1</a>", "1"),
            ("1 <a href='/x\">2</a> it's", "1 2[1] it's"),
            ("<a href=\"/x>2</a> 12\" tall", "2[1] 12\" tall"), ("<img src='a.png><p>1</p><img src='b.png'>", "1"),
            ("<p class='x>1 <b>2</b> 3</p>", "1 2 3"),
            // A `>` in a value
            ("<i title='a > b'>1</i>", "1"), ("<i title='<b>x</b>'>1</i>", "1"),
            ("<i title='a > <b>b</b>' id=x>1</i>", "1"),
            ("<img src=a.png alt='a > b'>c", "a > bc"),
            // A tag that closes itself
            ("<script src=x />1", "1"), ("<script src='x'/></script>1", "1"), ("1<del/>2", "12"), ("1<div/>2", "1\n2"),
            ("1<p/>2", "1\n\n2"), ("<style/>1<svg/>2<title/>3", "123"), ("1 <del>2<del/> 3", "1 ~~2~~ 3"),
            ("<iframe src='https://v.example/'/>1", "[embedded: v.example][1]\n\n1"), ("<a name='x'/>1<sup/>2", "12"),
            ("<a href='/x'/>1</a> 2", "1[1] 2"), ("<a href=/x/>1</a> 2", "1[1] 2"),
            ("<ul><li/>1<li/>2</ul>", "- 1\n- 2"),
            ("<ul><li/><li>2</ul>", "- 2"), ("<table><tr><td>1<td/><td>2</table>", "1 |  | 2"),
            ("a <My/> b", "a <My/> b"),
            ("1</br>2", "1\n2"),
        ])
    func nothingIsLost(html: String, text: String) { #expect(self.text(html) == text) }

    @Test func playersAreLinesOrAttachments() {
        let post = convert(
            """
            <p>a <a href="/x">x</a></p><iframe src="//video.example/e?a=1&amp;b=2">no frames</iframe>b
            <audio controls><source src="a.mp3" type="audio/mpeg">no sound</audio><video src="v.mp4" \
            poster="p.jpg"></video>
            <object data="https://maps.example/"><p>no plugin</p></object><embed src="f.mp4" \
            type="video/mp4"><iframe></iframe>
            """)
        #expect(post.text == "a x[1]\n\n[embedded: video.example][2]\n\nb\n\n[embedded: maps.example][3]")
        #expect(post.links == ["https://blog.example/x", "https://video.example/e?a=1&b=2", "https://maps.example/"])
        let folder = "https://blog.example/2026/"
        #expect(
            post.attachments == [
                Post.Attachment(url: folder + "a.mp3", type: "audio/mpeg"), Post.Attachment(url: folder + "v.mp4"),
                Post.Attachment(url: folder + "f.mp4", type: "video/mp4"),
            ])
        #expect(post.images.map(\.url) == [folder + "p.jpg"])
        #expect(text("a<iframe src='https://v.example/'>b<object>c<video>d") == "a\n\n[embedded: v.example][1]\n\nbcd")
    }

    // MARK: Hostile HTML

    private static let hostile: [String: String] = [
        "nested lists": String(repeating: "<ul><li>a", count: 10_000),
        "nested lists with ends": String(repeating: "<ol><li>a", count: 10_000)
            + String(repeating: "</ol>", count: 10_000),
        "nested quotations": String(repeating: "<blockquote>a", count: 10_000),
        "lines of code in quotations": String(repeating: "<blockquote>", count: 20) + "<pre>a"
            + String(repeating: "\n", count: 200_000) + "b",
        "an open pre": "<pre>" + String(repeating: "a <b>b</b>\n", count: 10_000),
        "many links": (1...5_000).map { "<a href='/\($0)'>a</a>\n" }.joined(),
        "long addresses": String(repeating: "<a href='/\(String(repeating: "x", count: 1_900))'>a</a>", count: 100),
        "a long link": "a<a href='/\(String(repeating: "x", count: 1 << 20))'>b</a>c",
        "a long open link": "a<a href='/\(String(repeating: "x", count: 1 << 20))",
        "cells": "<table><tr>" + String(repeating: "<td>a", count: 50_000),
        "spans": "<table>"
            + String(
                repeating: "<tr>" + String(repeating: "<td colspan=999999 rowspan=0>", count: 50) + "a", count: 500),
        "missing quotation marks": String(repeating: "<a href='/x>a</a>\" <b title=\"y>b</b>' ", count: 2_000),
        "sizes of a picture": "<img srcset='" + String(repeating: "a 1w,", count: 20_000) + "'>",
        "sections": String(repeating: "<![CDATA[a", count: 5_000) + String(repeating: "]]>", count: 5_000),
        "tags that close themselves": String(repeating: "<b/>a<b>", count: 5_000),
        "open tables": String(repeating: "<table><tr><td>a", count: 20_000),
        "scripts": String(repeating: "<script>a<a href='/'>b</a></script>", count: 5_000) + "<script>",
        "controls":
            "<pre>&#27;[31m\u{1B}]8;;https://e.example\u{7}&#x202E;&#0;&#x85;</pre><blockquote>&#13;a</blockquote>",
    ]

    @Test(arguments: hostile.keys.sorted()) func hostileTextIsBounded(name: String) throws {
        let html = try #require(Self.hostile[name])
        let text = MarkupText(html: html, at: HTTPURL("https://blog.example/"))
        // The last line may exceed the limit by one token.
        #expect(text.text.utf8.count <= 520 << 10)
        #expect(text.links.count <= 100)
        #expect(text.links.reduce(0) { $0 + $1.utf8.count } <= 32 << 10)
        let lines: [Substring] = text.text.split { $0.isNewline }
        let prefix = lines.map { $0.prefix { $0 == " " || $0 == ">" }.count }.max() ?? 0
        #expect(prefix <= 20)

        let author = Post.Author(id: "a", name: "a")
        let post = try #require(
            Post(id: "1", source: "", author: author, text: text.text, links: text.links)
                .cleaned(for: "s", mayBeBare: true))
        let stored = post.text ?? ""
        #expect(stored.unicodeScalars.count <= 100_000)
        #expect(
            !stored.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || 0x7F..<0xA0 ~= $0.value })
        // Every link has its number in the text, and every number its link.
        let numbers = Set(stored.matches(of: /\[(\d+)\]/).compactMap { Int($0.1) })
        #expect(numbers == Set(1..<(post.links ?? []).count + 1))
    }

    @Test func aLongTagIsNoText() {
        let address = String(repeating: "x", count: 1 << 20)
        #expect(text("a<a href='/\(address)'>b</a>c") == "abc")
        #expect(text("a<a href='/\(address)") == "a")
    }
}
