import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

struct RSSTests {
    /// A feed in the form of WordPress.
    private let blog = rss(
        """
        <item>
          <title>Sch&#246;ne neue Welt &amp;amp; mehr</title>
          <link>https://blog.example/2026/11/welt</link>
          <comments>https://blog.example/2026/11/welt#comments</comments>
          <dc:creator><![CDATA[ Jane Doe ]]></dc:creator>
          <pubDate>Sat, 21 Nov 2026 03:25:04 +0000</pubDate>
          <category><![CDATA[Linux]]></category>
          <category>#systemd</category><category>Linux</category>
          <guid isPermaLink="false">https://blog.example/?p=42</guid>
          <description><![CDATA[<p>The short one&hellip;</p>]]></description>
          <content:encoded><![CDATA[<p>The <b>long</b> one.</p><p>More.</p>
            <img src="/img/a.png" width="640" height="480" alt="A cat &amp; a dog">]]></content:encoded>
          <slash:comments>7</slash:comments>
        </item>
        <item>
          <title>Second</title><link>https://blog.example/second</link>
          <guid>https://blog.example/second</guid>
          <description>Plain text,
        two lines &lt; three</description>
          <author>joe@blog.example (Joe)</author>
        </item>
        """,
        channel: """
            <title>Blog</title><link>https://blog.example/</link>
            <atom:link href="https://blog.example/feeds/all.xml" rel="self" type="application/rss+xml"/>
            <image><url>https://blog.example/logo.png</url><title>x</title><link>https://blog.example</link></image>
            """)

    @Test func aBlog() throws {
        let jane = Post.Author(id: Post.id("Jane Doe", in: "blog"), name: "Jane Doe")
        let joe = Post.Author(id: Post.id("joe@blog.example\nJoe", in: "blog"), name: "Joe", email: "joe@blog.example")
        let image = Post.Image(url: "https://blog.example/img/a.png", width: 640, height: 480, alt: "A cat & a dog")
        let first = Post(
            id: Post.id("https://blog.example/?p=42", in: "blog"), source: "blog", author: jane,
            publishedAt: Timestamp("2026-11-21T03:25:04Z"), title: "Schöne neue Welt & mehr",
            text: "The long one.\n\nMore.",
            markdown: "The **long** one.\n\nMore.\n\n![A cat & a dog](https://blog.example/img/a.png)",
            tags: ["Linux", "systemd"], images: [image], stats: Post.Stats(comments: 7),
            url: "https://blog.example/2026/11/welt")
        let second = Post(
            id: Post.id("https://blog.example/second", in: "blog"), source: "blog", author: joe, title: "Second",
            text: "Plain text,\ntwo lines < three", markdown: "Plain text,\\\ntwo lines < three",
            url: "https://blog.example/second")
        let batch = try batch(blog)
        #expect(batch.posts == [first, second])
        #expect(batch.head == head { $0.title = "Blog" })
    }

    @Test func theChannelWritesWhatNobodyElseWrites() throws {
        // The title and picture of the channel may follow the items.
        let document = rss(
            "<item><title>x</title></item><title>The &lt;i>Blog&lt;/i></title><image><url>/logo.png</url></image>",
            channel: "")
        let author = try #require(try batch(document).posts.first?.author)
        #expect(author.name == "The Blog")
        #expect(author.avatarURL == "https://blog.example/logo.png")
        #expect(author.id == Post.id("The Blog", in: "blog"))
        #expect(try batch(document).head.title == "The Blog")
        let long = String(repeating: "x", count: 300)
        #expect(try batch(rss("<title>\(long)</title>", channel: "")).head.title?.count == Post.Limit.name)
        #expect(try rssPost("<title>x</title>", channel: "")?.author.name == "blog")
        let itunes = "<title>x</title><itunes:image href='https://p.example/cover.jpg'/>"
        #expect(try rssPost("<title>x</title>", channel: itunes)?.author.avatarURL == "https://p.example/cover.jpg")
    }

    @Test(arguments: [
        ("<managingEditor>ed@x.example (Ada)</managingEditor>", "Ada"), ("<itunes:author>Ben</itunes:author>", "Ben"),
        ("<managingEditor>ed@x.example</managingEditor>", "ed@x.example"),
        ("<dc:creator>Cy</dc:creator><itunes:author>Ben</itunes:author><author>d@x.example (Dan)</author>", "Dan"),
        ("<title>Blog</title><webMaster>w@x.example</webMaster>", "Blog"),
    ]) func authorsOfTheFeed(elements: String, name: String) throws {
        #expect(try rssPost("<title>x</title>", channel: elements)?.author.name == name)
    }

