import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct TLSTests {
    private func failure(
        _ certificate: FakeCertificate, trusting path: String?, host: String = "127.0.0.1"
    ) async throws -> UpstreamError? {
        var result: UpstreamError?
        try await Asking.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = path }
        ) { asking in
            let url = asking.upstream.baseURL(host: host) + Asking.search
            do throws(UpstreamError) {
                _ = try await asking.transport.send(HTTPRequest(url: url, timeout: Asking.longEnough))
            } catch {
                result = error
            }
        }
        return result
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func anOwnAuthorityIsTrustedByItsFile(host: String) async throws {
        let certificate = try FakeCertificate()
        #expect(try await failure(certificate, trusting: certificate.path, host: host) == nil)
    }

    @Test func withoutTheFileItIsNot() async throws {
        let error = try await failure(FakeCertificate(), trusting: nil)
        #expect(error?.kind == .offline)
        #expect(error?.message.hasSuffix("the certificate is not trusted.") == true)
        #expect(error?.isRetryable == true)
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        let certificate = try FakeCertificate(names: ["DNS:elsewhere.example"])
        let error = try await failure(certificate, trusting: certificate.path)
        #expect(error?.kind == .offline)
        #expect(error?.message.hasSuffix("the certificate is for another name.") == true)
    }

    @Test func anExpiredCertificateIsRefused() async throws {
        let certificate = try FakeCertificate(isExpired: true)
        let error = try await failure(certificate, trusting: certificate.path)
        #expect(error?.kind == .offline)
        #expect(error?.message.contains("the certificate") == true, "\(error as Any)")
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let error = try await failure(FakeCertificate(), trusting: "/nonexistent/roots.pem")
        #expect(error?.kind == .offline)
        #expect(error?.message.contains("SSL_CERT_FILE") == true, "\(error as Any)")
    }

    /// How a request of `https` to a server that speaks no TLS fails.
    private func failure(_ fault: FakeUpstream.Fault?, within timeout: Duration) async throws -> UpstreamError? {
        var result: UpstreamError?
        try await Asking.run(FakeUpstream.start(), configure: { $0.timeout = timeout }) { asking in
            asking.upstream.setFault(fault)
            let url = "https://127.0.0.1:\(asking.upstream.port)/"
            result = await #expect(throws: UpstreamError.self) {
                try await asking.transport.send(HTTPRequest(url: url, timeout: Asking.longEnough))
            }
        }
        return result
    }

    @Test func aPlainServerIsRecognised() async throws {
        let error = try await failure(.greeting("HTTP/1.1 400 Bad Request\r\n\r\n"), within: Asking.longEnough)
        #expect(error?.kind == .offline)
        #expect(error?.message.hasSuffix("it does not speak TLS there.") == true, "\(error as Any)")
    }

    @Test(
        arguments: [
            // Nothing, the first half of a ServerHello, and an alert: handshake_failure (RFC 8446, 6).
            [], [0x16, 3, 3, 0, 0x7A, 2, 0, 0, 0x76, 3, 3], [0x15, 3, 3, 0, 2, 2, 40],
        ] as [[UInt8]]
    )
    func aHandshakeThatIsCutIsOffline(bytes: [UInt8]) async throws {
        let error = try await failure(.firstBytes(bytes), within: Asking.longEnough)
        #expect(error?.kind == .offline, "\(error as Any)")
        #expect(error?.isRetryable == true)
    }

    @Test func aHandshakeThatIsNotAnsweredIsBounded() async throws {
        let error = try await failure(nil, within: .milliseconds(400))
        #expect(error?.kind == .timeout)
        #expect(error?.message.hasPrefix("No connection to 127.0.0.1:") == true)
    }
}

@Suite(.timeLimit(.minutes(20)))
struct HTTP2Tests {
    private func run(_ body: (Asking) async throws -> Void) async throws {
        let certificate = try FakeCertificate()
        try await Asking.run(
            FakeUpstream.start(jokes: FakeUpstream.jokes(count: 300), security: .http2(certificate)),
            configure: { $0.trustRoots = certificate.path }, body
        )
    }

    @Test func anAnswerComesWhole() async throws {
        try await run { asking in
            let answer = try await asking.send()
            #expect(try JSON.parse(answer.body).objectValue()["total"] == 300)
            #expect(asking.upstream.requests.first?.header("X-Protocol") == "HTTP/2.0")
        }
    }

    @Test(arguments: [true, false])
    func aStreamThatIsResetIsNoAnswer(chunked: Bool) async throws {
        try await run { asking in
            let error = await asking.failure(with: .truncated(chunked: chunked))
            #expect(error?.kind == .offline, "\(error as Any)")
            #expect(error?.isRetryable == true)
        }
    }

    @Test func aStreamThatEndsWithoutAnAnswerIsOffline() async throws {
        try await run { asking in
            let error = await asking.failure(TLSFront.unansweredPath)
            #expect(error?.kind == .offline, "\(error as Any)")
        }
    }
}
