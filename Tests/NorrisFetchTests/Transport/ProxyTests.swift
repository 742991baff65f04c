import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct ProxyTests {
    /// Basic authentication with `user:secret`.
    private let authorization = "Basic dXNlcjpzZWNyZXQ="

    /// - Parameter tls: The certificate with which the proxy acts as the upstream after CONNECT.
    private func run(
        base: String, tls certificate: FakeCertificate? = nil, password: String? = nil,
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let proxy = try await FakeUpstream.start(security: certificate.map { .tlsAfterConnect($0) } ?? .none)
        try await Fixture.run(
            proxy, baseURL: base,
            configure: { fixture in
                fixture.trustRoots = certificate?.path
                fixture.request.proxy = FetchRequest.Proxy(
                    host: "127.0.0.1", port: proxy.port, user: password == nil ? nil : "user", password: password)
            }, body)
    }

    @Test func plainRequestsNameTheWholeURL() async throws {
        try await run(base: "http://jokes.example:81", password: "secret") { fixture in
            fixture.upstream.requireProxyAuthorization(authorization)
            let response = try await fixture.send(url: "http://jokes.example:81" + Fixture.search)
            #expect(response.status == 200)
            #expect(fixture.upstream.requests.map(\.target) == ["http://jokes.example:81/jokes/search?query=chuck"])
            #expect(fixture.upstream.requests.first?.header("Host") == "jokes.example:81")
        }
    }

    @Test func secureRequestsGoThroughATunnel() async throws {
        try await run(base: "https://jokes.example", tls: FakeCertificate(), password: "secret") { fixture in
            fixture.upstream.requireProxyAuthorization(authorization)
            let response = try await fixture.send(url: "https://jokes.example" + Fixture.search)
            #expect(response.status == 200)
            let requests = fixture.upstream.requests
            #expect(requests.map(\.method) == ["CONNECT", "GET"])
            #expect(requests.map(\.target) == ["jokes.example:443", "/jokes/search?query=chuck"])
            #expect(requests.last?.header("Proxy-Authorization") == nil)
        }
    }

    @Test(arguments: ["http", "https"]) func aProxyMayWantAPassword(scheme: String) async throws {
        try await run(base: "\(scheme)://jokes.example", tls: FakeCertificate(), password: "wrong") { fixture in
            fixture.upstream.requireProxyAuthorization(authorization)
            let error = await fixture.failure(url: "\(scheme)://jokes.example" + Fixture.search)
            #expect(error?.kind == .http(status: 407))
            #expect(error?.message == "The proxy needs a user name and password; set them in http.proxy.")
            #expect(error?.failure.isRetryable == false)
        }
    }

    @Test func redirectsToPrivateNamesAreRefused() async throws {
        try await run(base: "https://jokes.example", tls: FakeCertificate()) { fixture in
            for target in ["https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x"] {
                fixture.upstream.setFault(.redirect(to: target))
                let error = await fixture.failure(url: "https://jokes.example" + Fixture.search)
                #expect(error?.message.contains("redirects to \(target), but redirects to private") == true)
            }
            fixture.upstream.setFault(nil)
            fixture.upstream.setFault(.redirect(to: "https://jokes.example/jokes/categories"), path: "/jokes/search")
            let response = try await fixture.send(url: "https://jokes.example" + Fixture.search)
            #expect(response.status == 200)
        }
    }

    @Test func theDescriptionHasNoPassword() {
        let proxy = FetchRequest.Proxy(host: "h", port: 1, user: "user", password: "secret")
        #expect("\(proxy)" == "h:1")
        #expect(String(reflecting: proxy) == "h:1")
        #expect("\(FetchRequest.Proxy(host: "::1", port: 1))" == "[::1]:1")
        var request = FetchRequest()
        request.proxy = proxy
        #expect(!String(reflecting: request).contains("secret"))
    }
}
