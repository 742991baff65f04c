import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

/// Feeds with faults for which a parser of XML would refuse them.
struct MalformedFeedTests {
    @Test func aBareAmpersandIsRead() throws {
        let batch = try batch(
            rss(
                """
                <item><title>Fish & Chips &amp; Peas &#38; R&D &nbsp;</title><link>https://h/?a=1&b=2&c;=3</link>
                <enclosure url="https://h/i.png?w=1&h=2" type="image/png"/></item>
                """))
        let post = try #require(batch.posts.first)
        #expect(post.title == "Fish & Chips & Peas & R&D")
        #expect(post.url == "https://h/?a=1&b=2&c;=3")
        #expect(post.images.map(\.url) == ["https://h/i.png?w=1&h=2"])
        #expect(batch.head.repairs == 5)
        #expect(!batch.head.isCut && batch.skipped == 0)
    }

    @Test(
        "Tags of HTML in a text need not end",
        arguments: [
            ("<description>one<br>two</description>", "one\ntwo"),
            ("<description><p>one<p>two<img src='https://h/i.png'></description>", "one\n\ntwo"),
            ("<content:encoded>a <b>b <i>c</b> d</i><hr></content:encoded>", "a b c d"),
            ("<description>a<br>b<br/>c &lt;i&gt;d&lt;/i&gt;</description>", "a\nb\nc d"),
            ("<description>x</p> <a href='https://h/?a=1&b=2'>y</a></description>", "x y[1]"),
            ("<description>1 < 2 & 3 <br></description>", "1 < 2 & 3"),
            ("<description><![CDATA[a<br>b]]> & c</description>", "a\nb & c"),
            ("<description><![CDATA[a<br>b]]><i>c</i></description>", "a\nbc"),
            ("<description>use Map<String, Int> here</description>", "use Map<String, Int> here"),
            ("<description>a ]]> & b</description>", "a ]]> & b"), ("<description>x</Description>]]>", "x"),
            ("<description a=b a=c d>x</description>", "x"),
        ]
    )
    func html(item: String, text: String) throws {
        let batch = try batch(rss("<item><guid>1</guid>\(item)</item><item><guid>2</guid><title>t</title></item>"))
        #expect(batch.posts.first?.text == text)
        #expect(batch.posts.map(\.id) == ["blog:1", "blog:2"])
        #expect(batch.head.repairs > 0 || item.contains("]]>"))
    }

