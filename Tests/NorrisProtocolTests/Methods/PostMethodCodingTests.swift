import NorrisProtocol
import Testing

struct PostMethodCodingTests {
    private let post = Post(id: "t:1", source: "t", author: Post.Author(id: "t:2", name: "Ada"))
    private let postJSON = #"{"id":"t:1","source":"t","author":{"id":"t:2","name":"Ada"},"tags":[],"images":[],"#
        + #""stats":{},"read":false}"#

    @Test func postList() throws {
        try check(
            PostList.Parameters(source: "t", author: "Ada", unread: true, limit: 100, cursor: "c"),
            of: PostList.self, json: #"{"source":"t","author":"Ada","unread":true,"limit":100,"cursor":"c"}"#
        )
        try check(PostList.Parameters(), of: PostList.self, json: "{}")
        checkCoding(
            PostList.Result(items: [post], total: 1, next: "c", freshness: Freshness(origin: .cache, state: .fresh)),
            json: #"{"items":["# + postJSON
                + #"],"total":1,"next":"c","freshness":{"origin":"cache","state":"fresh","error":null}}"#
        )
    }

    @Test func postGet() throws {
        try check(IDParameters(id: "t:1"), of: PostGet.self, json: #"{"id":"t:1"}"#)
        checkCoding(PostGet.Result(post: post), json: #"{"post":"# + postJSON + "}")
    }

    @Test func postMarkRead() throws {
        let arguments = try check(
            PostMarkRead.Parameters(ids: ["t:1", "t:2"]), of: PostMarkRead.self, json: #"{"ids":["t:1","t:2"]}"#
        )
        #expect(arguments.strings("ids") == ["t:1", "t:2"])
        try check(PostMarkRead.Parameters(all: true), of: PostMarkRead.self, json: #"{"all":true}"#)
        checkCoding(PostMarkRead.Result(marked: 2), json: #"{"marked":2}"#)
    }

    @Test func authorList() {
        checkCoding(
            AuthorList.Author(id: "t:2", name: "Ada", handle: "@ada", avatarURL: "https://a", postCount: 3),
            json: #"{"id":"t:2","name":"Ada","handle":"@ada","avatar_url":"https://a","post_count":3}"#
        )
        checkCoding(
            AuthorList.Author(id: "t:2", name: "Ada", postCount: 0), json: #"{"id":"t:2","name":"Ada","post_count":0}"#
        )
    }
}
