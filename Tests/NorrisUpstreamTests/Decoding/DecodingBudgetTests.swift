import NorrisProtocol
import Synchronization
import Testing

@testable import NorrisUpstream

/// The decoding cost of small or hostile documents, counted in bytes and elements instead of seconds.
struct DecodingBudgetTests {
    private func budget(bytes: Int = 64 << 20, elements: Int = 2_000_000) -> DecodingBudget {
        DecodingBudget(.init(bytes: bytes, elements: elements), clock: { .zero })
    }

    private static func items(_ count: Int, _ item: String) -> String { String(repeating: item, count: count) }

    // MARK: Budget

    @Test func theFirstLimitCounts() throws {
        let budget = budget(bytes: 1 << 20, elements: 10)
        #expect(budget.spend(bytes: 1 << 20) && budget.spend(elements: 10))
        try budget.check()
        #expect(!budget.spend(bytes: 1) && !budget.isLeft)
        budget.spend(elements: 1)
        let message =
            "answered with a document that is too large to decode: it takes more than 1 MiB of memory; "
            + "use a smaller one, or disable this source"
        #expect(fault { () throws(UpstreamError) in try budget.check() } == message)
        // A second document, past the caches, would cost as much.
        #expect(throws: UpstreamError(.decode, message)) { try budget.check() }
    }

    /// A clock that begins at 0 and advances by `step` seconds at each reading.
    private func clock(step: Int, _ readings: borrowing Mutex<Int>) -> Duration {
        readings.withLock { count in
            count += 1
            return .seconds((count - 1) * step)
        }
    }

