import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct MastodonTests {
    private func town(_ body: String) -> Fetched { decoded(body, as: .mastodon) { $0.source = "town" } }

    private static let status = #"{"id":"1","content":"<p>Hi</p>","account":{"id":"2","username":"ann","acct":"ann"}}"#

    @Test func theTimelineIsFetched() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let path = "/api/v1/timelines/public"
            let body = Array("[\(Self.status)]".utf8)
            fixture.upstream.setDocument(path, contentType: "application/json", body: body)
            fixture.upstream.setHeaders([("X-RateLimit-Remaining", "299")])
            let fetched = await fixture.fetch(.mastodon) { request in
                request.url += "/"
                request.source = "town"
            }
            let ann = Post.Author(id: "town:2", name: "ann", handle: "@ann@127.0.0.1")
            #expect(fetched.posts == [Post(id: "town:1", source: "town", author: ann, text: "Hi")])
            #expect(fetched.head.etag?.hasPrefix("W/\"") == true)
            #expect((fetched.head.notBefore, fetched.skipped, fetched.head.authors) == (nil, 0, []))
            #expect(fixture.upstream.requests.map(\.target) == ["\(path)?limit=40"])
        }
    }

    // MARK: Bodies

    @Test func soundsVideosAndPollsAreRead() throws {
        let media = """
            "media_attachments":[{"type":"audio","url":"https://f.example/a.mp3","meta":{"duration":12.0}},
            {"type":"video","url":"https://f.example/v.mp4","preview_url":"https://f.example/v.png"},
            {"type":"unknown","url":null,"remote_url":"https://far.example/x"},{"type":"unknown","url":null}],
            "poll":{"options":[{"title":"Green tea"},{"title":null},{"title":"Coffee"}]},"account"
            """
        let post = try #require(town("[\(Self.status.replacing(#""account""#, with: media))]").posts.first)
        #expect(post.text == "Hi\n\n- Green tea\n- Coffee")
        #expect(post.images.map(\.url) == ["https://f.example/v.png"])
        #expect(
            post.attachments.map(\.url) == [
                "https://f.example/a.mp3", "https://f.example/v.mp4", "https://far.example/x",
            ])
        #expect(post.attachments[0].seconds == 12)
    }

    @Test(arguments: [
        "5", #"{"id":"1","account":null,"content":"x"}"#, #"{"id":"1","account":{"acct":"x"},"content":"x"}"#,
        #"{"account":{"id":"2"},"content":"x"}"#, #"{"id":"1","account":{"id":"2"},"content":"<p></p>"}"#,
        #"{"id":"1" "account":{"id":"2"}}"#,
    ]) func aBadStatusCostsNoOther(status: String) {
        let last = Self.status.replacing(#""id":"1""#, with: #""id":"9""#)
        let batch = town("[\(Self.status),\(status),\(last)]")
        #expect(batch.posts.map(\.id) == ["town:1", "town:9"])
        #expect(batch.skipped == 1)
    }
}

struct StatusTests {
    private func post(_ json: String) throws -> Post? {
        var builder = PostBatchBuilder(source: "town")
        guard
            let post = JSONItem(item: Array(json.utf8)[...])
                .flatMap({ Post(status: $0, host: "town.example") })
        else { return nil }
        try builder.add(post)
        return try builder.batch().posts.first
    }

    private func post(with members: String) throws -> Post {
        try #require(try post(#"{"id":"1","account":{"id":"2","acct":"ann"},"uri":"https://h/1",\#(members)}"#))
    }

    private func text(_ html: String) throws -> String? {
        try post(with: "\"content\":\(String(decoding: html.jsonBytes, as: UTF8.self))").text
    }

