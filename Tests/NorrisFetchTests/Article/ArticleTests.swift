import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisFetch

struct ArticleTests {
    /// Three paragraphs without names, 600 characters.
    private static let paragraphs = (1...3).map { number in
        "<p>Paragraph \(number) tells of ships, of storms, and of the long way home, "
            + String(repeating: "word after word, ", count: 8) + "until it ends.</p>"
    }.joined()

    /// What a reader of `paragraphs` sees.
    private static let text = "Paragraph 1 tells of ships"

    private func read(_ page: String, at url: String = "https://blog.example/2026/post?key=secret") -> Post? {
        decoded(page, as: .article, at: url).posts.first
    }

    private func text(_ body: String, head: String = "<title>The long way home</title>") throws -> String {
        try #require(read("<!DOCTYPE html><html><head>\(head)</head><body>\(body)</body></html>")?.text)
    }

    private func fault(_ page: String) -> String? { decoded(page, as: .article).head.failure?.message }

    /// Pages of different makes: where the article is in each, and around it what no article has.
    private static let pages: [String] = [
        // A weblog.
        """
        <header class="site-header"><nav><a href="/">Home NOISE</a></nav></header><div id="content">
        <article class="post hentry"><h1>The long way home</h1><p class="byline">By Jo NOISE</p>\(paragraphs)
        <div class="sharedaddy"><a href="#s">Share this NOISE</a></div></article>
        <div id="comments"><p>What a nice text, thank you, I have read it twice, NOISE.</p></div></div>
        <footer>Imprint NOISE</footer>
        """,
        // A newspaper with marks for search engines.
        """
        <div class="topnav"><ul><li><a href="/a">World NOISE</a></li><li><a href="/b">Sport NOISE</a></li></ul></div>
        <main><div itemprop="articleBody">\(paragraphs)<aside>Also read NOISE</aside></div></main>
        <div class="related"><p>Related, more, and still more of the same kind, a long line of text NOISE</p></div>
        """,
        // Tables as layout, and line breaks as paragraphs.
        """
        <table><tr><td><a href="/1">One NOISE</a><br><a href="/2">Two NOISE</a></td>
        <td>\(paragraphs.replacing("<p>", with: "").replacing("</p>", with: "<br><br>"))</td></tr></table>
        """,
        // Elements without meaning, whose names say nothing.
        """
        <div><div><a href="/">Start NOISE</a> <a href="/x">Other NOISE</a></div><div><div>\(paragraphs)</div></div></div>
        """,
        // A role, and a dialog over the page.
        """
        <div role="navigation">Menu NOISE</div><div role="main">\(paragraphs)</div>
        <div role="dialog">We use cookies NOISE</div><div style="display: none">Hidden NOISE</div>
        """,
        // Paragraphs in elements of the author's own, with an advert among them.
        """
        <x-page><x-story>\(paragraphs)<div class="ad-slot advert">Buy now, it is cheap, NOISE</div></x-story></x-page>
        """,
        // Sections of one article beside each other.
        """
        <div class="story"><div class="part">\(paragraphs)</div><div class="part">\(paragraphs)</div>
        <div class="sidebar">Weather NOISE</div></div>
        """,
        // A cookie notice and a newsletter form in the text.
        """
        <article>\(paragraphs)<form><p>Get our letter, see <a href="/privacy">how we keep it</a>. NOISE</p><input name="mail"></form>
        <div id="cookie-notice">We and our partners use cookies, NOISE.</div></article>
        """,
        // No end tags.
        "<div id=menu><ul><li><a href=/>NOISE</a><li><a href=/2>NOISE</a></ul></div><div class=text>\(paragraphs)",
        // A page that says that everything belongs to a sidebar.
        "<div class=\"sidebar\"><nav>NOISE</nav>\(paragraphs)</div>",
    ]

    @Test(arguments: pages) func theArticleOfAPageIsFoundWithoutWhatIsAroundIt(_ page: String) throws {
        let text = try self.text(page)
        #expect(text.contains(Self.text) && text.contains("Paragraph 3") && !text.contains("NOISE"), "\(text)")
    }

    @Test func codeListsTablesQuotationsAndHeadingsStay() throws {
        let page = """
            <article><h1>The long way home</h1>\(Self.paragraphs)<h2>Steps</h2><ol><li>First</li><li>Second</li></ol>
            <pre><code class="language-swift">let a = 1\n    let b = 2</code></pre><blockquote>Said</blockquote>
            <table><thead><tr><th>A</th></tr></thead><tr><td><div><a href="/x">b</a></div></td></tr></table></article>
            """
        let post = try #require(read(page))
        let text = try #require(post.text)
        for part in ["Steps", "1. First\n2. Second", "    let a = 1\n        let b = 2", "> Said", "A\nb[1]"] {
            #expect(text.contains(part), "\(part) is not in \(text)")
        }
        let markdown = try #require(post.markdown)
        #expect(markdown.contains("## Steps") && markdown.contains("```swift\nlet a = 1"))
        #expect(post.links == ["https://blog.example/x"])
    }

