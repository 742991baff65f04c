import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisFetch

/// Feeds with common faults of well-formedness.
struct RepairedXMLTests {
    @Test func aBareAmpersandIsRead() throws {
        let batch = try batch(
            rss(
                """
                <item><title>Fish & Chips &amp; Peas &#38; R&D &nbsp;&#0;</title><link>https://h/?a=1&b=2&c;=3</link>
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
            ("<description>one<br>two</description>", "one\ntwo", 1),
            ("<description><p>one<p>two<img src='https://h/i.png'></description>", "one\n\ntwo", 3),
            ("<content:encoded>a <b>b <i>c</b> d</i><hr></content:encoded>", "a b c d", 5),
            ("<description>a<br>b<br/>c &lt;i&gt;d&lt;/i&gt;</description>", "a\nb\nc d", 2),
            ("<description>x</p> <a href='https://h/?a=1&b=2'>y</a></description>", "x\n\ny[1]", 3),
            ("<description>1 < 2 & 3 <br></description>", "1 < 2 & 3", 3),
            ("<description><![CDATA[a<br>b]]> & c</description>", "a\nb & c", 1),
        ]
    )
    func html(item: String, text: String, repairs: Int) throws {
        let batch = try batch(rss("<item><guid>1</guid>\(item)</item><item><guid>2</guid><title>t</title></item>"))
        #expect(batch.posts.map(\.id) == ["blog:1", "blog:2"])
        #expect(batch.posts.first?.text == text)
        #expect(batch.head.repairs == repairs)
    }

    @Test func picturesInItAreFound() throws {
        let post = try rssPost("<description>a<br><img src=\"https://h/i.png?a=1&b=2\" alt='x'></description>")
        #expect(post?.images.map(\.url) == ["https://h/i.png?a=1&b=2"])
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
        for junk in ["<!-- x --><script>a && b</script>", "<rss/>", "x", "</rss>", "<br>", "&", "<"] {
            let batch = try batch(feed + "\n" + junk)
            #expect(batch.posts.map(\.title) == ["x"])
            #expect(batch.head.repairs == 1 && !batch.head.isCut)
        }
        let empty = try batch("<rss/><br>")
        #expect(empty.items.isEmpty && empty.head == head { $0.repairs = 1 })
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
    }

    @Test func aCutFeedWithoutAWholeItemIsRefused() {
        #expect(fault("<rss><channel><title>x</title>")?.contains("no element found") == true)
        #expect(fault("<rss><channel><item><title>x</title>")?.contains("no element found") == true)
    }

    @Test func whatIsNotCommonStaysRefused() {
        let broken = [
            "<item a=b></item>", "<item><title>x</item>", "<item><x></y></item>", "</channel><item>", "<a:b:c/>",
            "<item></Item>", "<description>a ]]> & b</description>", "<item><b>x</item>",
        ]
        for item in broken {
            #expect(fault(rss("<item><title>a & b</title></item>\(item)"))?.contains("XML that is broken") == true)
        }
        // The message describes the original fault, not the fault after the repair.
        #expect(fault("<rss>\n&\n<channel>\n</rss>")?.contains("line 2: not well-formed") == true)
    }

    @Test func prefixesAndRepairsGoTogether() throws {
        let feed = """
            <rss><channel><item><title>a & b</title><dc:creator>Ann</dc:creator></item>
            <item><title>c</title><media:x/></item></channel></rss>
            """
        let batch = try batch(feed)
        #expect(batch.posts.map(\.author.name).first == "Ann")
        #expect(batch.posts.count == 2 && batch.head.repairs == 1)
    }

    @Test func whatIsWellFormedIsNotRepaired() throws {
        // Unescaped HTML in a text is read without its markup.
        let batch = try batch(rss("<item><guid>1</guid><description>a<br/>b &lt;i&gt;</description></item>"))
        #expect(batch.head.repairs == 0)
        #expect(batch.posts.first?.text == "ab")
    }

    @Test func whatIsRepairedHasTheSameLimits() {
        let deep = String(repeating: "<x>", count: 300) + "&" + String(repeating: "</x>", count: 300)
        #expect(fault("<rss>\(deep)</rss>")?.contains("nested too deeply") == true)
        #expect(fault("<rss>&\(deep)</rss>")?.contains("nested too deeply") == true)
    }
}

struct DamagedFeedTests {
    @Test func damagedFeedsAreReadOrRefused() {
        let whole = Array(
            (rss("<item><guid>1</guid><title>a & b</title><description>x<br>y<p>z</description></item>")
                + atom("<entry><id>1</id><content type='xhtml'><div>a<br>b</div></content></entry>")).utf8)
        var random = SeededRandom(seed: 15)
        let signs = Array("<>&;/!'\"=[]-? a".utf8)
        for _ in 0..<2000 {
            var document = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<document.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: document[index] = signs.randomElement(using: &random) ?? 0
                case 1: document.remove(at: index)
                default: document.insert(signs.randomElement(using: &random) ?? 0, at: index)
                }
            }
            if Bool.random(using: &random) { document.removeLast(Int.random(in: 0..<document.count, using: &random)) }
            #expect((try? batch(document)) != nil || fault(document)?.isEmpty == false)
        }
    }
}
