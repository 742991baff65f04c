import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct FeedTests {
    @Test func aFeedIsFetched() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setFault(
                .answer(
                    status: 200,
                    headers: [
                        ("Content-Type", "text/html; charset=iso-8859-1"), ("ETag", "\"1\""),
                        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Cache-Control", "max-age=600"),
                    ],
                    // The media type is ignored, but the charset is used.
                    body: Array("<rss><channel><item><title>Gr".utf8) + [0xFC, 0xDF]
                        + Array("e</title></item></channel></rss>".utf8)))
            let fetched = await fixture.fetch(.feed) { request in
                request.url += "/feed?key=secret"
                (request.etag, request.lastModified) = ("\"0\"", "Sat, 05 Nov 1994 08:49:37 GMT")
            }
            #expect(fetched.posts.map(\.title) == ["Grüße"])
            let expected = head { head in
                (head.etag, head.lastModified) = ("\"1\"", "Sun, 06 Nov 1994 08:49:37 GMT")
                head.notBefore = 600
                head.url = fixture.upstream.baseURL + "/feed"
                head.reply = HostReply(host: "127.0.0.1", status: 200)
            }
            #expect(fetched.head == expected)
            let request = try #require(fixture.upstream.requests.first)
            #expect(fixture.upstream.requests.count == 1)
            #expect(request.target == "/feed?key=secret")
            #expect(request.header("If-None-Match") == "\"0\"")
            #expect(request.header("If-Modified-Since") == "Sat, 05 Nov 1994 08:49:37 GMT")
            let accept = try #require(request.header("Accept"))
            #expect(["rss+xml", "atom+xml", "feed+json"].allSatisfy { accept.contains("application/\($0)") })
        }
    }

    @Test func relativeAddressesReferToWhereARedirectLed() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let body = "<rss><channel><item><link>p</link></item></channel></rss>"
            fixture.upstream.setDocument("/a/feed", contentType: "application/rss+xml", body: Array(body.utf8))
            fixture.upstream.setFault(.redirect(to: "/a/feed?token=1"), path: "/feed")
            let fetched = await fixture.fetch(.feed) { $0.url += "/feed?key=secret" }
            #expect(fetched.posts.map(\.url) == [fixture.upstream.baseURL + "/a/p"])
            #expect(fetched.head.url == fixture.upstream.baseURL + "/a/feed")
            // The target of a redirect may repeat the key of the request.
            let page = "<html><link rel=alternate type=application/rss+xml href='/f?key=secret'>"
            fixture.upstream.setDocument("/page", contentType: "text/html", body: Array(page.utf8))
            fixture.upstream.setFault(.redirect(to: "/page"), path: "/feed")
            let failure = await fixture.fetch(.feed) { $0.url += "/feed?key=secret" }.failure
            #expect(failure?.feeds?.map(\.url) == ["\(fixture.upstream.baseURL)/f"])
        }
    }

    @Test(arguments: [
        ("", "answered with an empty document instead of a feed"), (" \n ", "answered with an empty document"),
        ("[]", "not a feed. Use the address of a feed."),
        ("Not found", "not a feed"), ("\u{1}\u{2}PNG", "not a feed"),
        ("<x/>", "not a feed (its root is x); is the address right?"),
        ("<?xml version='1.0'?><opml/>", "its root is opml"),
    ]) func whatIsNoFeed(document: String, reason: String) { #expect(fault(document)?.contains(reason) == true) }

    // MARK: Web pages

    @Test(arguments: [
        "<!DOCTYPE html><html><body>x</body></html>", "<!-- hello --><!-- --><HTML>", "<head><title>x</title>",
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "<script>location='/'</script>",
    ]) func pagesAreNoFeeds(page: String) {
        #expect(fault(page) == "not a feed. Use the address of a feed.")
    }

    @Test(
        "A page that names its feeds helps",
        arguments: [
            (
                "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\">",
                ["https://x.example/feed.xml"]
            ),
            (
                "<LINK HREF='?feed=rss2&amp;x=1' TYPE='application/Atom+XML' REL='Home Alternate'>",
                ["https://x.example/a/b?feed=rss2&x=1"]
            ), ("<link rel=alternate type=application/feed+json href=feed.json>", ["https://x.example/a/feed.json"]),
            (
                """
                <!-- <link rel=alternate type=application/rss+xml href=/old> --><base href="/sub/"><link rel=alternate
                hreflang=de href=/de><script>'<link rel=alternate type=application/rss+xml href=/wrong>'</script>
                <link rel="alternate" type="application/rss+xml; charset=UTF-8" href="feed"><link rel=alternate
                type=application/atom+xml href=/atom><link rel=alternate type=application/rss+xml href=feed>
                """, ["https://x.example/sub/feed", "https://x.example/atom"]
            ), ("<link rel=alternate type=application/rss+xml href='javascript:alert(1)'>", []),
            ("<link rel=alternate type='Text/XML; charset=utf-8' href=/f>", ["https://x.example/f"]),
            ("<link rel=alternate type=application/xml href=/f>", ["https://x.example/f"]),
            ("<link rel=alternate type=application/rdf+xml href=/f>", ["https://x.example/f"]),
            ("<link rel=alternate type=application/json href=/f>", ["https://x.example/f"]),
            ("<link rel='alternate feed' href=/f>", ["https://x.example/f"]),
            ("<link rel=feed href=/f><link rel=feed type=text/html href=/g>", ["https://x.example/f"]),
            // A page of WordPress names its data before its feed.
            (
                "<link rel=alternate type=application/json href=/j>"
                    + "<link rel=alternate type=application/rss+xml href=/f>",
                ["https://x.example/f"]
            ), ("<link rel=alternate href=/f><link rel=alternate type=text/html href=/f>", []),
            (
                "<script>\(String(repeating: "x", count: 600_000))</script><link rel=feed href=/f>",
                ["https://x.example/f"]
            ), (String(repeating: "<p>", count: 50_000) + "<link rel=feed href=/f>", []),
        ] as [(String, [String])]
    )
    func pagesWithFeeds(links: String, addresses: [String]) {
        let page = "<!DOCTYPE html><html><head><title>x</title>\(links)</head></html>"
        #expect(decoded(page, as: .feed, at: "https://x.example/a/b").failure?.feeds?.map(\.url) ?? [] == addresses)
    }

    @Test func feedsOfPagesHaveTitles() {
        let links =
            "<link rel=alternate type=application/rss+xml title=' A &amp; B\u{7} ' href=/a>"
            + "<link rel=alternate type=application/rss+xml title='' href=/b>"
            + "<link rel=alternate type=application/atom+xml title=Again href=/a>"
        let feeds = decoded("<html><head>\(links)</head></html>", as: .feed, at: "https://x.example/").failure?.feeds
        let shown = [
            FeedLink(title: "A & B", url: "https://x.example/a"), .init(title: nil, url: "https://x.example/b"),
        ]
        #expect(feeds == shown)
    }

    @Test(arguments: [
        "\u{FEFF}\u{FEFF}", "\n\n", "<br />\n<b>Warning</b>: foo in <b>x.php</b><br />\n", "Notice: x\n",
        "Warning: Undefined {x}, { y } in x.php\n", "Parse error: unexpected token \"{\", expecting \"}\" in x.php\n",
        "Warning: json_decode({\"a\": \"b\"}) in x.php\n", "{} ",
    ])
    func whatPrecedesTheDocumentIsSkipped(start: String) throws {
        #expect(try batch(start + rss("<item><title>x</title></item>")).posts.map(\.title) == ["x"])
        guard !start.contains("<"), !start.contains("{\"a"), !start.contains("{}") else { return }
        #expect(try batch(start + "{\"items\": [{\"id\": 1, \"title\": \"x\"}]} x").posts.map(\.title) == ["x"])
    }

    @Test("A feed in gzip is read with and without Content-Encoding", arguments: [1, 2, 3])
    func gzippedFeeds(members: Int) async throws {
        let document = Array(rss("<item><title>\(String(repeating: "x", count: 100))</title></item>").utf8)
        let step = document.count / members + 1
        let parts = stride(from: 0, to: document.count, by: step).map { document[$0..<min($0 + step, document.count)] }
        let body: [UInt8] = parts.map { gzipped(Array($0)) }.joined() + [0, 0, 0]
        #expect(decoded(body, as: .feed).posts.count == 1)
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setDocument("/feed", contentType: "application/gzip", body: body)
            let fetched = await fixture.fetch(.feed) { request in request.url += "/feed" }
            #expect(fetched.posts.count == 1)
            let headers = [("Content-Type", "text/xml"), ("Content-Encoding", "gzip")]
            fixture.upstream.setFault(.answer(status: 200, headers: headers, body: body))
            #expect(await fixture.fetch(.feed).posts.count == 1)
            fixture.upstream.setFault(nil)
            let refused = await fixture.fetch(.feed) { request in
                request.url += "/feed"
                request.maximumBody = 200
            }
            #expect(refused.failure?.message.contains("/feed answered with more than 200 bytes") == true)
        }
        // The checksum and the length are missing.
        let cut = decoded(gzipped(document).dropLast(8), as: .feed)
        #expect((cut.posts.count, cut.head.isCut) == (1, false))
        var damaged = gzipped(document)
        damaged[damaged.count - 8] ^= 1
        #expect(decoded(damaged, as: .feed).failure?.message.contains("compressed content that is damaged") == true)
    }

    @Test func theErrorHasTheTypeAndTheAddressOfTheFeed() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let page = "<html><link rel=alternate type=application/rss+xml href='/feed.xml'>"
            let type = "text/html; charset=utf-8"
            fixture.upstream.setDocument("/", contentType: type, body: Array(page.utf8))
            let failure = await fixture.fetch(.feed) { $0.url += "/" }.failure
            let address = fixture.upstream.baseURL + "/feed.xml"
            #expect(failure?.message == "not a feed (text/html). Its feed may be \(address).")
            #expect(failure?.feeds?.map(\.url) == [address])
            // The query may contain a key, and error messages are visible to all users.
            let keyed = Array(page.replacing(".xml", with: ".xml?key=secret").utf8)
            fixture.upstream.setDocument("/", contentType: type, body: keyed)
            #expect(await fixture.fetch(.feed) { $0.url += "/?key=secret" }.failure?.message == failure?.message)
            fixture.upstream.setDocument("/", contentType: "image/png", body: Array("x".utf8))
            let other = await fixture.fetch(.feed) { $0.url += "/?key=secret" }.failure
            #expect(other?.message == "not a feed (image/png). Use the address of a feed.")
            #expect(other?.feeds == nil)
        }
    }
}