    @Test func theTitleOfThePageIsNotRepeated() throws {
        let page = "<article><h1>The Long Way Home!</h1><h2>Another heading</h2>\(Self.paragraphs)</article>"
        let text = try self.text(page, head: "<title>The long way home - Blog</title>")
        #expect(text.hasPrefix("Another heading\n\nParagraph 1"))
    }

    @Test func lazyPicturesAreReadAsInFeeds() throws {
        let pictures = """
            <figure><img src="data:image/gif;base64,R0" data-src="/1.jpg"><figcaption>A harbour</figcaption></figure>
            <p><img src="/s.gif" srcset="/400.jpg 400w, /1200.jpg 1200w, /2400.jpg 2400w" data-src=""></p>
            <picture><source srcset="/p.webp 800w"><img alt="no source"></picture>
            <img class="lazy" src="data:,"><noscript><img src="/n.jpg"></noscript>
            <noscript>Please enable JavaScript.</noscript>
            """
        let post = try #require(
            read("<base href='https://cdn.example/'><article>\(Self.paragraphs)\(pictures)</article>"))
        #expect(
            post.images.map(\.url) == [
                "https://cdn.example/1.jpg", "https://cdn.example/s.gif", "https://cdn.example/p.webp",
                "https://cdn.example/n.jpg",
            ])
        #expect(post.text?.contains("A harbour") == true && post.text?.contains("JavaScript") == false)
    }

    @Test func onlyPlayersOfVideosAndSoundsStay() throws {
        let frames =
            "<iframe src='https://www.youtube.com/embed/1'></iframe><iframe src='https://ads.example/'></iframe>"
        let text = try self.text("<article>\(Self.paragraphs)\(frames)</article>")
        #expect(text.contains("[embedded: www.youtube.com]") && !text.contains("ads.example"))
    }

    @Test func thePostHasNeitherTitleNorAddressNorASecretOfIt() throws {
        let post = try #require(
            read("<title>T</title><article>\(Self.paragraphs)<a href='more?p=2'>more</a></article>"))
        #expect(post.title == nil && post.url == nil && post.publishedAt == nil)
        #expect(post.links == ["https://blog.example/2026/more?p=2"])
    }

    @Test func theEncodingIsThatWhichThePageNames() throws {
        let page = "<html><head><meta charset=\"windows-1251\"></head><article>".utf8
        let word: [UInt8] = [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2]
        let fetched = decoded(page + word + Array("\(Self.paragraphs)</article>".utf8), as: .article)
        #expect(fetched.posts.first?.text?.hasPrefix("Привет") == true)
    }

    @Test func aPageThatIsNoneIsRefusedWithItsReason() {
        let faults = [
            ("<p>Please log in</p><form><input type=password></form>", "it asks for a login"),
            (
                "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
                "it needs JavaScript"
            ),
            (
                "<p>We use cookies. Accept cookies, or set your cookies and privacy.</p>",
                "it asks for consent to cookies"
            ),
            ("<p>Checking that you are human</p>", "it asks whether you are human"),
            ("<p>Gone</p>", "it has only 4 characters of text"),
            ("", "it has only 0 characters of text"),
            (String(repeating: "<b></b>", count: 200_001), "it has more than 200000 elements"),
        ]
        for (page, reason) in faults {
            #expect(fault(page) == "api.example has no article: \(reason); open it in a browser.")
        }
    }

    @Test func aDocumentOfAnotherTypeIsRefused() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setDocument("/", contentType: "application/pdf", body: Array("%PDF-1.7".utf8))
            let message = await fixture.fetch(.article).head.failure?.message
            #expect(message?.contains("it is no web page (application/pdf)") == true)
        }
    }

    @Test func hostilePagesEnd() {
        let many = 100_000
        for unit in [
            "<div>", "<table><tr><td>", "<div class=share>a", "<noscript>a", "<h1>a", "<ul><li>", "<a href=x>,",
        ] {
            _ = decoded(String(repeating: unit, count: many / unit.utf8.count * 5), as: .article)
        }
        #expect(decoded("<article>\(Self.paragraphs)<p>cut <a href=", as: .article).posts.count == 1)
    }
}