    @Test func theClockIsReadNowAndThen() throws {
        let readings = Mutex(0)
        let budget = DecodingBudget(clock: { clock(step: 1, readings) })
        // Once at the start, and then once for each 64 KiB.
        for _ in 0..<(3 * 64 * 1024) { #expect(budget.read(bytes: 1)) }
        #expect(readings.withLock { $0 } == 4)
        #expect(!budget.read(bytes: 64 * 1024))
        let fault = fault { () throws(UpstreamError) in try budget.check() }
        #expect(fault?.contains("takes too long to decode: more than 3 s of CPU time") == true)
    }

    /// A clock that exceeds the limit at its second reading stops each decoder.
    @Test(arguments: [
        rss("<item><title>\(items(20_000, "&amp; "))</title></item>"), rss(items(20_000, "<x/>")),
        "{\"items\":[\(items(20_000, "1,"))1]}", "<!--" + items(50_000, "- ") + "--><rss/>",
        "<rss>\(items(20_000, "<x>&</x>"))</rss>",
    ]) func everyDecoderChecksTheClock(document: String) {
        let readings = Mutex(0)
        let budget = DecodingBudget(clock: { clock(step: 4, readings) })
        #expect(fault(document, budget)?.contains("takes too long to decode") == true)
        #expect(budget.elements < 1000 && budget.bytes < 300_000)
    }

    // MARK: XML

    private static let long = String(repeating: "x", count: 50_000)
    private static let base = "https://h/" + String(repeating: "x", count: 2000)

    /// Each document is refused with a message, after at most the given number of elements.
    @Test(arguments: [
        // Default attributes and other declarations.
        (
            "<!DOCTYPE rss [<!ATTLIST item a CDATA \"\(long)\">]><rss>\(items(9000, "<item/>"))</rss>",
            "document type has declarations, in line 1", 0
        ), ("<!DOCTYPE rss []><rss/>", "has declarations", 0),
        (
            rss("<item xml:base=\"https://h/\(items(25_000, "x/"))\">\(items(9000, "<enclosure url='i.png'/>"))"),
            "answered with XML in which xml:base is longer than 2048 bytes, in line 6", 20
        ),
        (
            "<rss xmlns:a=\"\(items(1 << 20, "x"))\">\(items(20_000, "<a:b/>"))</rss>",
            "answered with XML in which the name of a namespace is longer than 2048 bytes, in line 1", 0
        ), (rss("<item \((0..<50_000).map { "a\($0)='>' " }.joined())/>"), "a tag has more than 10000 attributes", 0),
    ]) func hugePartsAreRefused(document: String, reason: String, elements: Int) {
        let budget = budget()
        #expect(fault(document, budget)?.contains(reason) == true)
        #expect(budget.elements <= elements)
    }

    @Test(arguments: [
        rss("<item>\(items(9000, "<a xml:base=\"\(base)\"/>"))</item>"),
        "<rss>\((0..<20_000).map { "<a\($0)/>" }.joined())</rss>",
        "<rss>\(items(100, "<x \((0..<1000).map { "xmlns:a\($0)='u' " }.joined())>"))",
        rss(
            items(5, "<item xml:base=\"\(base)/\"><description>\(items(300, "&lt;img src=a&gt;"))</description></item>")
        ), "{\"items\":[\(items(25, "{\"id\":\"1\",\"content_text\":\"\(items(4, long))\"},"))0]}",
    ]) func basesNamesURLsAndTextsAreCounted(document: String) {
        let budget = budget(bytes: 1 << 20)
        #expect(fault(document, budget)?.contains("too large to decode") == true)
        #expect(budget.bytes < max(1 << 20, document.utf8.count) + 300_000)
    }

    @Test func aBaseDoesNotGrowFromElementToElement() throws {
        let nested = Self.items(200, "<div xml:base='\(Self.items(100, "y"))/'>")
        let post = try rssPost("<guid>1</guid><x>\(nested)<a/>\(Self.items(200, "</div>"))</x><link>z</link>")
        #expect(post?.url == "https://blog.example/feeds/z")
    }

    @Test(arguments: [rss(items(2000, "<x/>")), "{\"items\":[\(items(2000, "0,"))0]}"])
    func elementsAreCounted(document: String) {
        let budget = budget(elements: 1000)
        #expect(fault(document, budget)?.contains("has more than 1000 elements") == true)
        #expect(budget.elements == 1001)
    }

    @Test func depthIsLimited() {
        let budget = DecodingBudget(.init(depth: 10), clock: { .zero })
        #expect(fault(Self.items(1000, "<rss>"), budget)?.contains("nested too deeply") == true)
        #expect(budget.elements == 11)
    }

    @Test func anEndlessCommentIsReadOnce() {
        let budget = budget()
        let document = "<rss><!--" + Self.items(1_000_000, "- ")
        #expect(fault(document, budget)?.contains("unclosed token") == true)
        // The document is read twice, because a repair is attempted.
        #expect(budget.bytes < 2 * document.utf8.count + 10_000)
    }

    // MARK: HTML, JSON and encodings

    @Test func openTagsOfHTMLAreCounted() {
        let tags = Self.items(100_000, "<b>")
        let budget = budget(elements: 50_000)
        #expect(plainText(fromHTML: tags, budget) == "")
        #expect(budget.elements == 50_001)
        let feed = "{\"items\":[{\"id\":\"1\",\"content_html\":\"\(tags.prefix(200_000))\"}]}"
        #expect(fault(feed, self.budget(elements: 50_000))?.contains("too large to decode") == true)
    }

    @Test func membersAreCounted() {
        let budget = budget(elements: 1000)
        let object = "{\((0..<2000).map { "\"a\($0)\":1," }.joined())\"uid\":\"1\"}"
        let fault = fault { () throws(UpstreamError) in _ = try JSONItems.members(of: Array(object.utf8)[...], budget) }
        #expect(fault?.contains("has more than 1000 elements") == true)
    }

    @Test func theOutputOfAnEncodingIsCounted() {
        // Each invalid byte becomes three bytes of UTF-8.
        let head = Array("<?xml version='1.0' encoding='euc-kr'?><rss>".utf8)
        let budget = budget(bytes: 1 << 20)
        #expect(fault(head + Array(repeating: 0xFF, count: 400_000), budget)?.contains("too large to decode") == true)
        #expect(budget.bytes < 1 << 20 + 64 * 1024)
    }

    // MARK: Users of the budget

    @Test func upstreamsHaveOne() async {
        let transport = FixedTransport("{\"data\":[\(Self.items(1 << 21, "0,"))0]}")
        let error = await failure {
            _ = try await Giphy(
                baseURL: "https://h.example", key: "k", rating: "g", transport: transport, timeout: .seconds(1)
            ).trending(offset: 0, limit: 5)
        }
        expect(error, .decode, "to decode")
    }
}
