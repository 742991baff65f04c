import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

struct XMLReaderTests {
    @Test func entitiesOfHTMLAreUnderstood() throws {
        let post = try rssPost("<title>A&nbsp;B &eacute;&hellip; &amp; &#x2603;</title>")
        #expect(post?.title == "A B é… & ☃")
        #expect(try rssPost("<title>A &unheardof; B</title>")?.title == "A &unheardof; B")
        // The parser does not report entities in attribute values, but the feed is accepted.
        #expect(try rssPost("<title>A</title><guid isPermaLink=\"f&nbsp;alse\">x</guid>")?.id == "blog:x")
    }

    @Test func entitiesAreUnderstoodWithADocumentType() throws {
        let type = "<!DOCTYPE rss PUBLIC \"-//Netscape//DTD RSS 0.91//EN\" \"http://my.example/rss-0.91.dtd\">"
        let feed = "<rss><channel><item><title>a&ouml;b</title></item></channel></rss>"
        #expect(try batch(type + feed).posts.first?.title == "aöb")
        #expect(try batch("<!DOCTYPE rss>" + feed).posts.first?.title == "aöb")
        #expect(try batch("<?xml version='1.0' standalone='yes'?>" + feed).posts.first?.title == "aöb")
    }

    @Test func billionLaughsAreRefusedAtTheFirst() {
        let laughs = (1...9).map { "<!ENTITY lol\($0) \"\(String(repeating: "&lol\($0 - 1);", count: 10))\">" }
        let document = """
            <?xml version="1.0"?>
            <!DOCTYPE rss [
            <!ENTITY lol0 "lol">
            \(laughs.joined(separator: "\n"))
            ]>
            <rss><channel><item><title>&lol9;</title></item></channel></rss>
            """
        #expect(
            fault(document) == "answered with XML whose document type has declarations, in line 2; norrisd refuses them"
        )
    }

    @Test func noFileIsEverRead() throws {
        let folder = TemporaryFolder()
        let secret = try folder.write("sesame", to: "secret")
        let feed = "<rss><channel><item><title>&x;</title></item></channel></rss>"
        for declaration in ["<!ENTITY x SYSTEM \"file://\(secret)\">", "<!ENTITY % x SYSTEM \"\(secret)\"> %x;"] {
            #expect(fault("<!DOCTYPE rss [\(declaration)]>\(feed)")?.contains("has declarations") == true)
        }
        // An external document type is not fetched, so its entities stay unknown.
        #expect(try batch("<!DOCTYPE rss SYSTEM \"\(secret)\">\(feed)").posts.first?.title == "&x;")
    }

    @Test(arguments: [
        ("<rss>\n<channel>\n<item><title>x</item></channel></rss>", "line 3: mismatched tag"),
        ("<rss>\n<channel>", "line 2: no element found"), ("<rss><channel><item", "line 1: unclosed token"),
        ("<rss>\n<x:y/></rss>", "line 2: unbound prefix"), ("<rss>\n\n<a b=c/></rss>", "line 3: not well-formed"),
        ("<rss a='1' a='2'/>", "duplicate attribute"), ("<rss>a < b</rss>", "line 1: not well-formed"),
        ("\n\n<?xml version='1.0'?>\n<rss>< </rss>", "line 4:"),
        // Earlier repairs do not change the reported line.
        ("<rss>&\n<channel></rss>", "line 1: not well-formed"),
    ]) func whatIsWrongIsSaidWithItsLine(document: String, reason: String) {
        #expect(fault(document)?.contains("answered with XML that is broken in ") == true)
        #expect(fault(document)?.contains(reason) == true)
    }

    @Test func usualPrefixesNeedNoDeclaration() throws {
        let document = """
            <?xml version="1.0"?>
            <!-- <rss> --><!DOCTYPE rss>
            <rss version="2.0" xmlns:dc="http://purl.org/dc/terms/"><channel><item><title>x</title>
            <dc:creator>Ann</dc:creator><media:thumbnail url="https://h/i.png"/><slash:comments>5</slash:comments>
            <content:encoded>text</content:encoded></item></channel></rss>
            """
        let post = try #require(try batch(document).posts.first)
        #expect(post.author.name == "Ann")
        #expect(post.images.map(\.url) == ["https://h/i.png"])
        #expect(post.stats.comments == 5)
        #expect(post.text == "text")
        #expect(fault("<rss>\n<media:x/>\n<channel>")?.contains("line 3: no element found") == true)
        #expect(fault("<media:rss/>")?.contains("its root is rss") == true)
    }

    @Test("A feed that breaks off anywhere is refused, or read up to its last whole item") func everyPrefix() throws {
        let item = "<item><title>x</title><description><![CDATA[<b>y</b>]]></description></item>"
        let document = rss("\(item)<item><title>z</title></item>", channel: "<title>Blog</title>\n")
        let end = try #require(document.firstRange(of: item)).upperBound.utf16Offset(in: document)
        #expect(try batch(document).posts.count == 2)
        #expect(try batch(document).head.repairs == 0)
        for length in 0..<document.utf8.count {
            let prefix = document.utf8.prefix(length)
            guard length >= end, let batch = try? batch(prefix) else {
                #expect(length < end && fault(prefix) != nil)
                continue
            }
            #expect(batch.head.isCut && batch.head.repairs == 1)
            #expect(batch.posts.first?.text == "y")
            #expect(batch.posts.allSatisfy { $0.author.name == "Blog" })
        }
    }

    @Test func depthIsBounded() throws {
        let deep = { (count: Int) in
            String(repeating: "<div>", count: count) + "x" + String(repeating: "</div>", count: count)
        }
        let entry = { (count: Int) in
            "<id>1</id><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>\(deep(count))</div></content>"
        }
        #expect(try atomPost(entry(200))?.text == "x")
        #expect(fault(atom("<entry>\(entry(300))</entry>"))?.contains("nested too deeply, in line 3") == true)
        #expect(fault(String(repeating: "<rss>", count: 1_000_000))?.contains("nested too deeply") == true)
    }

    @Test func itemsAreBounded() throws {
        // Texts and elements beyond the limits are dropped, but the item is kept.
        let long = String(repeating: "word ", count: 200_000)
        let many = String(repeating: "<category>x</category>", count: 30_000)
        let batch = try batch(
            rss(
                "<item><guid>1</guid><description>\(long)</description>\(many)<link>https://h/1</link></item>"
                    + "<item><guid>2</guid><title>t</title></item>"))
        #expect(batch.posts.map(\.id) == ["blog:1", "blog:2"])
        #expect(batch.posts.first?.text?.unicodeScalars.count == 10_000)
        #expect(batch.posts.first?.tags == ["x"])
        #expect(batch.posts.first?.url == nil)
        #expect(batch.posts.last?.title == "t")
        for (length, title) in [(16 << 10, nil), ((16 << 10) - 1, "x")] as [(Int, String?)] {
            let text = String(repeating: " ", count: length) + "xy"
            #expect(try rssPost("<description>d</description><title>\(text)</title>")?.title == title)
        }
    }
}
