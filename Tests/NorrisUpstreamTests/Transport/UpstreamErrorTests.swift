import Testing

@testable import NorrisUpstream

struct UpstreamErrorTests {
    @Test(
        arguments: [
            (UpstreamError.Kind.offline, true), (.timeout, true), (.quota, true), (.decode, false),
            (.credentials, false), (.cancelled, false),
        ] + [408, 425, 500, 503, 520, 527, 599].map { (.http(status: $0), true) }
            + [204, 302, 400, 401, 403, 404, 407, 410, 600].map { (.http(status: $0), false) }
    )
    func someErrorsPass(kind: UpstreamError.Kind, isRetryable: Bool) {
        #expect(UpstreamError(kind, "").isRetryable == isRetryable)
    }

    @Test func aMessageIsOneHarmlessLine() {
        #expect(UpstreamError(.offline, "a\nb\u{1B}[31mc\u{202E}").message == "a bc")
        #expect(UpstreamError(.offline, String(repeating: "e\u{301}", count: 600)).message.unicodeScalars.count == 500)
    }

    private func error(_ status: Int, _ body: String, headers: HTTPHeaderFields = []) -> UpstreamError {
        UpstreamError(
            status: status, from: HTTPURL("https://h/x?key=secret")!, headers: headers, body: Array(body.utf8),
            now: Fixture.now)
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

    @Test func tooManyRequestsAreAQuota() {
        #expect(error(429, "", headers: [("retry-after", "7")]).kind == .quota)
        #expect(error(429, "", headers: [("retry-after", "7")]).retryAfter == .seconds(7))
        #expect(error(401, "").kind == .http(status: 401))
        #expect(error(503, "", headers: [("Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT")]).retryAfter == .seconds(10))
        #expect(error(503, "").retryAfter == nil)
    }
}

struct ValidatorsTests {
    @Test(arguments: ["W/\"1\"", "\"a b\"", "unquoted", "\"é\"", "\"\"", String(repeating: "e", count: 1024)])
    func theyGoBackAsTheyCame(etag: String) {
        let validators = Validators([("ETag", etag), ("Last-Modified", "yesterday")])
        #expect(validators == Validators(etag: etag, lastModified: "yesterday"))
        #expect(validators.headers.map(\.name) == ["If-None-Match", "If-Modified-Since"])
        #expect(validators.headers.map(\.value) == [etag, "yesterday"])
    }

    @Test(arguments: ["", "a\r\nX: y", "a\u{7F}", "a\u{0}", "\u{FFFD}", String(repeating: "e", count: 1025)])
    func whatCannotBeSentIsDropped(value: String) {
        #expect(Validators([("ETag", value), ("Last-Modified", value)]) == Validators())
    }

    @Test func thoseThatA304DoesNotRepeatStayValid() {
        let sent = Validators(etag: "\"1\"", lastModified: "then")
        let bare = HTTPResponse(status: 304)
        #expect(FetchInfo(bare, sent: sent).validators == sent)
        let renewed = HTTPResponse(status: 304, headers: [("ETag", "\"2\"")])
        let mixed = Validators(etag: "\"2\"", lastModified: "then")
        #expect(FetchInfo(renewed, sent: sent).validators == mixed)
        let changed = HTTPResponse(status: 200)
        #expect(FetchInfo(changed, sent: sent).validators == Validators())
    }
}
