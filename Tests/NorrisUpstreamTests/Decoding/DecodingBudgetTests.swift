import Glibc
import NorrisProtocol
import Synchronization
import Testing

@testable import NorrisUpstream

/// What small or hostile documents cost: counted in bytes and elements, never in seconds.
struct DecodingBudgetTests {
    private func budget(bytes: Int = 64 << 20, elements: Int = 2_000_000) -> DecodingBudget {
        DecodingBudget(.init(bytes: bytes, elements: elements), clock: { .zero })
    }

    private func items(_ count: Int, _ item: String) -> String { String(repeating: item, count: count) }

    // MARK: The budget itself

    @Test func theFirstLimitCounts() throws {
        let budget = budget(bytes: 1 << 20, elements: 10)
        #expect(budget.spend(bytes: 1 << 20) && budget.spend(elements: 10))
        try budget.check()
        #expect(!budget.spend(bytes: 1) && !budget.isLeft)
        budget.spend(elements: 1)
        let error = #expect(throws: UnusableBody.self) { try budget.check() }
        guard case .fault(let fault)? = error else { return #expect(Bool(false)) }
        #expect(
            fault
                == "answered with a document that is too large to decode: it takes more than 1 MiB of memory; "
                + "use a smaller one, or disable this source"
        )
    }

    @Test func theClockIsReadNowAndThen() throws {
        let readings = Mutex(0)
        let budget = DecodingBudget(
            clock: {
                readings.withLock { count in
                    count += 1
                    return .seconds(count - 1)
                }
            }
        )
        // At the start, and then once for 64 KiB.
        for _ in 0..<(3 * 64 * 1024) { #expect(budget.read(bytes: 1)) }
        #expect(readings.withLock { $0 } == 4)
        #expect(!budget.read(bytes: 64 * 1024))
        let error = #expect(throws: UnusableBody.self) { try budget.check() }
        guard case .fault(let fault)? = error else { return #expect(Bool(false)) }
        #expect(fault.contains("takes too long to decode: more than 3 s of CPU time"))
    }

    @Test func timeIsTheThreadsOwn() {
        let budget = DecodingBudget(.init(time: .milliseconds(1)))
        var count = 0
        while budget.read(bytes: 64 * 1024), count < 10_000_000 { count += 1 }
        #expect(!budget.isLeft)
        let asleep = DecodingBudget(.init(time: .seconds(1)))
        usleep(1000)
        #expect(asleep.read(bytes: 64 * 1024))
    }

    /// A clock that passes the limit at its second reading ends each decoder.
    @Test(
        arguments: [
            rss("<item><title>\(String(repeating: "&amp; ", count: 20_000))</title></item>"),
            rss(String(repeating: "<x/>", count: 20_000)), "{\"items\":[\(String(repeating: "1,", count: 20_000))1]}",
            "<!--" + String(repeating: "- ", count: 50_000) + "--><rss/>",
            "<rss>\(String(repeating: "<x>&</x>", count: 20_000))</rss>",
        ]
    )
    func everyDecoderLooksAtTheClock(document: String) {
        let readings = Mutex(0)
        let budget = DecodingBudget(
            clock: {
                readings.withLock { count in
                    count += 1
                    return .seconds(count == 1 ? 0 : 4)
                }
            }
        )
        #expect(fault(document, budget)?.contains("takes too long to decode") == true)
        #expect(budget.elements < 1000 && budget.bytes < 300_000)
    }

    // MARK: XML

    @Test func aDefaultAttributeIsNeverSeen() {
        let long = String(repeating: "x", count: 50_000)
        let type = "<!DOCTYPE rss [<!ATTLIST item a CDATA \"\(long)\">]>"
        let document = "\(type)<rss>\(items(9000, "<item/>"))</rss>"
        let budget = budget()
        #expect(fault(document, budget)?.contains("document type has declarations, in line 1") == true)
        #expect(budget.elements == 0)
        #expect(fault("<!DOCTYPE rss []><rss/>")?.contains("has declarations") == true)
        #expect(fault("<!DOCTYPE rss SYSTEM 'x'><rss/>") == nil)
    }

    @Test func aBaseIsShort() throws {
        let long = "https://h/" + String(repeating: "x/", count: 25_000)
        let document = rss("<item xml:base=\"\(long)\">\(items(9000, "<enclosure url='i.png'/>"))</item>")
        let budget = budget()
        #expect(
            fault(document, budget) == "answered with XML in which xml:base is longer than 2048 bytes, in line 6"
        )
        #expect(budget.elements < 20)
        // Nor does it grow from element to element.
        let nested = items(200, "<div xml:base='\(String(repeating: "y", count: 200))/'>")
        let ends = items(200, "</div>")
        let post = try rssPost("<guid>1</guid><x>\(nested)<a/>\(ends)</x><link>z</link>")
        #expect(post?.url == "https://blog.example/feeds/z")
    }

    @Test func manyBasesAreCounted() {
        let base = "https://h/" + String(repeating: "x", count: 2000)
        let budget = budget(bytes: 4 << 20)
        let document = rss("<item>\(items(9000, "<a xml:base=\"\(base)\"/>"))</item>")
        #expect(fault(document, budget)?.contains("too large to decode") == true)
    }

