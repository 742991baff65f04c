import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

struct UpstreamErrorTests {
    @Test(
        arguments: [
            (UpstreamError.Kind.offline, true), (.timeout, true), (.quota, true), (.decode, false),
            (.credentials, false),
        ] + [408, 425, 500, 503, 520, 527, 599].map { (.http(status: $0), true) }
            + [204, 302, 400, 401, 403, 404, 407, 410, 600].map { (.http(status: $0), false) }
    )
    func someErrorsPass(kind: UpstreamError.Kind, isRetryable: Bool) {
        #expect(UpstreamError(kind, "").failure.isRetryable == isRetryable)
    }

    @Test func aMessageIsOneHarmlessLine() {
        #expect(UpstreamError(.offline, "a\nb\u{1B}[31mc\u{202E}").message == "a bc")
        #expect(UpstreamError(.offline, String(repeating: "e\u{301}", count: 600)).message.unicodeScalars.count == 500)
    }

    private func error(_ status: Int, _ body: String, headers: HTTPHeaderFields = []) -> UpstreamError {
        UpstreamError(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
    }

    @Test(
        "The message of a status has the upstream's own, if there is one",
        arguments: [
            ("", "HTTP 404 from h/x."), ("<html>", "HTTP 404 from h/x."), ("[]", "HTTP 404 from h/x."),
            (#"{"error":"x"}"#, "HTTP 404 from h/x: x."), (#"{"error":5}"#, "HTTP 404 from h/x."),
            (#"{"error":"x","message":"y"}"#, "HTTP 404 from h/x: y."), (#"{"message":5}"#, "HTTP 404 from h/x."),
            (#"{"message":""}"#, "HTTP 404 from h/x."),
            (
                #"{"status":404,"message":"No jokes\u001b[31m for\n\"x\" found."}"#,
                "HTTP 404 from h/x: No jokes for \"x\" found."
            ),
        ]
    )
    func messageOfAStatus(body: String, message: String) {
        #expect(error(404, body).message == message)
        #expect(error(404, body).kind == .http(status: 404))
    }

    @Test func aLongMessageIsCut() {
        let text = String(repeating: "x", count: 300)
        #expect(error(400, "{\"message\":\"\(text)\"}").message == "HTTP 400 from h/x: \(text.prefix(200)).")
    }

    @Test func tooManyRequestsAreAStatusThatIsRetried() {
        #expect(error(429, "").kind == .http(status: 429))
        #expect(error(429, "").failure.isRetryable && !error(401, "").failure.isRetryable)
        #expect(error(429, "").message == "rate limit (HTTP 429).")
    }
}

@Suite(.timeLimit(.minutes(20))) struct ValidatorsTests {
    @Test(arguments: ["W/\"1\"", "\"a b\"", "unquoted", "\"é\"", "\"\"", String(repeating: "e", count: 1024)])
    func theyGoBackAsTheyCame(etag: String) async throws {
        let head = FetchHead(
            HTTPResponse(status: 200, headers: [("ETag", etag), ("Last-Modified", "yesterday")]))
        #expect((head.etag, head.lastModified) == (etag, "yesterday"))
        try await Fixture.run(FakeUpstream.start()) { fixture in
            _ = await fixture.fetch(.categories) { ($0.etag, $0.lastModified) = (head.etag, head.lastModified) }
            let request = try #require(fixture.upstream.requests.first)
            #expect(request.header("If-None-Match") == etag)
            #expect(request.header("If-Modified-Since") == "yesterday")
        }
    }

    @Test(arguments: ["", "a\r\nX: y", "a\u{7F}", "a\u{0}", "\u{FFFD}", String(repeating: "e", count: 1025)])
    func whatCannotBeSentIsDropped(value: String) {
        let head = FetchHead(HTTPResponse(status: 200, headers: [("ETag", value), ("Last-Modified", value)]))
        #expect(head.etag == nil && head.lastModified == nil)
    }

    @Test func thoseThatA304DoesNotRepeatStayValid() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            func head(_ status: Int, _ headers: [(String, String)]) async -> FetchHead {
                let body = status == 304 ? [] : Array("[]".utf8)
                fixture.upstream.setFault(.answer(status: status, headers: headers, body: body))
                return await fixture.fetch(.categories) { ($0.etag, $0.lastModified) = ("\"1\"", "then") }.head
            }
            let bare = await head(304, [])
            #expect(bare.isUnchanged && bare.etag == "\"1\"" && bare.lastModified == "then")
            let renewed = await head(304, [("ETag", "\"2\"")])
            #expect(renewed.isUnchanged && renewed.etag == "\"2\"" && renewed.lastModified == "then")
            let changed = await head(200, [])
            #expect(!changed.isUnchanged && changed.etag == nil && changed.lastModified == nil)
        }
    }
}
