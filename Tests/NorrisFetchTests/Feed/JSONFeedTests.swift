import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

struct JSONFeedTests {
    private func post(_ item: String, feed: String = #""title":"Blog""#) throws -> Post? {
        let batch = try batch(#"{"version":"https://jsonfeed.org/version/1.1",\#(feed),"items":[\#(item)]}"#)
        return batch.posts.count == 1 ? batch.posts[0] : nil
    }

    @Test func aFeed() throws {
        let batch = try batch(
            """
            {"version":"https://jsonfeed.org/version/1.1","items":[
            {"id":"1","url":"/1","external_url":"https://other.example/","title":"A &amp; B",
            "content_html":"<p>One</p><p>Two <img src='c.png' alt='C'></p>","content_text":"no","summary":"no",
            "image":"a.png","banner_image":"https://x.example/b.png","date_published":"2026-11-21T03:25:04+01:00",
            "date_modified":"2026-11-22T00:00:00Z","authors":[{"name":"Jane","url":"https://jane.example/",
            "avatar":"/jane.png"},{"name":"Joe"}],"tags":["Linux","#x",5],"language":"en",
            "attachments":[{"url":"/d.jpg","mime_type":"image/jpeg","title":"D"},
            {"url":"/e.mp3","mime_type":"audio/mpeg"},{"mime_type":"image/png"},7]},
            {"id":2,"content_text":"Plain\\ntext <b>","author":{"name":"Old"}}],
            "title":"Blog","icon":"/icon.png","authors":[{"name":"The Team"}],"hubs":[]}
            """)
        let both = Post.Author(id: Post.id("Jane, Joe", in: "blog"), name: "Jane, Joe")
        let first = Post(
            id: "blog:1", source: "blog", author: both, publishedAt: Timestamp("2026-11-21T02:25:04Z"),
            title: "A &amp; B", text: "One\n\nTwo C", markdown: "One\n\nTwo ![C](https://blog.example/c.png)",
            tags: ["Linux", "x"],
            images: [
                Post.Image(url: "https://blog.example/feeds/a.png"), Post.Image(url: "https://x.example/b.png"),
                Post.Image(url: "https://blog.example/d.jpg", alt: "D"),
                Post.Image(url: "https://blog.example/c.png", alt: "C"),
            ], attachments: [Post.Attachment(url: "https://blog.example/e.mp3", type: "audio/mpeg")],
            links: ["https://blog.example/e.mp3"], url: "https://blog.example/1")
        let old = Post.Author(id: "blog:Old", name: "Old")
        let second = Post(
            id: "blog:2", source: "blog", author: old, text: "Plain\ntext <b>", markdown: "Plain\\\ntext \\<b>")
        #expect(batch.posts == [first, second])
        #expect(batch.head == head { $0.title = "Blog" })
    }

    @Test func theFeedWritesWhatNobodyElseWrites() throws {
        let item = #"{"id":"1","title":"x"}"#
        #expect(try post(item)?.author.name == "Blog")
        let author = try post(item, feed: #""title":"Blog","icon":"/i.png","author":{"name":"Jane"}"#)?.author
        #expect(author?.name == "Jane")
        #expect(author?.avatarURL == "https://blog.example/i.png")
        let mail = try post(item, feed: #""authors":[{"name":"Jane","url":"mailto:Jane@x.example"}]"#)?.author
        #expect(mail?.email == "jane@x.example")
        #expect(mail?.id == Post.id("jane@x.example\nJane", in: "blog"))
    }

    @Test(
        "Authors are texts, objects or lists",
        arguments: [
            (#""author":"Ada""#, "Ada"), (#""authors":{"name":"Ben"}"#, "Ben"),
            (#""authors":["Ada","Ben"]"#, "Ada, Ben"),
            (#""authors":"Ada""#, "Ada"), (#""author":[{"name":"Ben"}]"#, "Ben"),
            (#""authors":[{}],"author":"Ada""#, "Ada"),
            (#""authors":["",{"name":"Ben"}]"#, "Ben"), (#""authors":[5],"author":null"#, "Blog"),
        ])
    func authors(members: String, name: String) throws {
        #expect(try post(#"{"id":"1","title":"x",\#(members)}"#)?.author.name == name)
    }

    @Test("Values are read as browsers read them") func lenientValues() throws {
        let depth = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let item =
            #"{"id":1860123456789012345,"title":"a","title":"b \ud83d\u0041","_n":[1e999,18601234567890123456],"#
            + #""_d":\#(depth),"tags":"one","date_published":1732180500,"#
            + #""attachments":{"url":"/a.mp3","size_in_bytes":4096.0,"duration_in_seconds":65.7}}"#
        let post = try #require(try post(item))
        #expect((post.id, post.title, post.tags) == ("blog:1860123456789012345", "b A", ["one"]))
        #expect(post.publishedAt?.description == "2024-11-21T09:15:00Z")
        #expect(post.attachments.map(\.bytes) == [4096])
        #expect(post.attachments.map(\.seconds) == [65])
    }

    @Test(arguments: [
        (#"{"id":"1","content_html":" ","content_text":"text","summary":"s"}"#, "text"),
        (#"{"id":"1","content_html":5,"summary":"a & b"}"#, "a & b"), (#"{"id":"1","title":"t"}"#, nil),
    ]) func texts(item: String, expected: String?) throws { #expect(try #require(try post(item)).text == expected) }

    @Test(
        arguments: [
            (#"{"id":"https://x.example/1","title":"x"}"#, "https://x.example/1", "https://x.example/1"),
            (#"{"url":"https://x.example/1"}"#, "https://x.example/1", "https://x.example/1"),
            (#"{"external_url":"https://x.example/1","id":""}"#, "https://x.example/1", "https://x.example/1"),
            (#"{"id":"7","url":"javascript:alert(1)","title":"x"}"#, "7", nil), (#"{"title":"x"}"#, "x\n", nil),
        ] as [(String, String, String?)]
    )
    func ids(item: String, id: String, url: String?) throws {
        let post = try #require(try post(item))
        #expect(post.id == Post.id(id, in: "blog"))
        #expect(post.url == url)
    }

    @Test func badItemsAreSkippedAndCounted() throws {
        let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        let batch = try batch(
            #"{"items":[5,null,{"id":"1"},{"id":"2","title":"x","_x":\#(deep)},{"id" 3},{"id":"4","title":"good"}]}"#)
        #expect(batch.posts.map(\.title) == ["good"])
        #expect(batch.skipped == 5)
    }

    @Test(arguments: [
        (#"{"items":[{"id":"1","title":"x""#, "incomplete JSON"), ("{}", "JSON without items"),
        (#"{"items":{}}"#, "items is not an array"), (#"{"items":[{}]}"#, "none of them usable"),
    ]) func whatIsWrongIsSaid(document: String, reason: String) { #expect(fault(document)?.contains(reason) == true) }
}