    private func image(_ attachment: String) throws -> Post.Image? {
        try post(with: #""media_attachments":[\#(attachment)]"#).images.first
    }

    @Test func aWholeStatus() throws {
        let post = try post(
            """
            {"id":"113519234987654321","created_at":"2024-11-20T18:03:11.482Z","in_reply_to_id":null,
            "sensitive":true,"spoiler_text":"Lunch, with photo","visibility":"public",
            "language":"en","uri":"https://far.example/users/Ada/statuses/113519234987654321",
            "url":"https://far.example/@Ada/113519234987654321","replies_count":2,"reblogs_count":3,
            "favourites_count":14,"edited_at":null,"content":"<p>Soup again :blobcat:</p><p>See you &amp; all</p>",
            "reblog":null,"account":{"id":"109876","username":"Ada","acct":"Ada@far.example","display_name":"Ada L. 🌱",
            "locked":false,"bot":false,"note":"<p>x</p>","url":"https://far.example/@Ada",
            "avatar":"https://files.town.example/cache/ada.png","avatar_static":"https://files.town.example/x.png",
            "emojis":[],"fields":[]},
            "media_attachments":[{"id":"7","type":"image","url":"https://files.town.example/soup.jpg",
            "preview_url":"https://files.town.example/soup-small.jpg","remote_url":"https://far.example/soup.jpg",
            "meta":{"original":{"width":1600,"height":1200,"size":"1600x1200","aspect":1.3333333333333333},
            "small":{"width":554,"height":416}},"description":"A bowl of\\nred soup","blurhash":"UBL_:rOpGG-oBUNG"}],
            "mentions":[],"tags":[{"name":"soup","url":"https://town.example/tags/soup"},
            {"name":"Lunch","url":"https://town.example/tags/Lunch"}],
            "emojis":[{"shortcode":"blobcat","url":"https://files.town.example/blobcat.png"}],"card":null,"poll":null}
            """)
        #expect(
            post
                == Post(
                    id: "town:113519234987654321", source: "town",
                    author: Post.Author(
                        id: "town:109876", name: "Ada L. 🌱", handle: "@Ada@far.example",
                        avatarURL: "https://files.town.example/cache/ada.png"),
                    publishedAt: Timestamp("2024-11-20T18:03:11Z"), title: "Lunch, with photo",
                    text: "Soup again :blobcat:\n\nSee you & all", isSensitive: true, tags: ["soup", "Lunch"],
                    images: [
                        Post.Image(
                            url: "https://files.town.example/soup.jpg", width: 1600, height: 1200,
                            alt: "A bowl of red soup")
                    ], stats: Post.Stats(likes: 14, comments: 2, shares: 3),
                    url: "https://far.example/@Ada/113519234987654321"))
    }

    // MARK: Text

