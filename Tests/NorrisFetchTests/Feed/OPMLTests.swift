import NorrisFetchProtocol
import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisFetch

struct OPMLTests {
    private func links(_ document: some Collection<UInt8>) throws(UpstreamError) -> [FeedLink] {
        var response = HTTPResponse(body: Array(document), url: HTTPURL("http://localhost/")!)
        return try Fetched(opml: &response).items.compactMap { $0 as? FeedLink }
    }

    private static func outlines(_ count: Int) -> String {
        (0..<count).map { "<outline xmlUrl='https://a.example/\($0)'/>" }.joined()
    }

    @Test func whatOtherReadersExportIsRead() throws {
        let document = """
            <?xml version="1.0"?><opml version="2.0"><head/><body>
            <outline text="Group"><outline text="A" xmlUrl=" https://a.example/feed?x=1&y=2 " htmlUrl="https://x?a&b"/>
            <OUTLINE title='B' type="rss" xmlURL="https://b.example/'1'"/></outline>
            <outline text="local" title="other" xmlUrl="file:///etc/passwd"/><outline text="no address"/>
            <outline text="mail" xmlUrl="mailto:jo@site.example"/><outline xmlUrl="feed://c.example/f"/>
            <outline xmlUrl="feed:https://u:p@d.example/f"/><outline xmlUrl="https://müsli.example/ä"/>
            <outline xmlUrl="e.example/f"/></body></opml>
            """
        #expect(
            try links(document.utf8) == [
                FeedLink(title: "A", url: "https://a.example/feed?x=1&y=2", tags: ["group"]),
                FeedLink(title: "B", url: "https://b.example/'1'", tags: ["group"]),
                FeedLink(title: "local", url: "file:///etc/passwd"),
                FeedLink(title: "mail", url: "mailto:jo@site.example"),
                FeedLink(title: nil, url: "http://c.example/f"), FeedLink(title: nil, url: "https://u:p@d.example/f"),
                FeedLink(title: nil, url: "https://xn--msli-0ra.example/%C3%A4"),
                FeedLink(title: nil, url: "https://e.example/f"),
            ])
        let cyrillic = "<?xml version='1.0' encoding='windows-1251'?><opml><outline text='"
        #expect(
            try links(Array(cyrillic.utf8) + [0xCD, 0xEE] + Array("' xmlUrl='https://a.example/'/></opml>".utf8)).map(
                \.title)
                == ["Но"])
    }

    @Test(arguments: [
        ("", "It is not OPML"), ("<html/>", "It is not OPML"), ("<opml/>", "It has no feeds"),
        ("<opml>\(outlines(1001))</opml>", "more than 1,000 feeds"),
    ]) func whatIsNoListIsRefused(document: String, reason: String) {
        #expect(decoded(document, as: .opml).failure?.message.contains(reason) == true)
    }

    @Test("An address with control characters is read as it is read again") func controlCharacters() throws {
        let document = "<opml><outline xmlUrl='https://b.example\u{1}\u{7F}'/></opml>"
        #expect(try links(Array(document.utf8)).map(\.url) == ["https://b.example/"])
    }

    @Test func foldersAndCategoriesAreTags() throws {
        let document = """
            <opml><body>
            <outline text="News &amp; Politics">
            <outline text="A" xmlUrl="https://a.example/" category="/Extra, linux,"/>
            <outline title="Ünïx 2"><outline xmlUrl="https://b.example/"/></outline></outline>
            <outline text="مدونات"><outline xmlUrl="https://a.example/"/></outline>
            <outline><outline text="!"><outline xmlUrl="https://c.example/"/></outline></outline>
            <outline text="Extra"><outline xmlUrl="https://a.example/"/>
            <outline text="\(String(repeating: "x", count: 41))">
            <outline xmlUrl="https://d.example/"/></outline></outline>
            <outline text="own" xmlUrl="https://e.example/"><outline xmlUrl="https://f.example/"/></outline>
            """
        let links = try links(document.utf8)
        #expect(links.map(\.url) == ["a", "b", "c", "d", "f", "e"].map { "https://\($0).example/" })
        #expect(
            links.map(\.tags) == [
                ["news-politics", "extra", "linux", "مدونات"], ["news-politics", "ünïx-2"], [],
                ["extra", String(repeating: "x", count: 40)], ["own"], [],
            ])
        let deep = (1...40).reduce("<outline xmlUrl='https://a.example/'/>") { content, level in
            "<outline text='\(41 - level)'>\(content)</outline>"
        }
        #expect(try self.links("<opml>\(deep)</opml>".utf8).first?.tags == (1...16).map { "\($0)" })
    }

    @Test func deepListsAreRead() throws {
        let deep =
            "<opml>" + String(repeating: "<outline>", count: 150) + Self.outlines(1)
            + String(repeating: "</outline>", count: 150) + "</opml>"
        #expect(try links(deep.utf8).map(\.url) == ["https://a.example/0"])
        #expect(try links("<opml>\(Self.outlines(1000))</opml>".utf8).count == 1000)
    }
}
