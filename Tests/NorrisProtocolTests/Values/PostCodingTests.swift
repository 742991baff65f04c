import NorrisProtocol
import Testing

struct PostCodingTests {
    @Test func hasAllItsMembers() {
        checkCoding(
            Post(
                id: "town:1",
                source: "town",
                author: Post.Author(
                    id: "town:7", name: "Ada", handle: "@ada", avatarURL: "https://a/p.png", email: "ada@example.org"
                ),
                publishedAt: Timestamp(seconds: 0),
                title: "Hello",
                text: "One\ntwo",
                isSensitive: true,
                tags: ["a", "b"],
                images: [Post.Image(url: "https://i/1.png", width: 2, height: 1, alt: "A cat")],
                stats: Post.Stats(likes: 12, comments: 1, shares: 0),
                url: "https://town/1",
                isRead: true
            ),
            json: #"{"id":"town:1","source":"town","author":{"id":"town:7","name":"Ada","handle":"@ada","#
                + #""avatar_url":"https://a/p.png","email":"ada@example.org"},"published_at":"1970-01-01T00:00:00Z","#
                + #""title":"Hello","text":"One\ntwo","sensitive":true,"tags":["a","b"],"#
                + #""images":[{"url":"https://i/1.png","width":2,"height":1,"alt":"A cat"}],"#
                + #""stats":{"likes":12,"comments":1,"shares":0},"url":"https://town/1","read":true}"#
        )
    }

    @Test func leavesOutWhatIsUnknown() {
        checkCoding(
            Post(id: "t:1", source: "t", author: Post.Author(id: "t:2", name: "Ada")),
            json: #"{"id":"t:1","source":"t","author":{"id":"t:2","name":"Ada"},"tags":[],"images":[],"stats":{},"#
                + #""read":false}"#
        )
    }

    @Test(arguments: ["id", "source", "author", "tags", "images", "stats", "read"])
    func refusesToBeWithout(_ key: String) throws {
        var object: JSONObject = [
            "id": "t:1", "source": "t", "author": ["id": "t:2", "name": "Ada"], "tags": [], "images": [],
            "stats": [:], "read": false,
        ]
        object[key] = nil
        #expect(throws: JSONDecodingError(path: key, message: "is missing")) { try Post(json: .object(object)) }
    }
}
