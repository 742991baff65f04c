import NorrisProtocol
import Testing

@testable import NorrisUpstream

struct UsersPostsTests {
    private let team = PostFixture { baseURL, transport in
        UsersPosts(baseURL: baseURL, source: "team", transport: transport)
    }

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

    private static let batch = PostBatch(
        posts: [
            Post(
                id: "team:50531", source: "team", author: charles, publishedAt: Timestamp("2022-03-08T11:56:06Z"),
                images: [Post.Image(url: "https://mock.koombea.io/pics/pics104.jpg")]),
            Post(
                id: "team:5054431", source: "team", author: charles, publishedAt: Timestamp("2022-03-08T11:56:06Z"),
                images: [
                    Post.Image(url: "https://mock.koombea.io/pics/pics10.jpg"),
                    Post.Image(url: "https://mock.koombea.io/pics/pics11.jpg"),
                ]),
        ], authors: [charles])

    private func posts(_ posts: String) async throws -> PostBatch {
        try await team.batch(#"{"data":[{"uid":"u","name":"U","posts":[\#(posts)]}]}"#)
    }

    @Test(arguments: ["", "/mt/api", "/mt/api//"]) func theRecordedResponse(path: String) async throws {
        let (fetched, request) = try await team.fetch(
            headers: [("ETag", "\"1\""), ("Cache-Control", "max-age=60")], body: Self.recorded, path: path)
        let info = FetchInfo(validators: Validators(etag: "\"1\""), notBefore: .seconds(60))
        #expect(fetched == .changed(Self.batch, info))
        #expect(request?.url == "https://api.example\(path.isEmpty ? "" : "/mt/api")/users/posts")
    }

    // MARK: Formats

    @Test func theOlderFormHasOnePostEach() async throws {
        let batch = try await team.batch(
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
    func usersWithoutPostsAreAuthors(posts: String) async throws {
        let batch = try await team.batch(#"{"data":[{"uid":7,"name":"Ann"\#(posts)}]}"#)
        #expect(batch == PostBatch(authors: [Post.Author(id: "team:7", name: "Ann")]))
    }

    @Test func datesAndPicturesMayBeMissing() async throws {
        let batch = try await posts(
            """
            {"id":1,"date":"Wed Jan 01 2122 00:30:00 GMT+0100","pics":["https://h/1"]},{"id":2,"date":"soon"},
            {"id":3,"date":null,"pics":null},{"id":4,"pics":"https://h/1"},{"id":5,"date":1646740566,"pics":[]}
            """)
        #expect(batch.posts.map(\.publishedAt) == [Timestamp("2121-12-31T23:30:00Z"), nil, nil, nil, nil])
        #expect(batch.posts.map(\.images.count) == [1, 0, 0, 0, 0])
        #expect(batch.skipped == 0)
    }

    // MARK: Faults

    @Test(arguments: [
        "5", #"{"pics":["https://h/1"]}"#, #"{"id":"","pics":["https://h/1"]}"#, #"{"id":1.5}"#,
        #"{"id":1,"caption":"\ud800"}"#, #"{"id":1,"id":2}"#, #"{"id" 1}"#,
        #"{"id":1,"x":"\#(String(repeating: "x", count: 256 * 1024))"}"#,
    ]) func aBadPostCostsNoOther(post: String) async throws {
        let batch = try await posts(#"{"id":8,"pics":["https://h/8"]},\#(post),{"id":9,"pics":["https://h/9"]}"#)
        #expect(batch.posts.map(\.id) == ["team:8", "team:9"])
        #expect(batch.skipped == 1)
    }

    @Test(arguments: ["5", #"{"uid":null,"posts":[]}"#, #"{"uid":"u" "posts":[]}"#, #"{"uid":"\ud800"}"#])
    func aBadUserCostsNoOther(user: String) async throws {
        let last = #"{"uid":"b","name":"B","posts":[{"id":1,"pics":["https://h/1"]}]}"#
        let batch = try await team.batch(#"{"data":[{"uid":"a","name":"A"},\#(user),\#(last)]}"#)
        #expect(batch.authors.map(\.name) == ["A", "B"])
        #expect(batch.posts.map(\.id) == ["team:1"])
        #expect(batch.skipped == 1)
    }

    @Test(arguments: [
        #""name":"\ud800""#, #""email":1e999"#, #""profile_pic":99999999999999999999"#,
        #""x":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))"#,
        #""x":"\#(String(repeating: "x", count: 1024 * 1024))""#,
        #""name":"\#(String(repeating: "x", count: 300_000))""#,
    ]) func aBadMemberCostsNoUser(member: String) async throws {
        let batch = try await team.batch(#"{"data":[{"uid":"a",\#(member),"posts":[{"id":1}]}]}"#)
        #expect(batch.authors.map(\.id) == ["team:a"])
        #expect(batch.posts.map(\.id) == ["team:1"])
        #expect(batch.skipped == 0)
    }

    @Test(arguments: [#"{"id":1} {"id":2}"#, #"{"id":1},"#])
    func brokenPostsCostWhatIsBehindThem(posts: String) async throws {
        let batch = try await team.batch(#"{"data":[{"uid":"a","posts":[\#(posts)]},{"uid":"b","posts":[{"id":3}]}]}"#)
        #expect(batch.posts.map(\.id) == ["team:1", "team:3"])
        #expect(batch.skipped == 1)
    }

    @Test(arguments: [#""posts":5"#, #""posts":{"id":1}"#, #""post":[]"#, #""posts":"","post":{"id":1}"#])
    func postsOfAnotherTypeAreCounted(posts: String) async throws {
        let batch = try await team.batch(#"{"data":[{"uid":"a","name":"A",\#(posts)}]}"#)
        #expect(batch == PostBatch(authors: [Post.Author(id: "team:a", name: "A")], skipped: 1))
    }

    @Test func whatIsMissingIsLeftOut() async throws {
        let batch = try await team.batch(#"{"data":[{"uid":"a","name":5,"email":"A@h","profile_pic":[]}]}"#)
        #expect(batch.authors == [Post.Author(id: "team:a", name: "a@h", email: "a@h")])
        #expect(try await team.batch(#"{"data":[],"total":0}"#) == PostBatch())
    }

    @Test(arguments: ["[]", #"{"data":{}}"#, #"{"data":[5]}"#, #"{"data":[{"uid":"a"}"#])
    func whatCannotBeUsedIsSaid(body: String) async {
        let error = await team.failure(body)
        #expect(error?.kind == .decode)
        #expect(error?.message.hasPrefix("api.example/users/posts answered with ") == true)
    }
}