    @Test func theNameOfANamespaceIsShort() {
        let long = String(repeating: "x", count: 1 << 20)
        let document = "<rss xmlns:a=\"\(long)\">\(items(20_000, "<a:b/>"))</rss>"
        let budget = budget()
        #expect(
            fault(document, budget)
                == "answered with XML in which the name of a namespace is longer than 2048 bytes, in line 1"
        )
        #expect(budget.elements == 0)
    }

    @Test func elementsOfOneNameCostNothingMore() throws {
        let uri = String(repeating: "u", count: 2000)
        let cost = { (count: Int) throws -> Int in
            let budget = self.budget()
            let document = "<rss xmlns:a=\"\(uri)\"><channel>\(self.items(count, "<a:b/>"))</channel></rss>"
            _ = try batch(document.utf8, budget)
            return budget.bytes - document.utf8.count
        }
        #expect(try cost(20_000) == cost(1))
    }

    @Test func namesAreCounted() {
        let budget = budget(bytes: 1 << 20)
        #expect(fault("<rss>\((0..<20_000).map { "<a\($0)/>" }.joined())</rss>", budget)?.contains("too large") == true)
        #expect(budget.elements < 5000)
    }

    @Test func declarationsOfNamespacesAreCounted() {
        let budget = budget(bytes: 1 << 20)
        let tag = "<x \((0..<1000).map { "xmlns:a\($0)='u' " }.joined())>"
        #expect(fault("<rss>\(items(100, tag))", budget)?.contains("too large to decode") == true)
    }

    @Test func elementsAreCounted() {
        let budget = budget(elements: 1000)
        #expect(fault(rss(items(2000, "<x/>")), budget)?.contains("has more than 1000 elements") == true)
        #expect(budget.elements == 1001)
    }

    @Test func depthIsOfTheBudget() {
        let budget = DecodingBudget(.init(depth: 10), clock: { .zero })
        #expect(fault(items(1000, "<rss>"), budget)?.contains("nested too deeply") == true)
        #expect(budget.elements == 11)
    }

    @Test func aHugeAttributeIsRefusedBeforeItIsRead() {
        let budget = budget()
        let document = rss("<item a=\"\(String(repeating: "x", count: 5_000_000))\"/>")
        #expect(fault(document, budget)?.contains("a tag is longer than 4 MiB") == true)
        let many = rss("<item \((0..<50_000).map { "a\($0)='>' " }.joined())/>")
        #expect(fault(many, budget)?.contains("a tag has more than 10000 attributes") == true)
        #expect(budget.elements == 0)
    }

    @Test func anEndlessCommentIsReadOnce() {
        let budget = budget()
        let document = "<rss><!--" + String(repeating: "- ", count: 1_000_000)
        #expect(fault(document, budget)?.contains("unclosed token") == true)
        // The document, and once more for the attempt to repair it.
        #expect(budget.bytes < 2 * document.utf8.count + 10_000)
    }

    // MARK: HTML

    @Test func openTagsOfHTMLAreCounted() {
        let tags = items(100_000, "<b>")
        let budget = budget(elements: 50_000)
        #expect(plainText(fromHTML: tags, budget) == "")
        #expect(budget.elements == 50_001)
        let feed = "{\"items\":[{\"id\":\"1\",\"content_html\":\"\(tags.prefix(200_000))\"}]}"
        #expect(fault(feed, self.budget(elements: 50_000))?.contains("too large to decode") == true)
    }

    @Test func addressesOfPicturesAreCounted() {
        let base = "https://h/" + String(repeating: "x", count: 2000) + "/"
        let budget = budget(bytes: 8 << 20)
        let pictures = items(10_000, "&lt;img src=a&gt;")
        let document = rss("<item xml:base=\"\(base)\"><description>\(pictures)</description></item>")
        #expect(fault(document, budget)?.contains("too large to decode") == true)
        #expect(budget.bytes < 8 << 20 + 10_000)
    }

    // MARK: JSON

    @Test func itemsOfJSONAreCounted() {
        let budget = budget(elements: 1000)
        #expect(fault("{\"items\":[\(items(2000, "0,"))0]}", budget)?.contains("has more than 1000 elements") == true)
        #expect(budget.elements == 1001)
    }

    @Test func textsOfJSONAreCounted() {
        let budget = budget(bytes: 3 << 19)
        let item = "{\"id\":\"1\",\"content_text\":\"\(String(repeating: "x", count: 200_000))\"},"
        #expect(fault("{\"items\":[\(items(5, item))0]}", budget)?.contains("too large to decode") == true)
    }

    @Test func jsonIsFlat() {
        let budget = budget()
        #expect(fault("{\"items\":[\(items(100_000, "["))", budget)?.contains("nested too deeply") == true)
        #expect(budget.elements == 0)
    }

    @Test func membersOfUsersAreCounted() {
        let budget = budget(elements: 1000)
        let user = "{\((0..<2000).map { "\"a\($0)\":1," }.joined())\"uid\":\"1\"}"
        let error = #expect(throws: UnusableBody.self) {
            try PostBatch(usersPosts: Array("{\"data\":[\(user),1]}".utf8), source: "team", budget)
        }
        guard case .fault(let fault)? = error else { return #expect(Bool(false)) }
        #expect(fault.contains("has more than 1000 elements"))
    }

    // MARK: Encodings

    @Test func whatAnEncodingMakesIsCounted() {
        // Each byte that is no character becomes three.
        let head = Array("<?xml version='1.0' encoding='euc-kr'?><rss>".utf8)
        let document = head + Array(repeating: 0xFF, count: 400_000)
        let budget = budget(bytes: 1 << 20)
        #expect(fault(document, budget)?.contains("too large to decode") == true)
        #expect(budget.bytes < 1 << 20 + 64 * 1024)
    }

    @Test(arguments: ["utf-7", "iso-2022-jp", "hz-gb-2312", "utf-16//translit", "iso-2022-kr", "c99"])
    func encodingsWithStatesAreUnknown(name: String) {
        let document = "<?xml version='1.0' encoding='\(name)'?><rss>\(items(1000, "+/v8-"))</rss>"
        #expect(fault(document)?.contains("which norrisd does not know") == true)
    }

    // MARK: Where it is used

    @Test(arguments: ["feed", "statuses", "users", "jokes", "gifs"])
    func everyUpstreamHasOne(kind: String) async {
        let many = items(1 << 21, "0,") + "0"
        let answers = [
            "users": "{\"data\":[\(many)]}", "jokes": "{\"result\":[\(many)]}", "feed": "{\"items\":[\(many)]}",
        ]
        let transport = FixedTransport(answers[kind] ?? "[\(many)]")
        let gifs = FixedTransport("{\"data\":[\(many)],\"meta\":{}}")
        do throws(UpstreamError) {
            let url = "https://h.example"
            switch kind {
            case "feed": _ = try await posts(Feed(url: url, source: "x", transport: transport))
            case "statuses": _ = try await posts(Mastodon(baseURL: url, source: "x", transport: transport))
            case "users": _ = try await posts(UsersPosts(baseURL: url, source: "x", transport: transport))
            case "jokes":
                _ = try await Chucknorris(baseURL: url, transport: transport, timeout: .seconds(1)).search("chuck")
            default:
                let giphy = Giphy(baseURL: url, key: "k", rating: "g", transport: gifs, timeout: .seconds(1))
                _ = try await giphy.trending(offset: 0, limit: 5)
            }
            #expect(Bool(false))
        } catch {
            #expect(error.kind == .decode)
            let limits = ["to decode", "answered with more than 100000"]
            #expect(limits.contains { error.message.contains($0) }, "\(error.message)")
        }
    }

    private func posts(_ upstream: some PostUpstream) async throws(UpstreamError) -> Fetched<PostBatch> {
        try await upstream.posts(validators: Validators(), timeout: .seconds(1))
    }
}
