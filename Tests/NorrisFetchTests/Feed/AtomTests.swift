import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

struct AtomTests {
    @Test func aFeed() throws {
        let batch = try batch(
            atom(
                """
                <entry>
                  <title type="html">A &amp;lt;b&amp;gt; &lt;i>title&lt;/i></title>
                  <link rel="enclosure" type="image/png" href="/a.png" title="A cat"/>
                  <link rel="alternate" type="application/pdf" href="/1.pdf"/>
                  <link rel="alternate" type="text/html" href="/1"/>
                  <id>tag:blog.example,2026:1</id>
                  <published>2026-11-21T03:25:04+01:00</published><updated>2026-11-22T00:00:00Z</updated>
                  <author><name>Jane</name><uri>https://jane.example/</uri><email>JANE@blog.example</email></author>
                  <author><name>Joe</name></author>
                  <category term="linux" label="Linux"/><category term="x"/><category/>
                  <summary>short</summary>
                  <content type="html">&lt;p>One&lt;/p>&lt;p>Two &lt;img src="b.png">&lt;/p></content>
                </entry>
                <entry><id>2</id><title>Second</title><updated>2026-11-22T00:00:00Z</updated>
                  <summary>Line one
                and &lt;b> two</summary></entry>
                """,
                feed: """
                    <title>Blog</title><subtitle>s</subtitle><id>tag:blog.example,2026:0</id>
                    <link rel="self" href="https://blog.example/feeds/all.xml"/><link href="https://blog.example/"/>
                    <icon>/favicon.ico</icon><author><name>The Team</name></author>
                    """))
        let both = Post.Author(id: Post.id("Jane, Joe", in: "blog"), name: "Jane, Joe")
        let first = Post(
            id: Post.id("tag:blog.example,2026:1", in: "blog"), source: "blog", author: both,
            publishedAt: Timestamp("2026-11-21T02:25:04Z"), title: "A <b> title", text: "One\n\nTwo",
            markdown: "One\n\nTwo ![](https://blog.example/b.png)",
            tags: ["Linux", "x"],
            images: [
                Post.Image(url: "https://blog.example/a.png", alt: "A cat"),
                Post.Image(url: "https://blog.example/b.png"),
            ], url: "https://blog.example/1")
        let team = Post.Author(
            id: Post.id("The Team", in: "blog"), name: "The Team", avatarURL: "https://blog.example/favicon.ico")
        let second = Post(
            id: "blog:2", source: "blog", author: team, publishedAt: Timestamp("2026-11-22T00:00:00Z"), title: "Second",
            text: "Line one\nand <b> two", markdown: "Line one\\\nand \\<b> two")
        #expect(batch.posts == [first, second])
        #expect(batch.head == head { $0.title = "Blog" })
    }

    @Test(
        arguments: [
            ("<content>a &lt;b>c&lt;/b></content>", "a c"), ("<content>a &lt;b> c</content>", "a <b> c"),
            ("<content type='text'>a &amp;amp; b</content>", "a &amp; b"),
            ("<content type='html'>a &lt;b>c&lt;/b> &amp;amp;</content>", "a c &"),
            ("<content type='text/html' mode='escaped'>a &lt;b>c&lt;/b></content>", "a c"),
            ("<content type='html'><![CDATA[a<br>b]]></content>", "a\nb"),
            (
                "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>a &amp; &lt;b></p><p>c<br/>d</p>"
                    + "<script>x()</script></div></content>", "a & <b>\n\nc\nd"
            ),
            (
                "<content type='xhtml'><x:div xmlns:x='http://www.w3.org/1999/xhtml'>a<x:i>b</x:i></x:div></content>",
                "ab"
            ), ("<content type='image/png'>iVBORw0KGgo=</content><summary>s</summary>", "s"),
            ("<content mode='base64'>YSA8Yj5ib2xk</content><summary>s</summary>", "s"),
            ("<content src='https://x.example/v.mp4' type='video/mp4'/><summary>s</summary>", "s"),
            ("<content>&lt;p>a&lt;/p>&lt;p>b&lt;/p></content>", "a\n\nb"), ("<content>1 &lt; 2</content>", "1 < 2"),
            ("<content type='Text/HTML; charset=utf-8'>a &lt;b>c&lt;/b></content>", "a c"),
            ("<content type='text/markdown'># a *b*</content>", "# a *b*"),
            ("<content type='xhtml'><![CDATA[<div><p>a</p><p>b</p></div>]]></content>", "a\n\nb"),
            ("<content type='html'>&lt;![CDATA[a &lt;b>c&lt;/b>]]&gt;</content>", "a c"),
            ("<content>&lt;![CDATA[a]]&gt;</content>", "a"), ("<content type='text'>&lt;![CDATA[a</content>", "a"),
            ("<content type='html'> </content><summary type='html'>&lt;i>s&lt;/i></summary>", "s"),
            ("<summary>a</summary>", "a"), ("", nil),
        ] as [(String, String?)]
    )
    func texts(elements: String, expected: String?) throws {
        #expect(try atomPost("<id>1</id><title>t</title>" + elements)?.text == expected)
    }