    @Test func personsWhoShareAnAddressAreDifferent() throws {
        let authors = ["Ada", "Ben", "Ada"].map { "<item><title>x</title><author>d@x.example (\($0))</author></item>" }
        let posts = try batch(rss(authors.enumerated().map { $1.replacing("x<", with: "\($0)<") }.joined())).posts
        #expect(posts.map(\.author.name) == ["Ada", "Ben", "Ada"])
        #expect(posts[0].author.id == posts[2].author.id && posts[0].author.id != posts[1].author.id)
    }

    @Test(
        arguments: [
            ("<author>jane@x.example (Jane Doe)</author>", "Jane Doe", "jane@x.example"),
            ("<author>Jane Doe &lt;JANE@x.example&gt;</author>", "Jane Doe", "jane@x.example"),
            ("<author>jane@x.example</author>", "jane@x.example", "jane@x.example"),
            ("<author>Jane (the first)</author>", "Jane (the first)", nil),
            ("<author>noreply@blogger.example (Jane)</author>", "Jane", nil),
            ("<author>jane@x.example</author><dc:creator>Jane</dc:creator>", "Jane", "jane@x.example"),
            ("<author> </author><itunes:author>The Show</itunes:author>", "The Show", nil),
            ("<atom:author><atom:name>Jane</atom:name></atom:author>", "Jane", nil),
            ("<author>()</author>", "()", nil), ("<author>) a@b (</author>", "a@b", "a@b"),
            ("<author>Jo Doe <jo@site.example></author>", "Jo Doe", "jo@site.example"),
            ("<dc:creator>A B</dc:creator><dc:creator>C</dc:creator>", "A B, C", nil),
            (
                "<dc:creator>&lt;a href='https://x.example/'&gt;A&lt;/a&gt;, Fran&amp;ccedil;ois</dc:creator>",
                "A, François", nil
            ),
        ] as [(String, String, String?)]
    )
    func authors(elements: String, name: String, email: String?) throws {
        let author = try #require(try rssPost("<title>x</title>" + elements)?.author)
        #expect(author.name == name)
        #expect(author.email == email)
        let id = email.map { $0 == name ? $0 : "\($0)\n\(name)" }
        #expect(author.id == Post.id(id ?? name, in: "blog"))
    }

    @Test(
        "The item itself provides the id",
        arguments: [
            ("<guid>a-1</guid><link>https://x.example/</link>", "a-1", "https://x.example/"),
            ("<guid>https://x.example/p?a=1</guid>", "https://x.example/p?a=1", "https://x.example/p?a=1"),
            ("<guid isPermaLink='false'>https://x.example/p</guid>", "https://x.example/p", nil),
            ("<guid> </guid><link> /p </link>", "https://blog.example/p", "https://blog.example/p"),
            ("<atom:link href='p'/>", "https://blog.example/feeds/p", "https://blog.example/feeds/p"),
            ("<guid isPermaLink='true'>/b/p</guid>", "/b/p", "https://blog.example/b/p"),
            ("<guid>b/p</guid>", "b/p", nil),
            ("<link>blog.example/p</link>", "https://blog.example/p", "https://blog.example/p"),
            ("<link>www.x.example</link>", "https://www.x.example", "https://www.x.example"),
            ("<link>x.example/p?a</link>", "https://x.example/p?a", "https://x.example/p?a"),
            ("<link>p.html</link>", "https://blog.example/feeds/p.html", "https://blog.example/feeds/p.html"),
            ("<link>i.php/1</link>", "https://blog.example/feeds/i.php/1", "https://blog.example/feeds/i.php/1"),
            ("<guid>x</guid><link>javascript:alert(1)</link>", "x", nil), ("", "t\n", nil),
        ] as [(String, String, String?)]
    )
    func ids(elements: String, id: String, url: String?) throws {
        let post = try #require(try rssPost("<title>t</title>" + elements))
        #expect(post.id == Post.id(id, in: "blog"))
        #expect(post.url == url)
    }

