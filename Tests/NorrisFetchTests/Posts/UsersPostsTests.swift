import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct UsersPostsTests {
    private func team(_ body: String) -> Fetched { decoded(body, as: .usersPosts) { $0.source = "team" } }

    /// A recorded response.
    private static let recorded = """
        {"data":[{"uid":"e406bae8-1fd4-4e33-81d3-2fd053a40493","name":"Charles Riasc",
        "email":"Delaney.Walsh@gmail.com","profile_pic":"https://mock.koombea.io/profile/profile9.jpg",
        "posts":[{"id":50531,"date":"Tue Mar 08 2022 06:56:06 GMT-0500",
        "pics":["https://mock.koombea.io/pics/pics104.jpg"]},
        {"id":5054431,"date":"Tue Mar 08 2022 06:56:06 GMT-0500",
        "pics":["https://mock.koombea.io/pics/pics10.jpg","https://mock.koombea.io/pics/pics11.jpg"]}]}]}
        """

    private static let charles = Post.Author(
        id: "team:e406bae8-1fd4-4e33-81d3-2fd053a40493", name: "Charles Riasc",
        avatarURL: "https://mock.koombea.io/profile/profile9.jpg", email: "delaney.walsh@gmail.com")

    private static let charlesPosts = [
        Post(
            id: "team:50531", source: "team", author: charles, publishedAt: Timestamp("2022-03-08T11:56:06Z"),
            images: [Post.Image(url: "https://mock.koombea.io/pics/pics104.jpg")]),
        Post(
            id: "team:5054431", source: "team", author: charles, publishedAt: Timestamp("2022-03-08T11:56:06Z"),
            images: [
                Post.Image(url: "https://mock.koombea.io/pics/pics10.jpg"),
                Post.Image(url: "https://mock.koombea.io/pics/pics11.jpg"),
            ]),
    ]

    private func posts(_ posts: String) -> Fetched { team(#"{"data":[{"uid":"u","name":"U","posts":[\#(posts)]}]}"#) }

    @Test(arguments: [("", ""), ("/mt/api", ""), ("/mt/api", "//")])
    func theRecordedResponse(prefix: String, suffix: String) async throws {
        try await Fixture.run(FakeUpstream.start(prefix: prefix)) { fixture in
            let body = Array(Self.recorded.utf8)
            fixture.upstream.setDocument("/users/posts", contentType: "application/json", body: body)
            fixture.upstream.setHeaders([("Cache-Control", "max-age=60")])
            let fetched = await fixture.fetch(.usersPosts) { request in
                request.url += suffix
                request.source = "team"
            }
            #expect(fetched.posts == Self.charlesPosts)
            #expect((fetched.skipped, fetched.head.authors) == (0, []))
            #expect(fetched.head.etag != nil && fetched.head.notBefore == 60)
            #expect(fixture.upstream.requests.map(\.target) == ["\(prefix)/users/posts"])
        }
    }

    // MARK: Formats

    @Test func theOlderFormHasOnePostEach() {
        let batch = team(
            """
            {"data":[
            {"uid":"a","name":"A","email":"A@h","profile_pic":"https://h/a.jpg","post":
            {"id":1,"date":"Tue Dec 14 2021 00:11:26 GMT-0500 (Colombia Standard Time)","pics":["https://h/1.jpg"]}},
            {"uid":"b","name":"B","email":"B@h","profile_pic":"https://h/b.jpg","post":
            {"id":"2","date":"Tue Dec 14 2021 00:11:26 GMT-0500 (Colombia Standard Time)","pics":["https://h/2.jpg"]}}]}
            """)
        #expect(batch.posts.map(\.id) == ["team:1", "team:2"])
        #expect(batch.posts.map(\.author.email) == ["a@h", "b@h"])
        #expect(batch.posts.map(\.publishedAt?.description) == ["2021-12-14T05:11:26Z", "2021-12-14T05:11:26Z"])
        #expect(batch.skipped == 0)
    }

    @Test(arguments: [#","posts":[]"#, #","posts":null"#, #","post":null"#, ""])
    func usersWithoutPostsAreAuthors(posts: String) {
        let batch = team(#"{"data":[{"uid":7,"name":"Ann"\#(posts)}]}"#)
        #expect(batch.items.isEmpty)
        #expect(batch.head == head { $0.authors = [Post.Author(id: "team:7", name: "Ann")] })
    }

    // MARK: Faults

    @Test(arguments: [
        "5", #"{"pics":["https://h/1"]}"#, #"{"id":"","pics":["https://h/1"]}"#, #"{"id":1e999}"#,
        #"{"id" 1}"#,
    ]) func aBadPostCostsNoOther(post: String) {
        let batch = posts(#"{"id":8,"pics":["https://h/8"]},\#(post),{"id":9,"pics":["https://h/9"]}"#)
        #expect(batch.posts.map(\.id) == ["team:8", "team:9"])
        #expect(batch.skipped == 1)
    }

    @Test(arguments: ["5", #"{"uid":null,"posts":[]}"#, #"{"uid":"u" "posts":[]}"#])
    func aBadUserCostsNoOther(user: String) {
        let last = #"{"uid":"b","name":"B","posts":[{"id":1,"pics":["https://h/1"]}]}"#
        let batch = team(#"{"data":[{"uid":"a","name":"A"},\#(user),\#(last)]}"#)
        #expect(batch.head.authors.map(\.name) == ["A"])
        #expect(batch.posts.map(\.author.name) == ["B"])
        #expect(batch.posts.map(\.id) == ["team:1"])
        #expect(batch.skipped == 1)
    }

    @Test(arguments: [
        #""name":"\ud800""#, #""email":1e999"#, #""profile_pic":99999999999999999999"#,
        #""x":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))"#,
        #""x":"\#(String(repeating: "x", count: 1024 * 1024))""#,
        #""name":"\#(String(repeating: "x", count: 300_000))""#,
    ]) func aBadMemberCostsNoUser(member: String) {
        let batch = team(#"{"data":[{"uid":"a",\#(member),"posts":[{"id":1}]}]}"#)
        #expect(batch.posts.map(\.author.id) == ["team:a"])
        #expect(batch.posts.map(\.id) == ["team:1"])
        #expect(batch.skipped == 0)
    }
}
