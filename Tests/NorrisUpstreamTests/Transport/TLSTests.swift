import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct TLSTests {
    private func failure(
        _ certificate: FakeCertificate, trusting path: String?, host: String = "127.0.0.1"
    ) async throws -> UpstreamError? {
        var error: UpstreamError?
        try await Fixture.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = path }
        ) { fixture in
            error = await fixture.failure(url: fixture.upstream.baseURL(host: host) + Fixture.search)
        }
        return error
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func anOwnAuthorityIsTrustedByItsFile(host: String) async throws {
        let certificate = try FakeCertificate()
        #expect(try await failure(certificate, trusting: certificate.path, host: host) == nil)
    }

    @Test(arguments: [
        ([], false, "the certificate is not trusted."),
        (["DNS:elsewhere.example"], true, "the certificate is for another name."),
    ])
    func otherCertificatesAreRefused(names: [String], isTrusted: Bool, cause: String) async throws {
        let certificate = try names.isEmpty ? FakeCertificate() : FakeCertificate(names: names)
        let error = try await failure(certificate, trusting: isTrusted ? certificate.path : nil)
        expect(error, .offline, cause, isRetryable: true)
    }

    @Test func anExpiredCertificateIsRefused() async throws {
        let certificate = try FakeCertificate(isExpired: true)
        let error = try await failure(certificate, trusting: certificate.path)
        expect(error, .offline, "the certificate")
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let error = try await failure(FakeCertificate(), trusting: "/nonexistent/roots.pem")
        expect(error, .offline, "SSL_CERT_FILE")
    }

    /// The error of a request of `https` to a server that speaks no TLS.
    private func failure(_ fault: FakeUpstream.Fault?, within timeout: Duration) async throws -> UpstreamError? {
        var error: UpstreamError?
        try await Fixture.run(FakeUpstream.start(), configure: { $0.timeout = timeout }) { fixture in
            fixture.upstream.setFault(fault)
            error = await fixture.failure(url: "https://127.0.0.1:\(fixture.upstream.port)/")
        }
        return error
    }

    @Test func aPlainServerIsRecognised() async throws {
        let error = try await failure(.greeting("HTTP/1.1 400 Bad Request\r\n\r\n"), within: Fixture.longEnough)
        expect(error, .offline, "it does not speak TLS there.")
    }

    @Test(
        arguments: [
            // Nothing, the first half of a ServerHello, and an alert: handshake_failure (RFC 8446, 6).
            [], [0x16, 3, 3, 0, 0x7A, 2, 0, 0, 0x76, 3, 3], [0x15, 3, 3, 0, 2, 2, 40],
        ] as [[UInt8]]
    )
    func aHandshakeThatIsCutIsOffline(bytes: [UInt8]) async throws {
        let error = try await failure(.firstBytes(bytes), within: Fixture.longEnough)
        #expect(error?.kind == .offline, "\(error as Any)")
        #expect(error?.isRetryable == true)
    }

    @Test func aHandshakeWithoutReplyIsBounded() async throws {
        let error = try await failure(nil, within: .milliseconds(400))
        #expect(error?.kind == .timeout)
        #expect(error?.message.hasPrefix("No connection to 127.0.0.1:") == true)
    }
}

@Suite(.timeLimit(.minutes(20)))
struct HTTP2Tests {
    private func run(_ body: (Fixture) async throws -> Void) async throws {
        let certificate = try FakeCertificate()
        try await Fixture.run(
            FakeUpstream.start(jokes: FakeUpstream.jokes(count: 300), security: .http2(certificate)),
            configure: { $0.trustRoots = certificate.path }, body
        )
    }

    @Test func aResponseComesWhole() async throws {
        try await run { fixture in
            let response = try await fixture.send()
            #expect(try JSON.parse(response.body).objectValue()["total"] == 300)
            #expect(fixture.upstream.requests.first?.header("X-Protocol") == "HTTP/2.0")
        }
    }

    @Test(arguments: [true, false])
    func aStreamThatIsResetIsOffline(chunked: Bool) async throws {
        try await run { fixture in
            let error = await fixture.failure(with: .truncated(chunked: chunked))
            #expect(error?.kind == .offline, "\(error as Any)")
            #expect(error?.isRetryable == true)
        }
    }

    @Test func aStreamThatEndsWithoutResponseIsOffline() async throws {
        try await run { fixture in
            let error = await fixture.failure(TLSFront.unansweredPath)
            #expect(error?.kind == .offline, "\(error as Any)")
        }
    }
}
