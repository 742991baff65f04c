import NorrisProtocol
import Testing

struct FavoriteMethodCodingTests {
    private let favorite = Favorite(kind: .gif, id: "a", title: "t", addedAt: Timestamp(seconds: 0))
    private let favoriteJSON = #"{"kind":"gif","id":"a","title":"t","added_at":"1970-01-01T00:00:00Z"}"#

    @Test func favorites() {
        checkCoding(favorite, json: favoriteJSON)
        let fact = Fact(id: "f", text: "t", categories: [], source: "builtin")
        checkCoding(
            Favorite(kind: .fact, id: "f", title: "t", addedAt: Timestamp(seconds: 1), fact: fact),
            json: #"{"kind":"fact","id":"f","title":"t","added_at":"1970-01-01T00:00:01Z","fact":"#
                + fact.jsonText + "}"
        )
        let post = Post(id: "t:1", source: "t", author: Post.Author(id: "t:2", name: "Ada"))
        checkCoding(
            Favorite(kind: .post, id: "t:1", title: "t", addedAt: Timestamp(seconds: 1), post: post),
            json: #"{"kind":"post","id":"t:1","title":"t","added_at":"1970-01-01T00:00:01Z","post":"# + post.jsonText
                + "}"
        )
        let gif = Gif(id: "a", title: "t", rating: "g", pageURL: "https://g")
        checkCoding(
            Favorite(kind: .gif, id: "a", title: "t", addedAt: Timestamp(seconds: 1), gif: gif),
            json: #"{"kind":"gif","id":"a","title":"t","added_at":"1970-01-01T00:00:01Z","gif":"# + gif.jsonText + "}",
            ignoresUnknown: false
        )
    }

    @Test func favoriteAddAndRemove() throws {
        for method in [FavoriteAdd.self, FavoriteRemove.self] {
            try check(ItemParameters(kind: .post, id: "t:1"), of: method, json: #"{"kind":"post","id":"t:1"}"#)
            #expect(throws: ResponseError.self) { try method.arguments(from: ["kind": "card", "id": "a"]) }
            #expect(throws: ResponseError.self) { try method.arguments(from: ["kind": "gif"]) }
        }
        checkCoding(FavoriteAdd.Result(added: true), json: #"{"added":true}"#)
        checkCoding(FavoriteRemove.Result(removed: false), json: #"{"removed":false}"#)
    }

    @Test func favoriteList() throws {
        try check(
            FavoriteList.Parameters(kind: .fact, limit: 100, cursor: "c"), of: FavoriteList.self,
            json: #"{"kind":"fact","limit":100,"cursor":"c"}"#
        )
        try check(FavoriteList.Parameters(), of: FavoriteList.self, json: "{}")
        checkCoding(
            FavoriteList.Result(items: [favorite], total: 1), json: #"{"items":["# + favoriteJSON + #"],"total":1}"#
        )
    }

    @Test func favoriteImport() throws {
        try check(
            FavoriteImport.Parameters(items: [favorite]), of: FavoriteImport.self,
            json: #"{"items":["# + favoriteJSON + "]}"
        )
        checkCoding(FavoriteImport.Result(added: 2, known: 1), json: #"{"added":2,"known":1}"#)
    }

    @Test func recentServed() throws {
        try check(RecentServed.Parameters(kind: .gif), of: RecentServed.self, json: #"{"kind":"gif"}"#)
        checkCoding(RecentServed.Result(id: "a"), json: #"{"id":"a"}"#)
    }
}
