import Glibc
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

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let error = try await failure(FakeCertificate(), trusting: "/nonexistent/roots.pem")
        #expect(error?.kind == .offline)
        #expect(error?.message.contains("SSL_CERT_FILE") == true, "\(error as Any)")
    }

    /// How a request of `https` to a plain server fails.
    private func failure(greeting: String?, within timeout: Duration) async throws -> UpstreamError? {
        var result: UpstreamError?
        try await Asking.run(FakeUpstream.start(), configure: { $0.timeout = timeout }) { asking in
            asking.upstream.setFault(greeting.map { .greeting($0) })
            let url = "https://127.0.0.1:\(asking.upstream.port)/"
            result = await #expect(throws: UpstreamError.self) {
                try await asking.transport.send(HTTPRequest(url: url, timeout: Asking.longEnough))
            }
        }
        return result
    }

    @Test func aPlainServerIsRecognised() async throws {
        let error = try await failure(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n", within: Asking.longEnough)
        #expect(error?.kind == .offline)
        #expect(error?.message.hasSuffix("it does not speak TLS there.") == true, "\(error as Any)")
    }

    @Test(.enabled(if: access("/usr/sbin/nginx", X_OK) == 0)) func http2IsSpokenWhereTheServerOffersIt() async throws {
        let certificate = try FakeCertificate()
        let folder = TemporaryFolder()
        try await Asking.run(
            FakeUpstream.start(security: .tls(certificate)), configure: { $0.trustRoots = certificate.path }
        ) { asking in
            // Its port stays reserved, and nginx takes it over.
            try await asking.upstream.close()
            let configuration = try folder.write(
                """
                daemon off; master_process off; pid \(folder("pid")); error_log stderr; events {}
                http {
                  access_log off; client_body_temp_path \(folder("b")); proxy_temp_path \(folder("p"));
                  fastcgi_temp_path \(folder("f")); uwsgi_temp_path \(folder("u")); scgi_temp_path \(folder("s"));
                  server {
                    listen 127.0.0.1:\(asking.upstream.port) ssl http2;
                    ssl_certificate \(certificate.path); ssl_certificate_key \(certificate.keyPath);
                    location /echo { return 200 "$server_protocol $http_user_agent"; }
                    location /error { return 503 "no"; }
                    location /hop { return 302 /echo; }
                  }
                }
                """, to: "nginx.conf"
            )
            let arguments = ["-e", "stderr", "-c", configuration]
            let nginx = try ChildProcess("/usr/sbin/nginx", arguments, errors: folder("errors"))
            defer { nginx.send(SIGTERM) }
            while await asking.failure("/echo")?.kind == .offline { await Task.yield() }
            for path in ["/echo", "/hop"] {
                let answer = try await asking.send(path)
                #expect(String(decoding: answer.body, as: UTF8.self) == "HTTP/2.0 norrisd/test")
                #expect(answer.headers["Content-Length"] == "21")
            }
            #expect(await asking.failure("/error")?.kind == .http(status: 503))
        }
    }

    @Test func aHandshakeThatIsNotAnsweredIsBounded() async throws {
        let error = try await failure(greeting: nil, within: .milliseconds(400))
        #expect(error?.kind == .timeout)
        #expect(error?.message.hasPrefix("No connection to 127.0.0.1:") == true)
    }
}
