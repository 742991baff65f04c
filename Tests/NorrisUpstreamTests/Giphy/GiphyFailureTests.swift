import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct GiphyFailureTests {
    /// How a search fails while the upstream has a fault.
    private func failure(_ fault: FakeUpstream.Fault) async throws -> UpstreamError? {
        var error: UpstreamError?
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(fault, path: "/v1/gifs/search")
            error = await NorrisUpstreamTests.failure {
                _ = try await asking.giphy().search("x", offset: 0, limit: 1)
            }
        }
        return error
    }

    private static let advice =
        "; get a key at developers.giphy.com, and put it into the credential giphy-api-key or the file that "
        + "gifs.api_key_file names."

    @Test(
        "Three shapes of errors",
        arguments: [
            (
                401, #"{"data":[],"meta":{"status":401,"msg":"Unauthorized","response_id":""}}"#,
                ": Unauthorized\(advice)"
            ),
            (
                403, #"{"message":"Invalid authentication credentials"}"#,
                ": Invalid authentication credentials\(advice)"
            ),
            (403, #"{"meta":{"status":403,"msg":"Forbidden"}}"#, ": Forbidden" + advice),
            (401, "", advice), (403, "<html>", advice), (401, #"{"meta":[],"message":5}"#, advice),
            (
                429, #"{"data":[],"meta":{"status":429,"msg":"API rate limit exceeded","response_id":""}}"#,
                ": API rate limit exceeded."
            ),
            (429, #"{"message":"API rate limit exceeded"}"#, ": API rate limit exceeded."), (429, "{}", "."),
            (404, #"{"meta":{"status":404,"msg":"Not Found!"}}"#, ": Not Found!."),
            (
                451, #"{"message":"This content is not available in your location"}"#,
                ": This content is not available in your location."
            ),
            (500, #"{"meta":{"msg":""},"message":"x\u001b[31m\ny"}"#, ": x y."), (503, #"{"meta":{"msg":7}}"#, "."),
        ] as [(Int, String, String)]
    )
    func messages(status: Int, body: String, ending: String) async throws {
        let error = try #require(try await failure(.status(status, body: body)))
        #expect(error.message.hasPrefix("HTTP \(status) from 127.0.0.1:"))
        #expect(error.message.hasSuffix("/v1/gifs/search\(ending)"))
    }

    @Test(
        arguments: [
            (400, .http(status: 400), true), (401, .credentials, false), (403, .credentials, false),
            (404, .http(status: 404), false), (414, .http(status: 414), false), (429, .quota, true),
            (500, .http(status: 500), true), (520, .http(status: 520), true),
        ] as [(Int, UpstreamError.Kind, Bool)]
    )
    func kinds(status: Int, kind: UpstreamError.Kind, isRetryable: Bool) async throws {
        let error = try #require(try await failure(.status(status, retryAfter: "7")))
        #expect(error.kind == kind)
        #expect(error.isRetryable == isRetryable)
        #expect(error.retryAfter == .seconds(7))
    }

    @Test func whatIsNotShownHereIsNoFaultOfTheKey() async throws {
        let body = #"{"message":"This content is not available in your location"}"#
        let error = try #require(try await failure(.status(403, body: body)))
        #expect(error.kind == .http(status: 403))
        #expect(error.message.hasSuffix(": This content is not available in your location."))
        #expect(!error.isRetryable)
    }

    @Test("Retry-After: 0 beside a refusal means nothing either")
    func noWait() async throws {
        let error = try await failure(.status(429, retryAfter: "0"))
        #expect(error?.kind == .quota)
        #expect(error?.retryAfter == nil)
        #expect(try await failure(.status(503, retryAfter: "0"))?.retryAfter == .zero)
    }

    @Test func aWrongKeyIsRefused() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.requireKey("another")
            let error = await NorrisUpstreamTests.failure {
                _ = try await asking.giphy().gif(id: "x")
            }
            #expect(error?.kind == .credentials)
            #expect(error?.message.contains(": Unauthorized; get a key at ") == true)
        }
    }

    @Test func aQueryThatIsTooLongIsItsOwnFault() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let error = await NorrisUpstreamTests.failure {
                _ = try await asking.giphy().search(String(repeating: "x", count: 51), offset: 0, limit: 1)
            }
            #expect(error?.kind == .http(status: 414))
            #expect(error?.message.hasSuffix("; Giphy takes queries of 50 characters at most.") == true)
        }
    }

    @Test func anAnswerOfNothingIsTrouble() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setGiphyQuirks([.synthetic])
            let error = await NorrisUpstreamTests.failure {
                _ = try await asking.giphy().trending(offset: 0, limit: 1)
            }
            #expect(error?.isRetryable == true)
        }
    }

    @Test(
        arguments: [
            (FakeUpstream.Fault.html, UpstreamError.Kind.decode), (.garbage, .decode), (.reset, .offline),
            (.truncated(chunked: true), .offline), (.gzipBomb, .decode),
        ]
    )
    func otherFaultsAreAsEverywhere(fault: FakeUpstream.Fault, kind: UpstreamError.Kind) async throws {
        #expect(try await failure(fault)?.kind == kind)
    }

    @Test("Retry-After: 0 beside a good answer means nothing")
    func retryAfterOnSuccess() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setGifs(FakeUpstream.gifs(count: 2))
            asking.upstream.setHeaders([("Retry-After", "0")])
            let page = try await asking.giphy().trending(offset: 0, limit: 2)
            #expect(page.gifs.count == 2)
        }
    }
}