    @Test func itemsWithTheSameLinkAreTheirOwn() throws {
        let link = "<link>https://x.example/</link>"
        let date = "<pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate>"
        let batch = try batch(
            rss(
                """
                <item>\(link)<title>a</title></item><item>\(link)<title>b</title></item>
                <item>\(link)<title>a</title>\(date)</item><item>\(link)<title>a</title></item>
                <item>\(link)<description>d</description></item><item>\(link)<description>e</description></item>
                <item><guid>https://y.example/</guid><link>https://y.example/</link></item>
                <item><link>https://y.example/</link><title>y</title></item>
                """))
        #expect(batch.posts.map { $0.title ?? $0.text } == ["a", "b", "a", "d", "e", nil, "y"])
        #expect(batch.posts[1].id == Post.id("https://x.example/\nb\n", in: "blog"))
        #expect(Set(batch.posts.map(\.id)).count == 7)
    }

    @Test func relativeLinksKeepTheirFragmentAndNoQuery() throws {
        let document = rss(
            "<item><link>#v1</link></item><item><link>log#v2</link></item><item><link>?p=1#x</link></item>")
        let posts = try batch(document, url: "https://x.example/feed?key=secret").posts
        #expect(
            posts.map(\.url) == [
                "https://x.example/feed#v1", "https://x.example/log#v2", "https://x.example/feed?p=1#x",
            ])
        #expect(posts.map(\.id) == posts.map { Post.id($0.url ?? "", in: "blog") })
    }

    @Test(arguments: [
        ("<pubDate>nonsense</pubDate><dc:date>2026-11-21</dc:date>", "2026-11-21T00:00:00Z"),
        ("<dc:date>2026-11-21T01:00:00+01:00</dc:date>", "2026-11-21T00:00:00Z"),
        ("<pubDate>Thu, 01 Jan 1970 00:00:00 +0100</pubDate>", nil), ("<pubDate></pubDate>", nil),
        ("<pubDate>Fri, 21 Nov 2999 00:00:00 GMT</pubDate>", "2999-11-21T00:00:00Z"),
    ]) func dates(elements: String, expected: String?) throws {
        #expect(try rssPost("<title>t</title>" + elements)?.publishedAt?.description == expected)
    }

    @Test func badItemsAreSkippedAndCounted() throws {
        let batch = try batch(
            rss(
                """
                <item></item><item><author>x</author><pubDate>Sat, 21 Nov 2026 03:25:04 GMT</pubDate></item>
                <item><guid isPermaLink="false">1</guid></item><item><guid>2</guid><title>good</title></item>
                """))
        #expect(batch.posts.map(\.title) == ["good"])
        #expect(batch.skipped == 3)
        #expect(fault(rss("<item/><item/>")) == "answered with 2 posts, none of them usable")
    }

    @Test func aLongTextOfPicturesAloneLeavesTheShortOne() throws {
        let post = try rssPost(
            "<description>Text</description><content:encoded>&lt;img src='/a.png'></content:encoded>")
        #expect(post?.text == "Text")
        #expect(post?.images.map(\.url) == ["https://blog.example/a.png"])
    }

    @Test func unknownTagsOfHTMLAreNoText() throws {
        let html = "<p>a <my-tag x='1'>b</my-tag> <svg><linearGradient id='g'/></svg>c</p>"
        #expect(try rssPost("<content:encoded><![CDATA[\(html)]]></content:encoded>")?.text == "a b c")
        // A description may be plain text, so an unknown tag is part of the text.
        #expect(try rssPost("<description>use &lt;T&gt; here</description>")?.text == "use <T> here")
    }

    @Test func aPodcastHasItsSound() throws {
        let post = try rssPost(
            """
            <title>Episode</title><itunes:summary>What \
            happens.</itunes:summary><itunes:duration>01:02:03</itunes:duration>
            <enclosure url="/1.mp3" length="60123456" type="audio/mpeg"/><enclosure url="/n.pdf" length="0" type="pdf"/>
            <media:content url="/1.mp3" type="audio/mpeg"/><media:content url="/v.mp4" medium="video" fileSize="9" \
            duration="30"/>
            <link>https://x.example/1</link>
            """, channel: "<link>https://x.example/</link>")
        #expect(
            post?.attachments == [
                Post.Attachment(url: "https://x.example/1.mp3", type: "audio/mpeg", bytes: 60_123_456, seconds: 3723),
                Post.Attachment(url: "https://x.example/n.pdf"),
                Post.Attachment(url: "https://x.example/v.mp4", bytes: 9, seconds: 30),
            ])
        #expect(post?.text == "What happens.")
        #expect(post?.links == post?.attachments.map(\.url))
        #expect(try rssPost("<guid>1</guid><enclosure url='/5.mp3' type='audio/mpeg'/>")?.attachments.count == 1)
    }

    @Test(arguments: [
        ("<itunes:subtitle>b</itunes:subtitle>", "b"), ("<dc:description>b</dc:description>", "b"),
        ("<atom:summary>b</atom:summary>", "b"), ("<atom:content type='html'>&lt;p>b</atom:content>", "b"),
        ("<description> </description><itunes:summary>b</itunes:summary>", "b"),
        ("<description>a</description><content:encoded>b</content:encoded>", "b"),
    ]) func anyTextIsRead(elements: String, text: String) throws {
        #expect(try rssPost("<title>t</title>" + elements)?.text == text)
    }

    @Test func idsDoNotDependOnOtherItems() throws {
        let channel = "<title>Blog</title><link>https://x.example</link>"
        let site = "<item><title>a</title><link>https://x.example/</link></item>"
        let page = "<item><title>b</title><link>https://x.example/b</link></item>"
        let bare = "<item><title>c</title></item>"
        let new = "<item><title>n</title><link>https://x.example/n</link></item>"
        let before = try batch(rss(site + page + bare, channel: channel)).posts.map(\.id)
        #expect(
            try batch(rss(new + bare + site + page, channel: channel)).posts.map(\.id).suffix(3) == [
                before[2], before[0], before[1],
            ])
        #expect(before[1] == Post.id("https://x.example/b", in: "blog"))
        let same = (1...3).map { "<item><guid>0</guid><title>\($0)</title><link>https://x.example/\($0)</link></item>" }
        #expect(
            try batch(rss(same.joined() + same[0])).posts.map(\.id)
                == (1...3).map { Post.id("https://x.example/\($0)", in: "blog") })
    }

    @Test func relativeAddressesReferToTheItemAndTheSite() throws {
        let link = "<link>https://x.example/</link>"
        let item = """
            <link>/2024/post/</link><enclosure url="/s.mp3"/><description>&lt;img src="f.png"&gt; &lt;a \
            href="../o/"&gt;o&lt;/a&gt;</description>
            """
        // The address of the site may follow the items.
        for channel in [rss("<item>\(item)</item>", channel: link), rss("<item>\(item)</item>\(link)", channel: "")] {
            let post = try batch(channel, url: "https://cache.example/f").posts.first
            #expect(post?.url == "https://x.example/2024/post/")
            #expect(post?.images.map(\.url) == ["https://x.example/2024/post/f.png"])
            #expect(post?.links == ["https://x.example/2024/o/", "https://x.example/s.mp3"])
        }
        let based =
            "<item><link>https://x.example/d</link>"
            + "<description xml:base='https://o.example/x/'>&lt;a href=y>y</description></item>"
        #expect(try batch(rss(based)).posts.first?.links == ["https://o.example/x/y"])
    }

    @Test("RSS 1.0 has its items beside the channel") func rdf() throws {
        let batch = try batch(
            """
            <?xml version="1.0"?>
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
              xmlns:dc="http://purl.org/dc/elements/1.1/">
              <channel rdf:about="https://news.example/"><title>News</title><link>https://news.example/</link>
                <items><rdf:Seq><rdf:li rdf:resource="https://news.example/1"/></rdf:Seq></items></channel>
              <image rdf:about="https://news.example/logo.gif"><url>https://news.example/logo.gif</url></image>
              <item rdf:about="https://news.example/1"><title>One</title><description>Text</description>
                <dc:subject>news</dc:subject><dc:date>2026-11-21T03:25:04Z</dc:date></item>
            </rdf:RDF>
            """)
        let post = try #require(batch.posts.first)
        #expect(post.id == Post.id("https://news.example/1", in: "blog"))
        #expect(post.url == "https://news.example/1")
        #expect(post.title == "One" && post.text == "Text" && post.tags == ["news"])
        #expect(post.author.name == "News" && post.author.avatarURL == "https://news.example/logo.gif")
    }

    @Test func addressesAreResolved() throws {
        let document = """
            <rss xml:base="https://cdn.example/a/"><channel xml:base="b/">
            <item xml:base="../c/"><title>x</title><link>post</link>
              <description>&lt;img src="x.png"></description></item>
            <item xml:base="javascript:x"><title>y</title><link>post</link></item>
            </channel></rss>
            """
        let posts = try batch(document).posts
        #expect(posts.map(\.url) == ["https://cdn.example/a/c/post", "https://cdn.example/a/b/post"])
        #expect(posts.first?.images.map(\.url) == ["https://cdn.example/a/c/x.png"])
    }
}
