import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct MastodonTests {
    private let asking = AskingForPosts { baseURL, transport in
        Mastodon(baseURL: baseURL, source: "town", transport: transport, now: { Asking.now })
    }

    private static let status = #"{"id":"1","content":"<p>Hi</p>","account":{"id":"2","username":"ann","acct":"ann"}}"#

    /// Deeper than a status may be.
    private static let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)

    // MARK: Over a socket

    @Test func theTimelineIsAskedFor() async throws {
        let headers = [("ETag", "W/\"1\""), ("X-RateLimit-Limit", "300"), ("X-RateLimit-Remaining", "299")]
        try await asking.ask(headers: headers, body: "[\(Self.status)]", path: "/") { result, upstream in
            let ann = Post.Author(id: "town:2", name: "ann", handle: "@ann@127.0.0.1")
            let batch = PostBatch(
                posts: [Post(id: "town:1", source: "town", author: ann, text: "Hi")], authors: [ann]
            )
            #expect(result == .success(.changed(batch, FetchInfo(validators: Validators(etag: "W/\"1\"")))))
            #expect(upstream.requests.first?.target == "/api/v1/timelines/public?limit=40")
        }
    }

    @Test func whatHasNotChangedIsNotSentAgain() async throws {
        let known = Validators(etag: "W/\"1\"")
        try await asking.ask(status: 304, sending: known) { result, upstream in
            #expect(result == .success(.unchanged(FetchInfo(validators: known))))
            #expect(upstream.requests.first?.header("If-None-Match") == "W/\"1\"")
        }
    }

    @Test(arguments: [200, 304])
    func aUsedUpAllowanceWaitsForItsReset(status: Int) async throws {
        let headers = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1994-11-06T08:54:37.518Z")]
        let known = Validators(etag: "\"1\"")
        let body = status == 200 ? "[]" : ""
        try await asking.ask(status: status, headers: headers, body: body, sending: known) { result, _ in
            #expect((try? result.get())?.info.notBefore == .seconds(300))
        }
    }

    @Test func aRefusalWaitsForTheReset() async throws {
        let headers = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1994-11-06T08:50:37.000Z")]
        try await asking.ask(status: 429, headers: headers, body: #"{"error":"Too many requests"}"#) { result, _ in
            let error = #expect(throws: UpstreamError.self) { try result.get() }
            #expect(error?.kind == .quota)
            #expect(error?.retryAfter == .seconds(60))
            #expect(error?.message.hasSuffix("Too many requests.") == true)
        }
    }

    @Test(arguments: [401, 422])
    func aClosedTimelineIsSaid(status: Int) async throws {
        let body = #"{"error":"This method requires an authenticated user"}"#
        try await asking.ask(status: status, body: body) { result, upstream in
            let error = #expect(throws: UpstreamError.self) { try result.get() }
            #expect(error?.kind == .http(status: status))
            let place = upstream.baseURL.dropFirst("http://".count)
            #expect(
                error?.message == """
                    The public timeline of \(place) needs a login (HTTP \(status)), and norrisd has none; \
                    put another server into posts.sources.town.url.
                    """
            )
        }
    }

    @Test(arguments: [403, 404, 503])
    func otherFailuresAreHandedOn(status: Int) async throws {
        try await asking.ask(status: status, body: #"{"error":"Record not found"}"#) { result, _ in
            let error = #expect(throws: UpstreamError.self) { try result.get() }
            #expect(error?.kind == .http(status: status))
            #expect(error?.message.hasSuffix("/api/v1/timelines/public: Record not found.") == true)
        }
    }

    // MARK: Answers

    @Test(
        arguments: [
            "5", "null", "[]", "{}", #"{"id":"1"}"#, #"{"id":"1","account":null,"content":"x"}"#,
            #"{"id":"1","account":{"acct":"x"},"content":"x"}"#, #"{"account":{"id":"2"},"content":"x"}"#,
            #"{"id":"1","account":{"id":"2"},"content":"<p></p>"}"#, #"{"id":"1","account":{"id":"2"},"content":5}"#,
            #"{"id":"1","account":{"id":"2"},"content":"\ud800"}"#, #"{"id":"1" "account":{"id":"2"}}"#,
            #"{"id":"1","account":{"id":"2"},"x":\#(deep)}"#,
            #"{"id":"1","account":{"id":"2"},"content":"\#(String(repeating: "x", count: 256 * 1024))"}"#,
        ]
    )
    func aBadStatusCostsNoOther(status: String) async throws {
        let last = Self.status.replacing(#""id":"1""#, with: #""id":"9""#)
        let batch = try await asking.batch("[\(Self.status),\(status),\(last)]")
        #expect(batch.posts.map(\.id) == ["town:1", "town:9"])
        #expect(batch.skipped == 1)
    }

    @Test func anEmptyTimelineIsNoError() async throws {
        #expect(try await asking.batch(" [ ] ") == PostBatch())
    }

    @Test(
        arguments: [
            "", "5", "{}", #"{"error":"x"}"#, "null", "[5]", "[", "[\(status)", "[\(status)]]", "<html>",
            String(repeating: "[", count: 100),
        ]
    )
    func whatCannotBeUsedIsSaid(body: String) async {
        let error = await asking.failure(body)
        #expect(error?.kind == .decode)
        #expect(error?.message.hasPrefix("api.example/api/v1/timelines/public answered with ") == true)
    }

    @Test func aPageIsNoJSON() async {
        let error = await asking.failure("<html>", type: "text/html; charset=utf-8")
        #expect(error?.kind == .decode)
        #expect(error?.message.contains("text/html instead of JSON") == true)
    }
}