    @Test func contentElsewhereIsAFileOrALink() throws {
        let file = try atomPost("<id>1</id><summary>s</summary><content type='video/mp4' src='/v'/>")
        #expect(file?.attachments == [Post.Attachment(url: "https://blog.example/v", type: "video/mp4")])
        let picture = try atomPost("<id>1</id><content type='image/png' src='/v'/>")
        #expect(picture?.images == [Post.Image(url: "https://blog.example/v")])
        let page = try atomPost("<id>1</id><summary>s</summary><content type='text/html' src='/p'/>")
        #expect(page?.links == ["https://blog.example/p"] && page?.attachments == [])
        #expect(page?.url == "https://blog.example/p")
    }

    @Test func aTitleWithoutATypeIsText() throws {
        #expect(try atomPost("<id>1</id><title>Use &lt;b>x&lt;/b></title>")?.title == "Use <b>x</b>")
        #expect(try atomPost("<id>1</id><title type='text/html; x'>Fish &amp;amp; x</title>")?.title == "Fish & x")
    }

    @Test func xhtmlHasPicturesToo() throws {
        let post = try atomPost(
            """
            <id>1</id><content type="xhtml" xml:base="https://cdn.example/x/"><div xmlns="http://www.w3.org/1999/xhtml">
            <img src="a.png?x=1&amp;y=2" alt="&quot;A&quot; &lt;" width="200" height="10"/></div></content>
            """)
        #expect(
            post?.images == [
                Post.Image(url: "https://cdn.example/x/a.png?x=1&y=2", width: 200, height: 10, alt: "\"A\" <")
            ])
    }

    @Test(arguments: [
        ("<author><email>a@x.example</email></author>", "a@x.example", "a@x.example"),
        ("<author><uri>/jane</uri></author>", "https://blog.example/jane", "https://blog.example/jane"),
        ("<author><name>Jane</name><uri>https://j.example/</uri></author>", "Jane", "https://j.example/\nJane"),
        ("<author/><source><author><name>Other</name></author></source>", "Blog", "Blog"),
        ("<source><author><name>Other</name></author></source>", "Other", "Other"), ("", "Blog", "Blog"),
    ]) func authors(elements: String, name: String, id: String) throws {
        let author = try #require(try atomPost("<id>1</id><title>t</title>" + elements)?.author)
        #expect(author.name == name)
        #expect(author.id == Post.id(id, in: "blog"))
    }

    @Test(arguments: [
        "http://purl.org/atom/ns#", "http://example.com/newformat#", "http://example.com/necho",
        "http://purl.org/echo/", "http://purl.org/pie/",
    ]) func olderAtomIsRead(uri: String) throws {
        let post = try batch(
            """
            <feed version="0.3" xmlns="\(uri)"><title>Old</title>
            <entry><title>x</title><link rel="alternate" type="text/html" href="https://old.example/1"/>
            <issued>2004-01-01T00:00:00Z</issued><modified>2005-01-01T00:00:00Z</modified></entry></feed>
            """
        ).posts.first
        #expect(post?.url == "https://old.example/1")
        #expect(post?.publishedAt == Timestamp("2004-01-01T00:00:00Z"))
    }
}
