import Testing

@testable import NorrisFetch

struct PlainTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("<b>bold</b> and <i class='x>y'>italic</i>", "bold and italic"),
        ("one<br>two<br/>three", "one\ntwo\nthree"), ("one<br><br><br>two", "one\n\ntwo"),
        ("<p>one</p>\n<p>two</p>", "one\n\ntwo"), ("<div>one</div><div>two</div>", "one\ntwo"),
        ("<ul><li>one<li>two</ul>three", "- one\n- two\n\nthree"), ("a  b\n\t c", "a b c"), (" <p> a </p> ", "a"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a | b\nc"), ("a<!-- <b>x</b> -->b", "ab"),
        ("a<script>if (a<b) {}</script>b", "ab"), ("a<STYLE>x</Style >b", "ab"), ("a<script>if (a<b) {}</b>", "a"),
        ("a<style>b", "a"), ("a<title>b", "ab"), ("<a href=\"https://x/?a=1&amp;b=2\">link</a>", "link[1]"),
        ("caf<b>é</b> ☃", "café ☃"), ("Tom &amp; Jerry", "Tom & Jerry"), ("&lt;b&gt;", "<b>"), ("&amp;lt;", "&lt;"),
        ("&quot;&apos;&#39;", "\"''"), ("&eacute;&Eacute;&ouml;&szlig;&yuml;&nbsp;x", "éÉöß\u{FF} x"),
        ("&alpha;&omega;&Sigma;", "αωΣ"), ("&#x2603;&#9731;&#X2603;", "☃☃☃"), ("&#146;&#x80;", "’€"),
        ("&hellip;&mdash;&rsquo;", "…—’"), ("a&#10;b", "a b"),
    ]) func htmlBecomesText(html: String, text: String) { #expect(MarkupText(html: html, at: nil).text == text) }

    @Test(
        "Text that resembles HTML stays",
        arguments: [
            "x < y and y > x", "I <3 you", "a<b", "1<2>1", "<unknown>", "<>", "</>", "< b>", "AT&T", "a&b;", "&;",
            "&#;", "&#x;", "&#xg;", "&#+5;", "&#-5;", "&unknown;", "&copy", "a=1&copy=2",
            "<!-- no end", "<b", "<b x", "<b <", "&amp", "&verylongnamethatisnone;", "<ab>", "<b1>",
        ]
    )
    func notHTML(text: String) {
        #expect(plainText(guessing: text) == text)
        #expect(!holdsMarkup(text))
    }

    @Test(
        "A tag without its counterpart is text",
        arguments: [
            ("The <details> element", "The <details> element"), ("Why <script> & <b>x</b>", "Why <script> & x"),
            ("<style> and <title>", "<style> and <title>"), ("<b>a</b> b", "a b"), ("a<br>b", "a\nb"),
            ("Use <b> and <i>", "Use <b> and <i>"), ("The <div/>", "The <div/>"), ("The <img> tag", "The <img> tag"),
            ("a </body> b", "a </body> b"), ("<i>The <p> tag</i>", "The <p> tag"), ("<s>1</s> 2", "~~1~~ 2"),
        ]
    )
    func titles(html: String, text: String) { #expect(plainText(guessing: html) == text) }

    @Test(
        "Sections that were escaped once more are opened",
        arguments: [
            ("<![CDATA[a]]>", "a"), (" <![CDATA[a", " a"), ("<![CDATA[<b>a</b> &amp; b]]>", "a & b"),
            ("<![CDATA[<![CDATA[a]]>]]>", "a"), ("a <![CDATA[b]]> c", "a b c"),
            ("Use <![CDATA[ here", "Use <![CDATA[ here"),
            ("a ]]> b", "a ]]> b"),
        ]
    )
    func sections(text: String, expected: String) { #expect(plainText(guessing: text) == expected) }

    @Test(arguments: ["<b>x</b>", "a<br>b", "&amp;", "&#39;", "<!-- x -->", "x</p>"])
    func markupIsSeen(text: String) { #expect(holdsMarkup(text)) }

    @Test(arguments: ["&#0;", "&#xD800;", "&#x110000;", "&#xFFFFFFFF;", "&#99999999999;"])
    func numbersOfNoCharacterAreMarked(entity: String) { #expect(plainText(guessing: entity) == "\u{FFFD}") }
}
