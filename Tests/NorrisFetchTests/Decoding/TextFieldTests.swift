import NorrisProtocol
import Testing

@testable import NorrisFetch

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

    @Test func aMailboxMayRepeatItsAddress() {
        let mailbox = Mailbox("jane@example.org (Jane Doe, jane@example.org)")
        #expect((mailbox.name, mailbox.email) == ("Jane Doe,", "jane@example.org"))
    }
}