    @Test(
        "Links, mentions and tags read as they are written",
        arguments: [
            (
                """
                <p>See <a href="https://blog.example/2024/11/a-long-way-home" target="_blank"><span class="invisible">\
                https://www.</span><span class="ellipsis">blog.example/2024/11/a-long-w</span>\
                <span class="invisible">ay-home</span></a></p>
                """, "See https://www.blog.example/2024/11/a-long-way-home[1]"
            ),
            (
                """
                <p><span class="h-card"><a href="https://h/@ben" class="u-url mention">@<span>ben</span></a></span> \
                yes</p>
                """, "@ben yes"
            ),
            (#"<a href="https://h/tags/x" class="mention hashtag" rel="tag">#<span>x</span></a>"#, "#x"),
            ("<p>a<br>b &lt;c&gt;</p><p>&#27;[31md</p>", "a\nb <c>\n\nd"),
        ]
    )
    func text(html: String, expected: String) throws { #expect(try text(html) == expected) }

    @Test(
        "Content hidden by the author is sensitive",
        arguments: [
            (#""spoiler_text":"Food","sensitive":false"#, "Food", true),
            (#""spoiler_text":"","sensitive":false"#, nil, false), (#""spoiler_text":"","sensitive":true"#, nil, false),
            (#""spoiler_text":" \u200b","sensitive":false"#, nil, false),
            (#""spoiler_text":"","sensitive":true,"media_attachments":[{"type":"unknown"}]"#, nil, true),
            (#""spoiler_text":"","sensitive":false,"media_attachments":[{"type":"unknown"}]"#, nil, false),
            (#""spoiler_text":null,"sensitive":"true","media_attachments":[{}]"#, nil, false),
        ] as [(String, String?, Bool)]
    )
    func warnings(members: String, title: String?, isSensitive: Bool) throws {
        let post = try post(with: members)
        #expect(post.title == title)
        #expect(post.isSensitive == isSensitive)
    }

    // MARK: Authors

    @Test(
        arguments: [
            (#""username":"ann","acct":"ann","display_name":"Ann""#, "Ann", "@ann@town.example"),
            (#""username":"ann","acct":"ann@far.example","display_name":"""#, "ann", "@ann@far.example"),
            (#""username":"ann","display_name":" \u200b""#, "ann", "@ann@town.example"),
            (#""acct":"ann""#, "@ann@town.example", "@ann@town.example"),
            (#""username":5,"acct":null,"avatar":null"#, "town", nil),
        ] as [(String, String, String?)]
    )
    func authors(members: String, name: String, handle: String?) throws {
        let post = try post(#"{"id":"1","uri":"https://h/1","account":{"id":"2",\#(members)}}"#)
        #expect(post?.author == Post.Author(id: "town:2", name: name, handle: handle))
    }

    // MARK: Media

    private static let both = """
        "preview_url":"https://h/p.png","description":"A cat",\
        "meta":{"original":{"width":9,"height":8},"small":{"width":5,"height":4}}
        """
    private static let preview = Post.Image(url: "https://h/p.png", width: 5, height: 4, alt: "A cat")

    @Test(
        arguments: [
            (
                #"{"type":"image","url":"https://h/o.png",\#(both)}"#,
                Post.Image(url: "https://h/o.png", width: 9, height: 8, alt: "A cat")
            ), (#"{"type":"image","url":null,\#(both)}"#, preview),
            (#"{"type":"gifv","url":"https://h/o.mp4",\#(both)}"#, preview),
            (#"{"type":"video","url":"https://h/o.mp4",\#(both)}"#, preview),
            (#"{"type":"audio","url":"https://h/a.mp3",\#(both)}"#, nil),
            (#"{"type":"unknown","url":"https://h/a",\#(both)}"#, nil),
            (#"{"type":"video","url":"https://h/a.mp4","preview_url":null}"#, nil),
            (#"{"type":"image","url":"cid:1"}"#, nil), ("5", nil),
        ] as [(String, Post.Image?)]
    )
    func pictures(attachment: String, expected: Post.Image?) throws { #expect(try image(attachment) == expected) }

    @Test func whatIsPassedOnSpeaksForItself() throws {
        let post = try post(
            """
            {"id":"50","created_at":"2024-11-20T18:03:11.482Z","content":"","uri":"https://h/50/activity","url":null,
            "account":{"id":"2","username":"ann","acct":"ann"},"tags":[],"media_attachments":[],"favourites_count":0,
            "reblog":{"id":"9","created_at":"2023-01-01T00:00:00.000Z","content":"<p>Old news</p>","reblog":null,
            "spoiler_text":"News","url":"https://far.example/@ben/9","tags":[{"name":"old"}],"favourites_count":3,
            "account":{"id":"3","username":"ben","acct":"ben@far.example"},
            "media_attachments":[{"type":"image","url":"https://h/i.png"}]}}
            """)
        #expect(
            post
                == Post(
                    id: "town:50", source: "town",
                    author: Post.Author(id: "town:3", name: "ben", handle: "@ben@far.example"),
                    publishedAt: Timestamp("2024-11-20T18:03:11Z"), title: "News", text: "Old news", isSensitive: true,
                    tags: ["old"], images: [Post.Image(url: "https://h/i.png")], stats: Post.Stats(likes: 3),
                    url: "https://far.example/@ben/9"))
    }
}
