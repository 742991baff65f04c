import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct GiphyErrorTests {
    private func searchFailure(_ fault: FakeUpstream.Fault) async throws -> FetchFailure? {
        var error: FetchFailure?
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setFault(fault, path: "/v1/gifs/search")
            error = await fixture.giphy(.gifSearch, "x", offset: 0, limit: 1).failure
        }
        return error
    }

    private static let advice =
        "Get a key at developers.giphy.com, and put it into the credential giphy-api-key or the file that "
        + "gifs.api_key_file names."

    @Test(
        "Three shapes of errors",
        arguments: [
            (400, "", ".", .http, true),
            (401, "", "API key refused (HTTP 401). \(advice)", .credentials, false),
            (403, #"{"message":"Invalid credentials"}"#, "API key refused (HTTP 403). \(advice)", .credentials, false),
            (
                403, #"{"meta":{"status":403,"msg":"Forbidden"}}"#, "API key refused (HTTP 403). \(advice)",
                .credentials, false
            ),
            // The key is valid, but the GIF is not available at this location.
            (
                403, #"{"message":"Not available in your location"}"#, ": Not available in your location.",
                .http, false
            ), (404, #"{"meta":{"msg":"Not Found!"}}"#, ": Not Found!.", .http, false),
            (414, "<html>", "; Giphy takes queries of 50 characters at most.", .http, false),
            (429, #"{"data":[],"meta":{"msg":"API rate limit exceeded"}}"#, "rate limit (HTTP 429).", .quota, true),
            (500, #"{"meta":{"msg":""},"message":"x\u001b[31m\ny"}"#, ": x y.", .http, true),
            (520, #"{"meta":{"msg":7}}"#, ".", .http, true),
        ] as [(Int, String, String, SourceFailure.Kind, Bool)]
    )
    func errors(status: Int, body: String, ending: String, kind: SourceFailure.Kind, isRetryable: Bool) async throws {
        let error = try #require(try await searchFailure(.status(status, retryAfter: "7", body: body)))
        if kind == .http {
            #expect(error.status == status)
            #expect(error.message.hasPrefix("HTTP \(status) from 127.0.0.1:"))
            #expect(error.message.hasSuffix("/v1/gifs/search\(ending)"))
        } else {
            #expect(error.message == ending)
        }
        #expect((error.kind, error.isRetryable) == (kind, isRetryable))
        #expect(error.reply?.pause == 7)
    }

    @Test("Retry-After: 0 means nothing") func noWait() async throws {
        let error = try await searchFailure(.status(429, retryAfter: "0"))
        #expect(error?.kind == .quota)
        #expect(error?.reply?.isLimit == true)
        // Until the next full hour.
        #expect((1...3600).contains(error?.reply?.pause ?? 0))
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setGifs(FakeUpstream.gifs(count: 2))
            fixture.upstream.setHeaders([("Retry-After", "0")])
            #expect(await fixture.giphy(.gifTrending, offset: 0, limit: 2).gifs.count == 2)
        }
    }

    // MARK: API key

    @Test(arguments: [
        ("a \(key) b", "a *** b"), (key.uppercased(), "***"), ("\(key)\(key)", "******"),
        // Truncated keys.
        ("HTTP 401: Qw3/rT+yU", "HTTP 401: ***"), ("Qw3/rT+y.", "***."), ("Qw3/rT+", "Qw3/rT+"),
        ("QQQw3/rT+yUi0 pAsD", "QQ***"), ("100%", "100%"), ("", ""),
    ]) func aTextIsRedacted(text: String, expected: String) { #expect(redacted(text, hiding: Self.key) == expected) }

    private static let key = "Qw3/rT+yUi0 pAsD"

    @Test func aShortKeyIsRedactedWhole() {
        #expect(redacted("ab abc ABC abcd", hiding: "abc") == "ab *** *** ***d")
        #expect(redacted("text", hiding: "") == "text")
    }

    /// All outcomes of a request, with the key in every place that an upstream controls.
    private static let faults: [FakeUpstream.Fault?] = [
        nil, .status(401, body: #"{"meta":{"msg":"The key \#(Fixture.key) is not known"}}"#),
        // The message is truncated within the key.
        .status(500, body: #"{"message":"\#(String(repeating: "x", count: 180))\#(Fixture.key)"}"#),
        .json(#"{"\#(Fixture.key)":1,"\#(Fixture.key)":2}"#),
        .answer(status: 200, headers: [("Content-Type", "text/\(Fixture.key)")], body: []),
        .answer(status: 200, headers: [("Content-Encoding", Fixture.key)], body: []),
        .redirect(to: "?api_key=\(Fixture.key)"), .redirect(to: "http://\(Fixture.key).invalid/\(Fixture.key)"),
        .redirect(to: "ftp://\(Fixture.key)/"), .redirect(to: "/\(Fixture.key)?\(Fixture.key)"),
        .raw("HTTP/1.1 \(Fixture.key)\r\n\r\n"), .reset, .truncated(chunked: true), .html, .gzipBomb,
    ]

    @Test func theKeyIsInTheRequestAndNotInTheResult() async throws {
        var heads: [String] = []
        let certificate = try FakeCertificate()
        try await Fixture.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = certificate.path }
        ) { fixture in
            fixture.upstream.setGifs(FakeUpstream.gifs(count: 3))
            for fault in Self.faults {
                fixture.upstream.setFault(fault, path: "/v1/gifs/search")
                let fetched = await fixture.giphy(.gifSearch, "chuck", offset: 0, limit: 2)
                #expect((fetched.failure == nil) == (fault == nil))
                heads.append(String(reflecting: fetched.head))
            }
            #expect(fixture.upstream.requests.first?.parameter("api_key") == Fixture.key)
        }
        // A message may contain the key in lowercase or truncated.
        let beginning = Fixture.key.prefix(8).lowercased()
        #expect(heads.filter { $0.lowercased().contains(beginning) } == [])
    }
}
