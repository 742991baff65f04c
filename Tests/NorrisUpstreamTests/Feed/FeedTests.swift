import NorrisProtocol
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20))) struct FeedTests {
    private let url = "https://blog.example/feed?key=secret"

    private func feed(_ transport: any HTTPTransport, url: String? = nil) -> Feed {
        Feed(url: url ?? self.url, source: "blog", transport: transport)
    }

    private func fetchFailure(_ transport: any HTTPTransport, url: String? = nil) async -> UpstreamError? {
        await failure { _ = try await feed(transport, url: url).posts(validators: Validators(), timeout: .seconds(1)) }
    }

    @Test func aFeedIsFetched() async throws {
        let transport = FixedTransport(
            HTTPResponse(
                status: 200,
                headers: [
                    ("Content-Type", "text/html; charset=iso-8859-1"), ("ETag", "\"1\""),
                    ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Cache-Control", "max-age=600"),
                ],
                // The media type is ignored, but the charset is used.
                body: Array("<rss><channel><item><title>Gr".utf8) + [0xFC, 0xDF]
                    + Array("e</title></item></channel></rss>".utf8)))
        let fetched = try await feed(transport).posts(
            validators: Validators(etag: "\"0\"", lastModified: "Sat, 05 Nov 1994 08:49:37 GMT"), timeout: .seconds(7))
        #expect(try fetched.value.posts.map(\.title) == ["Grüße"])
        let sent = Validators(etag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(fetched.info == FetchInfo(validators: sent, notBefore: .seconds(600)))
        let request = try #require(transport.requests.first)
        #expect(transport.requests.count == 1)
        #expect(request.url == url)
        #expect(request.timeout == .seconds(7))
        let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(headers["If-None-Match"] == "\"0\"")
        #expect(headers["If-Modified-Since"] == "Sat, 05 Nov 1994 08:49:37 GMT")
        let accept = try #require(headers["Accept"])
        #expect(["rss+xml", "atom+xml", "feed+json"].allSatisfy { accept.contains("application/\($0)") })
    }

    @Test func relativeAddressesReferToWhereARedirectLed() async throws {
        let body = "<rss><channel><item><link>p</link></item></channel></rss>"
        let end = try #require(HTTPURL("https://new.example/a/feed?token=1"))
        let transport = FixedTransport(HTTPResponse(status: 200, body: Array(body.utf8), url: end))
        let batch = try await feed(transport).posts(validators: Validators(), timeout: .seconds(1)).value
        #expect(batch.posts.map(\.url) == ["https://new.example/a/p"])
        // The target of a redirect may repeat the key of the request.
        let page = "<html><link rel=alternate type=application/rss+xml href='/f?key=secret'>"
        let plain = HTTPURL("https://new.example/")
        let response = HTTPResponse(status: 200, body: Array(page.utf8), url: plain)
        let error = await fetchFailure(FixedTransport(response))
        #expect(error?.message.contains("https://new.example/f.") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func whatIsWrongIsSaidInASentence() async {
        let error = await fetchFailure(FixedTransport("<rss>\n<channel>", headers: []))
        #expect(error?.kind == .decode)
        #expect(error?.message == "blog.example/feed answered with XML that is broken in line 2: no element found.")
        #expect(error?.isRetryable == false)
    }

    @Test func anAddressThatIsNoneIsSaid() async {
        let error = await fetchFailure(FixedTransport(""), url: "ftp://blog.example/feed")
        #expect(error?.message == "The url of blog is not an http or https address.")
    }

    @Test(arguments: [
        ("", "answered with an empty document instead of a feed"), (" \n ", "answered with an empty document"),
        ("[]", "not a feed. Set url to the address of a feed."),
        ("Not found", "not a feed"), ("\u{1}\u{2}PNG", "not a feed"),
        ("<x/>", "not a feed (its root is x); is url right?"), ("<feed><entry/></feed>", "its root is feed"),
        ("<?xml version='1.0'?><opml/>", "its root is opml"), ("<\u{202E}>", "broken in line 1"),
    ]) func whatIsNoFeed(document: String, reason: String) { #expect(fault(document)?.contains(reason) == true) }

    // MARK: Web pages

    @Test(arguments: [
        "<!DOCTYPE html><html><body>x</body></html>", "\n<!doctype HTML PUBLIC \"x\"><html>", "<html lang=en>",
        "<!-- hello --><!-- --><HTML>", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>",
        "<head><title>x</title>", "<body>", "<script>location='/'</script>", "<h1>Not Found</h1>",
    ]) func pagesAreNoFeeds(page: String) {
        #expect(fault(page) == "not a feed. Set url to the address of a feed.")
    }

    @Test(
        "A page that names its feed helps",
        arguments: [
            ("<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\">", "https://x.example/feed.xml"),
            (
                "<LINK HREF='?feed=rss2&amp;x=1' TYPE='application/Atom+XML' REL='Home Alternate'>",
                "https://x.example/blog?feed=rss2&x=1"
            ), ("<link rel=alternate type=application/feed+json href=feed.json>", "https://x.example/feed.json"),
            (
                "<link rel=alternate hreflang=de href=/de><link rel=alternate type=application/rss+xml href=/f>",
                "https://x.example/f"
            ),
        ]
    )
    func pagesWithFeeds(link: String, address: String) {
        let page = "<!DOCTYPE html><html><head><title>x</title>\(link)</head></html>"
        #expect(
            fault(page, url: "https://x.example/blog")
                == "not a feed. Its feed may be \(address).")
    }

    @Test func theErrorHasTheTypeAndTheAddressOfTheFeed() async {
        let page = "<html><link rel=alternate type=application/rss+xml href='/feed.xml'>"
        let transport = FixedTransport(page, headers: [("Content-Type", "text/html; charset=utf-8")])
        let error = await fetchFailure(transport, url: "https://blog.example/")
        #expect(error?.message == "not a feed (text/html). Its feed may be https://blog.example/feed.xml.")
        #expect(error?.feedURL == "https://blog.example/feed.xml")
        let other = await fetchFailure(FixedTransport("x", headers: [("Content-Type", "image/png")]), url: url)
        #expect(other?.message == "not a feed (image/png). Set url to the address of a feed.")
        #expect(other?.feedURL == nil)
    }

    @Test func addressesOfPagesAreNotTrusted() {
        let page = "<html><link rel=alternate type=application/rss+xml href='javascript:alert(1)'>"
        #expect(fault(page, url: "https://x.example/")?.contains("javascript") == false)
        // The query may contain a key, and error messages are visible to all users.
        let keyed = "<html><link rel=alternate type=application/rss+xml href='/f?key=secret'>"
        let message = fault(keyed, url: "https://x.example/?key=secret")
        #expect(message?.contains("https://x.example/f.") == true)
        #expect(message?.contains("secret") == false)
    }
}
