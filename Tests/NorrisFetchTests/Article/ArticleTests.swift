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

    private static let end =
        "<p>The END has more than eighty characters, because it tells all again, and in short.</p>"

    /// The text of `paragraphs` that a reader sees.
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
        <div><div><a href="/">Start NOISE</a> <a href="/x">Other NOISE</a></div>
        <div><div>\(paragraphs)</div></div></div>
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
        // A cookie notice and newsletter forms in the text, one without a link.
        """
        <article>\(paragraphs)<form><p>Get our letter, see <a href="/privacy">how we keep it</a>. NOISE</p>
        <input name="mail"></form><form><p>Every week in your mailbox. NOISE</p><input name="mail"></form>
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

    /// Texts around the element with the most text.
    @Test(arguments: [
        // An element of the same class.
        "<div><div class=a>\(paragraphs)\(paragraphs)</div><div class=a><p>The END, of one line only.</p></div></div>",
        // An element that has no other one than the best.
        "<div><div><div>\(paragraphs)</div></div>\(end)</div>",
        // An element that says so.
        "<div itemprop='articleBody'><h2>The END</h2><div>\(paragraphs)</div></div>",
        // An element with a higher score than the one in it.
        "<div><p>END</p>\(paragraphs)<div><span>x</span><div class=content>\(paragraphs)</div></div></div>",
    ]) func textsBesideAndAroundTheBestElementStay(_ body: String) throws {
        #expect(try text(body).contains("END"))
    }

    @Test func theLinksAboveAnArticleGo() throws {
        let header = "<header><a href=/>The port of the town</a> <a href=/about>About this page and us</a></header>"
        let own = "<header><p>A lead, <a href=/x>linked</a>, that says what follows, in a line of text.</p></header>"
        let text = try text("\(header)<article>\(own)\(Self.paragraphs)</article>")
        #expect(text.hasPrefix("A lead") && !text.contains("About"))
    }

    @Test func aShortTextDoesNotHideTheArticle() throws {
        let box = "<div><p>Our shop is open again, from Monday to Friday, and on Saturday.</p></div>"
        #expect(try text("\(box)<div class=sidebar-right>\(Self.paragraphs)</div>").contains(Self.text))
    }

    @Test func aLoginBesideAnArticleIsNoReason() throws {
        let form = "<form>Log in <input type=password></form><noscript>Use JavaScript.</noscript>"
        #expect(try text("\(form)<article>\(Self.end)\(Self.end)\(Self.end)\(Self.end)</article>").hasPrefix("The END"))
    }

    @Test func shortPostsDoNotTakeTheirComments() throws {
        let post = "<article><p>Ships are late, said the port, and asked for patience.</p></article>"
        let comments = "<div id=comments><p>I have waited for hours, NOISE, and nobody said a word.</p></div>"
        #expect(try text(post + comments) == "Ships are late, said the port, and asked for patience.")
    }

    @Test(arguments: ArticlePage.all) func aWholePageIsReadAsAPersonDoes(_ page: ArticlePage) throws {
        let isCyrillic = page.page.contains("windows-1251")
        let bytes = page.page.unicodeScalars.flatMap { scalar -> [UInt8] in
            guard isCyrillic, scalar.value >= 0x80 else { return Array(String(scalar).utf8) }
            // А to я follow each other in this encoding.
            let quotes: [Unicode.Scalar: UInt8] = ["«": 0xAB, "»": 0xBB]
            return [quotes[scalar] ?? UInt8(scalar.value - 0x410 + 0xC0)]
        }
        let post = try #require(decoded(bytes, as: .article).posts.first)
        #expect(post.text == page.text)
        #expect(post.images.map(\.url) == page.images)
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
            (String(repeating: " ", count: 8 << 20) + Self.paragraphs, "it has more than 8 MiB"),
            (
                "<h1>Sign in to continue</h1><p>This article is for subscribers. Sign in, or subscribe for a year.</p>"
                    + "<form>Mail <input type=email> Password <input type=password></form>", "it asks for a login"
            ),
            (
                "<title>App</title><body><noscript>Enable JavaScript to run this app.</noscript><div id=root></div>"
                    + "<svg><title>Loading</title></svg>", "it needs JavaScript"
            ),
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

    @Test("A page counts as a redirect of its feed, so that a public feed leads to no private page")
    func pagesOfPublicFeedsArePublic() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let page = "<article>\(Self.paragraphs)</article>"
            fixture.upstream.setDocument("/post", contentType: "text/html", body: Array(page.utf8))
            let own = fixture.upstream.baseURL
            for (feed, isRefused) in [
                ("https://feed.example/rss", true), ("https://invalid", true), ("http://192.168.1.1/rss", false),
                ("\(own)/rss", false), (nil, false),
            ] {
                for host in ["127.0.0.1", "localhost"] {
                    let count = fixture.upstream.requests.count
                    let fetched = await fixture.fetch(.article) {
                        ($0.url, $0.feed) = (fixture.upstream.baseURL(host: host) + "/post", feed)
                    }
                    let message = fetched.head.failure?.message ?? ""
                    #expect(message.contains("private addresses") == isRefused, "\(feed ?? "") \(host) \(message)")
                    #expect(fetched.items.count == (isRefused ? 0 : 1))
                    #expect(fixture.upstream.requests.count == count + (isRefused ? 0 : 1))
                }
            }
        }
    }

    /// Serves pages of an article, each with another paragraph, and returns the article that is fetched.
    private func fetch(
        _ pages: [(path: String, links: String)], from path: String = "/post",
        _ change: @escaping (FakeUpstream) -> Void = { _ in }
    ) async throws -> (text: String, links: [String], requests: [String]) {
        var result = (text: "", links: [String](), requests: [String]())
        try await Fixture.run(FakeUpstream.start()) { fixture in
            for (path, links) in pages {
                let body = "<article><p>The page \(path) begins.</p>\(Self.paragraphs)</article>\(links)"
                fixture.upstream.setDocument(path, contentType: "text/html", body: Array(body.utf8))
            }
            change(fixture.upstream)
            let fetched = await fixture.fetch(.article) { $0.url = fixture.upstream.baseURL + path }
            let post = try #require(fetched.posts.first)
            let links = (post.links ?? []).map { String($0.dropFirst(fixture.upstream.baseURL.count)) }
            result = (post.text ?? "", links, fixture.upstream.requests.map(\.target))
        }
        return result
    }

    @Test func theTextsOfAllPagesOfAnArticleAreJoined() async throws {
        let link = "<p>See <a href=a>this page</a>, a long line of text, with commas, until it is over, at last.</p>"
        let article = try await fetch([
            ("/post", "<article>\(link)</article><p><a href='/post/2/'>2</a> <a href='/post/3/'>3</a></p>"),
            ("/post/2/", "<article>\(link)</article><a href='/post/3/'>Next page »</a>"),
            ("/post/3/", "<link rel='next' href='/post/page/4/'>"),
            ("/post/page/4/", "<a href='?page=5' rel=next>more</a>"),
        ])
        #expect(article.requests == ["/post", "/post/2/", "/post/3/", "/post/page/4/"])
        let begins = article.text.split(separator: "\n").filter { $0.hasSuffix("begins.") }
        #expect(begins == article.requests.map { "The page \($0) begins." })
        #expect(article.links == ["/a", "/post/2/a"])
    }

    @Test func theNumberOfAPageMayBeInTheQuery() async throws {
        let requests = try await fetch([("/post", "<a href='?id=7&amp;page=2'>2</a>")], from: "/post?id=7").requests
        #expect(requests == ["/post?id=7", "/post?id=7&page=2"])
    }

    @Test func anArticleHasAtMostFivePages() async throws {
        let pages = (1...7).map { ($0 == 1 ? "/post" : "/post/\($0)", "<a rel=next href='/post/\($0 + 1)'>Next</a>") }
        #expect(try await fetch(pages).requests.count == 5)
    }

    /// Links that lead to no further page of the article at `/post`.
    @Test(arguments: [
        "<a rel=next href='/another'>Next</a>", "<link rel=next href='/post-2'>", "<a href='/post/2'>Comments</a>",
        "<a rel=next href='/post/3'>Next</a>", "<a rel=next href='/2'>Next</a>",
        "<a rel=next href='https://other.example/post/2'>Next</a>", "<a rel=next href='#2'>Next</a>",
    ]) func theNextArticleIsNoPageOfThisOne(_ link: String) async throws {
        let pages = ["/post", "/another", "/post-2", "/post/2", "/post/3", "/2"].map { ($0, link) }
        #expect(try await fetch(pages).requests == ["/post"])
    }

    @Test func aLaterPageThatCannotBeReadLeavesThoseBefore() async throws {
        let pages = [
            ("/post", "<a href='/post/2'>2</a>"), ("/post/2", "<a href='/post/3'>3</a>"), ("/post/3", ""),
            ("/other", ""),
        ]
        let faults: [FakeUpstream.Fault] = [
            .answer(status: 500, headers: [], body: []), .reset,
            .answer(status: 200, headers: [("Content-Type", "text/html")], body: Array("<p>Gone</p>".utf8)),
            .answer(
                status: 200, headers: [("Content-Type", "text/html")], body: .init(repeating: 0x20, count: 8 << 20)),
            .answer(status: 302, headers: [("Location", "/post/2")], body: []),
            .answer(status: 302, headers: [("Location", "/other")], body: []),
        ]
        for fault in faults {
            let article = try await fetch(pages) { $0.setFault(fault, path: "/post/3") }
            #expect(article.text.contains("The page /post/2 begins.") && !article.text.contains("/other"))
            #expect(!article.text.contains("/post/3"))
        }
    }

    @Test func pagesOfCommentsDoNotRepeatTheArticle() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let body = Array("<article>\(Self.paragraphs)</article><a rel=next href='/post/2'>Next</a>".utf8)
            for path in ["/post", "/post/2"] {
                fixture.upstream.setDocument(path, contentType: "text/html", body: body)
            }
            let fetched = await fixture.fetch(.article) { $0.url = fixture.upstream.baseURL + "/post" }
            #expect(fixture.upstream.requests.count == 2 && fetched.failure == nil)
            #expect(fetched.posts.first?.text == read(String(decoding: body, as: UTF8.self))?.text)
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
