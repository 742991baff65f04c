import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct APIKeyTests {
    private static let key = "Qw3/rT+yUi0 pAsDé"

    @Test(
        arguments: [
            ("a \(key) b", "a *** b"), (percentEncoded(key), "***"),
            ("x=\(percentEncoded(key).lowercased())&y", "x=***&y"),
            (key.uppercased().replacing("É", with: "é"), "***"), ("\(key)\(key)", "******"),
            ("%51w3%2FrT%2ByUi0%20pAsD%C3%A9", "***"),
            // What was cut.
            ("HTTP 401: Qw3/rT+yU", "HTTP 401: ***"), ("Qw3/rT+y.", "***."),
            ("Qw3/rT+", "Qw3/rT+"), ("QQQw3/rT+yUi0 pAsDé", "QQ***"), ("100%", "100%"), ("é%4", "é%4"), ("", ""),
        ]
    )
    func aTextIsRedacted(text: String, redacted: String) {
        #expect(APIKey(Self.key).redacted(text) == redacted)
    }

    @Test func aShortKeyIsRedactedWhole() {
        #expect(APIKey("abc").redacted("ab abc ABC abcd") == "ab *** *** ***d")
    }

    @Test func noKeyIsNowhere() {
        #expect(APIKey("").redacted("text") == "text")
        #expect(!APIKey("").isHeld(in: "text"))
    }

    @Test func aKeyIsNotPrinted() {
        #expect("\(APIKey(Self.key))" == "***")
        #expect(!String(reflecting: Asking.giphy(answering: "", key: Self.key)).contains("pAs"))
    }

    @Test(
        "A GIF that holds the key is left out",
        arguments: [
            #""title":"\#(key)""#, #""alt_text":"x \#(key) y""#, #""username":"Qw3/rT+y\u200bUi0 pAsD\u00e9""#,
            #""url":"https://giphy.com/?api_key=\#(percentEncoded(key))""#,
            #""images":{"original":{"url":"https://h/?k=\#(percentEncoded(key).lowercased())"}}"#,
        ]
    )
    func gifs(members: String) async throws {
        let body = Asking.envelope(#"[{"id":"a"},{"id":"b",\#(members)}]"#)
        let page = try await Asking.giphy(answering: body, key: Self.key).trending(offset: 0, limit: 5)
        #expect(page.gifs.map(\.id) == ["a"])
        #expect(page.skipped == 1)
        let whole = try await Asking.giphy(answering: body, key: "another").trending(offset: 0, limit: 5)
        #expect(whole.gifs.map(\.id) == ["a", "b"])
    }

    // MARK: On the way

    /// Everything by which a request can end, each with the key in it where an upstream can put it.
    private static let faults: [FakeUpstream.Fault?] = [
        nil, .status(401, body: #"{"meta":{"msg":"The key \#(Asking.key) is not known"}}"#),
        .status(403, body: #"{"message":"?api_key=\#(Asking.key.utf8.map { "%" + String($0, radix: 16) }.joined())"}"#),
        // It breaks off in the key.
        .status(500, body: #"{"message":"\#(String(repeating: "x", count: 180))\#(Asking.key)"}"#),
        .json(#"{"\#(Asking.key)":1,"\#(Asking.key)":2}"#),
        .answer(status: 200, headers: [("Content-Type", "text/\(Asking.key)")], body: []),
        .answer(status: 200, headers: [("Content-Encoding", Asking.key)], body: []),
        .redirect(to: "?api_key=\(Asking.key)"), .redirect(to: "http://\(Asking.key).invalid/\(Asking.key)"),
        .redirect(to: "ftp://\(Asking.key)/"), .redirect(to: "/\(Asking.key)?\(Asking.key)"),
        .raw("HTTP/1.1 \(Asking.key)\r\n\r\n"), .reset, .truncated(chunked: true), .html, .gzipBomb,
    ]

    @Test func theKeyIsInTheRequestAndNeitherInErrorsNorInTheLog() async throws {
        let log = LogRecorder()
        // Redirects are followed between https only.
        let certificate = try FakeCertificate()
        let upstream = try await FakeUpstream.start(security: .tls(certificate))
        upstream.setGifs(FakeUpstream.gifs(count: 3))
        var settings = Asking.settings
        settings.trustRoots = certificate.path
        let transport = Asking.networkTransport(upstream.baseURL, settings, logger: log.logger)
        let giphy = Asking(upstream: upstream, transport: transport).giphy()
        var errors: [String] = []
        for fault in Self.faults {
            upstream.setFault(fault, path: "/v1/gifs/search")
            let error = await failure {
                _ = try await giphy.search("chuck", offset: 0, limit: 2, timeout: Asking.longEnough)
            }
            #expect((error == nil) == (fault == nil))
            if let error { errors.append(String(reflecting: error)) }
        }
        transport.shutdown()
        await upstream.stop()
        #expect(upstream.requests.first?.parameter("api_key") == Asking.key)
        #expect(log.records.contains { $0.contains("http.answer") })
        // Letters may have been made small, and a text may have been cut.
        let beginning = Asking.key.prefix(8).lowercased()
        #expect(errors.filter { $0.lowercased().contains(beginning) } == [])
        #expect(log.records.filter { $0.lowercased().contains(beginning) } == [])
    }
}
