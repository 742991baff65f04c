import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct TLSTests {
    private func failure(
        _ certificate: FakeCertificate, trusting path: String?, host: String = "127.0.0.1"
    ) async throws -> UpstreamError? {
        var error: UpstreamError?
        try await Fixture.run(FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = path }) {
            fixture in error = await fixture.failure(url: fixture.upstream.baseURL(host: host) + Fixture.search)
        }
        return error
    }

    @Test(arguments: ["127.0.0.1", "localhost"]) func anOwnAuthorityIsTrustedByItsFile(host: String) async throws {
        let certificate = try FakeCertificate()
        #expect(try await failure(certificate, trusting: certificate.path, host: host) == nil)
    }

    @Test(arguments: [
        (["IP:127.0.0.1"], false, false, "the certificate is not trusted."),
        (["DNS:elsewhere.example"], true, false, "the certificate is for another name."),
        (["IP:127.0.0.1"], true, true, "the certificate "),
    ]) func otherCertificatesAreRefused(names: [String], isTrusted: Bool, isExpired: Bool, cause: String) async throws {
        let certificate = try FakeCertificate(names: names, isExpired: isExpired)
        let error = try await failure(certificate, trusting: isTrusted ? certificate.path : nil)
        expect(error, .offline, cause, isRetryable: true)
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let error = try await failure(FakeCertificate(), trusting: "/nonexistent/roots.pem")
        expect(error, .offline, "SSL_CERT_FILE")
    }
}