    @Test func entriesOfAtomAreReadToo() throws {
        let entry = { (content: String) in try atomPost("<id>1</id>\(content)")?.text }
        #expect(try entry("<content type='html'>a<br>b</content>") == "a\nb")
        #expect(try entry("<content>a<br>b</content>") == "a\nb")
        #expect(
            try entry("<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a<br>b</div></content>")
                == "a\nb")
        #expect(try entry("<summary type=\"xhtml\"><div>a & b</div></summary>") == "a & b")
        #expect(try entry("<content>a & &lt;b></content>") == "a & <b>")
    }

    @Test func junkBehindTheRootIsLeftOut() throws {
        let feed = rss("<item><title>x</title></item>")
        for junk in ["<!-- x --><script>a && b</script>", "<rss/>", "x", "</rss>", "<br>", "&"] {
            let batch = try batch(feed + "\n" + junk)
            #expect(batch.posts.map(\.title) == ["x"])
            #expect(!batch.head.isCut)
        }
    }

    @Test func wholeItemsBeforeACutCount() throws {
        let items = (1...3).map { "<item><guid>\($0)</guid><title>t</title><description>d</description></item>" }
        let feed = rss(items.joined())
        let end = try #require(feed.firstRange(of: "<guid>3")).lowerBound
        let rests = [
            "", "<guid", "<guid>3</guid><description>x &", "<title>a<br>b", "<x><y a='", "<![CDATA[", "<!-", "<",
        ]
        for rest in rests {
            let batch = try batch(String(feed[..<end]) + rest)
            #expect(batch.posts.map(\.id) == ["blog:1", "blog:2"])
            #expect(batch.head.repairs > 0 && batch.head.isCut)
        }
        let entries = atom("<entry><id>1</id><title>t</title></entry><entry><id>2</id><title>t</title></entry>")
        #expect(try batch(entries.utf8.dropLast(30)).posts.map(\.id) == ["blog:1"])
        let rdf = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
            <channel><title>Old</title></channel><item rdf:about="https://h/1"><title>t</title></item><item
            """
        #expect(try batch(rdf).posts.map(\.author.name) == ["Old"])
        let json =
            #"{"title": "x", "items": [{"id": 1, "title": "]"}, {"id": 2, "title": "t"}, {"id": 3, "ti"#
        let cut = try batch(json)
        #expect(cut.posts.map(\.id) == ["blog:1", "blog:2"] && cut.head.isCut)
    }

    @Test func anItemWithoutEndTagEndsWhereTheNextBegins() throws {
        let batch = try batch(rss("<item><guid>1</guid><title>a</title><item><guid>2</guid><title>b</title></item>"))
        #expect(batch.posts.map(\.title) == ["a", "b"] && batch.head.repairs > 0 && !batch.head.isCut)
    }

    @Test func theDocumentTypeIsIgnored() throws {
        let folder = TemporaryFolder()
        let secret = try folder.write("sesame", to: "secret")
        let feed = "<rss><channel><item><title>&x;a&ouml;b</title></item></channel></rss>"
        let laughs = (1...9).map { "<!ENTITY x\($0) \"\(String(repeating: "&x\($0 - 1);", count: 10))\">" }.joined()
        for declaration in [
            "", "PUBLIC \"-//Netscape//DTD RSS 0.91//EN\" \"http://my.example/rss-0.91.dtd\"", "SYSTEM \"\(secret)\"",
            "[<!ENTITY x SYSTEM \"file://\(secret)\">]", "[<!ENTITY % x SYSTEM \"\(secret)\"> %x;]",
            "[<!ENTITY x \"<![CDATA[>]]>\">\(laughs)<!-- ' -->]",
        ] {
            #expect(
                try batch("<!DOCTYPE rss \(declaration)>\(feed)").posts.map(\.title) == ["&x;aöb"], "\(declaration)")
        }
    }

    @Test func prefixesNeedNoDeclaration() throws {
        let document = """
            <?xml version="1.0"?><?xml version="1.0"?>
            <!-- <rss> -- --><!DOCTYPE rss>
            <rss version="2.0" xmlns:d="http://purl.org/dc/terms/" xmlns:media="http://search.yahoo.com/mrss"><channel>
            <item><title>x</title><d:creator>Ann</d:creator><media:thumbnail url="https://h/i.png"/>
            <slash:comments>5</slash:comments><foo:bar \
            a:b="1"/><content:encoded>text</content:encoded></item></channel></rss>
            """
        let post = try #require(try batch(document).posts.first)
        #expect(post.author.name == "Ann")
        #expect(post.images.map(\.url) == ["https://h/i.png"])
        #expect(post.stats.comments == 5)
        #expect(post.text == "text")
    }

    @Test(arguments: [
        "xmlns='http://www.w3.org/2005/Atom'", "xmlns='http://x.example/'", "xmlns:a='http://www.w3.org/2005/Atom'",
    ])
    func anyNamespaceIsRead(declaration: String) throws {
        let name = declaration.hasPrefix("xmlns:") ? "a:" : ""
        let entry = "<\(name)entry><\(name)id>1</\(name)id><\(name)title>t</\(name)title></\(name)entry>"
        #expect(try batch("<\(name)feed \(declaration)>\(entry)</\(name)feed>").posts.map(\.title) == ["t"])
        let item = "<rss \(declaration)><channel><item><title>t</title><link>https://h/</link></item></channel></rss>"
        #expect(try batch(item).posts.map(\.url) == ["https://h/"])
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
            #expect(batch.head.isCut && batch.head.repairs > 0)
            #expect(batch.posts.first?.text == "y")
            #expect(batch.posts.allSatisfy { $0.author.name == "Blog" && ["x", "z"].contains($0.title) })
        }
    }

    @Test func depthIsBounded() throws {
        for count in [150, 300, 100_000] {
            let text = String(repeating: "<div>", count: count) + "x" + String(repeating: "</div>", count: count)
            #expect(try atomPost("<id>1</id><content type='xhtml'>\(text)</content>")?.text == "x")
            #expect(try rssPost("<guid>1</guid><description><![CDATA[\(text)]]></description>")?.text == "x")
        }
        #expect(fault(String(repeating: "<rss>", count: 200_000))?.contains("ends before") == true)
    }
}
