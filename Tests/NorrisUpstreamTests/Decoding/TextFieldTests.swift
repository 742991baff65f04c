import NorrisProtocol
import NorrisThreads
import Testing

@testable import NorrisUpstream

struct TextFieldTests {
    @Test(arguments: [TextField.id, .name, .tag, .line, .text]) func aLongTextIsCutBetweenCodePoints(field: TextField) {
        let text = String(repeating: "x", count: field.limit - 1)
        #expect(field.cut(text + "y") == text + "y")
        #expect(field.cut(text + "😀") == text)
        #expect(field.cut(text + "e\u{301}") == text + "e")
    }

    @Test(arguments: [TextField.word, .date, .url]) func aPartOfAWordIsNone(field: TextField) {
        let text = String(repeating: "x", count: field.limit)
        #expect(field.cut(text) == text)
        #expect(field.cut(text + "y") == nil)
    }

    @Test func everyTextOfAnElementIsCut() throws {
        let long = String(repeating: "x", count: 300 << 10)
        let post = try rssPost(
            "<guid>\(long)</guid><author>\(long)</author><title>\(long)</title><category>\(long)</category>"
                + "<pubDate>\(long)</pubDate><link>https://h/\(long)</link><description>\(long)</description>")
        #expect(post?.id == Post.id(String(long.prefix(TextField.id.limit)), in: "blog"))
        #expect(post?.author.name.unicodeScalars.count == 200)
        #expect(post?.title?.unicodeScalars.count == 500)
        #expect(post?.text?.unicodeScalars.count == 10_000)
        #expect(post?.tags.map(\.unicodeScalars.count) == [100])
        #expect(post?.url == nil)
        #expect(post?.publishedAt == nil)
    }

    /// The cost is proportional to the size of the document, for every field.
    @Test(arguments: [
        "author", "dc:creator", "title", "link", "guid", "pubDate", "category", "description", "content:encoded",
        "media:description", "itunes:author", "slash:comments",
    ]) func aFieldCostsWhatItsLimitDoes(name: String) throws {
        for piece in ["a@b ", "a@", "&lt;", "&amp;", "&lt;a &quot;", "( ", "\u{301}", "-"] {
            let budget = DecodingBudget(.init(bytes: 8 << 20, memory: 8 << 20), clock: { .zero })
            let document = rss(
                "<item><guid>1</guid><\(name)>\(String(repeating: piece, count: 100_000))</\(name)><title>t</title></item>"
            )
            _ = try batch(document.utf8, budget)
        }
    }

    @Test func aMailboxMayRepeatItsAddress() {
        let mailbox = Mailbox("jane@example.org (Jane Doe, jane@example.org)")
        #expect((mailbox.name, mailbox.email) == ("Jane Doe,", "jane@example.org"))
    }
}

struct DecodingMemoryTests {
    private func budget(_ ledger: MemoryLedger, memory: Int = 48 << 20, isLarge: Bool = false) -> DecodingBudget {
        DecodingBudget(.init(memory: memory), isLarge: isLarge, ledger: ledger, clock: { .zero })
    }

    @Test(arguments: [
        rss(
            String(repeating: "<item><guid>x</guid><title>aaaaaaaaaaaaaaaaaaaa</title></item>", count: 1)
                + (0..<20_000).map { "<item><guid>\($0)</guid><title>t</title></item>" }.joined()),
        "{\"items\":[\((0..<20_000).map { "{\"id\":\($0),\"url\":\"https://h/\"}" }.joined(separator: ","))]}",
    ]) func tinyItemsAreCounted(document: String) {
        let fault = fault(document, budget(MemoryLedger(), memory: 4 << 20))
        #expect(fault?.contains("takes more than 4 MiB of memory") == true)
    }

    @Test func memoryIsGivenBackWithTheBatch() throws {
        let ledger = MemoryLedger()
        let document = rss((0..<2000).map { "<item><guid>\($0)</guid><title>t</title></item>" }.joined())
        withExtendedLifetime(try batch(document.utf8, budget(ledger))) { batch in
            #expect(batch.posts.count == 2000)
            #expect(ledger.used(of: .decoding) > 2000 * 500)
        }
        #expect(ledger.used(of: .decoding) == 0)
    }

    @Test func aFullLedgerIsNoFaultOfTheDocument() {
        let ledger = MemoryLedger(limits: [.decoding: DecodingBudget.smallReserve + (2 << 20)])
        let large = budget(ledger, isLarge: true)
        #expect(large.hold(1 << 20))
        #expect(!large.hold(2 << 20))
        let error = failure { () throws(UpstreamError) in try large.check() }
        #expect(error?.kind == .decode && error?.isRetryable == true)
        // The reserve for small documents remains available.
        #expect(budget(ledger).hold(10 << 20))
    }

    @Test func latin1TakesItsTextOnly() throws {
        var body =
            Array("<?xml version='1.0' encoding='iso-8859-1'?><rss>".utf8) + Array(repeating: 0xE9, count: 1 << 20)
        let budget = budget(MemoryLedger())
        #expect(try convertToText(&body, contentType: nil, budget))
        #expect(body.count > 2 << 20 && budget.held == body.count)
    }

    private func failure(_ body: () throws(UpstreamError) -> Void) -> UpstreamError? {
        do throws(UpstreamError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
