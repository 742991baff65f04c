import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20))) struct RedirectTests {
    private let certificate: FakeCertificate

    init() throws { certificate = try FakeCertificate(names: ["IP:127.0.0.1", "IP:127.0.0.2", "DNS:localhost"]) }

    /// - Parameters:
    ///   - host: The host of the base URL. The other upstream is at 127.0.0.1.
    ///   - baseIsPrivate: nil to detect the private address of the base URL.
    private func run(
        host: String = "127.0.0.1", baseIsPrivate: Bool? = nil,
        _ body: (Fixture, _ other: FakeUpstream) async throws -> Void
    ) async throws {
        let other = try await FakeUpstream.start(security: .tls(certificate))
        try await Fixture.run(
            FakeUpstream.start(security: .tls(certificate), host: host), baseIsPrivate: baseIsPrivate,
            configure: { $0.trustRoots = certificate.path }
        ) { try await body($0, other) }
        await other.stop()
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func fromSecureToSecureIsFollowed(status: Int) async throws {
        try await run { fixture, other in
            fixture.upstream.setFault(.redirect(to: other.baseURL + "/jokes/categories", status: status))
            let response = try await fixture.send(headers: [(name: "If-None-Match", value: "\"1\"")])
            #expect(response.status == 200)
            #expect(response.url?.description == other.baseURL + "/jokes/categories")
            #expect(other.requests.map(\.target) == ["/jokes/categories"])
            #expect(other.requests.first?.header("Host") == "127.0.0.1:\(other.port)")
            #expect(other.requests.first?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test func threeAreFollowedAndNoMore() async throws {
        try await run { fixture, _ async throws in
            for number in 0...2 { fixture.upstream.setFault(.redirect(to: "/\(number + 1)"), path: "/\(number)") }
            fixture.upstream.setFault(.json("[]"), path: "/3")
            #expect(try await fixture.send("/0").status == 200)
            fixture.upstream.setFault(.redirect(to: "/4"), path: "/3")
            #expect(await fixture.failure("/0")?.kind == .http(status: 302))
            #expect(fixture.upstream.requests.last?.path == "/3")
            let count = fixture.upstream.requests.count
            let error = await fixture.failure(with: .redirectLoop)
            #expect(error?.message.contains("at most 3 redirects") == true)
            #expect(fixture.upstream.requests.count == count + 4)
        }
    }

    @Test func fromAPublicUpstreamNoneLeadsToAPrivatePeer() async throws {
        try await run(host: "127.0.0.2", baseIsPrivate: false) { fixture, other async throws in
            for host in ["127.0.0.1", "localhost"] {
                let target = other.baseURL(host: host) + "/jokes/search"
                let error = await fixture.failure(with: .redirect(to: target))
                expect(error, .http(status: 302), "to \(target), but redirects to private", isRetryable: false)
            }
            // The connection ends before the request is sent.
            #expect(other.requests.isEmpty)
            // Redirects to the configured host are always followed.
            fixture.upstream.setFault(nil)
            fixture.upstream.setFault(.redirect(to: "/jokes/categories"), path: "/jokes/search")
            #expect(try await fixture.send().status == 200)
            #expect(fixture.upstream.requests.last?.path == "/jokes/categories")
        }
    }

    @Test func aConnectionInUseIsCheckedAgain() async throws {
        try await run(host: "127.0.0.2", baseIsPrivate: false) { fixture, other in
            var settings = Fixture.settings
            settings.trustRoots = certificate.path
            // A transport that may reach the other upstream leaves an open connection.
            let transport = CurlTransport(baseURL: other.baseURL, settings: settings, logger: Fixture.quietLogger)
            let url = other.baseURL + Fixture.search
            _ = try await transport.send(HTTPRequest(url: url, timeout: Fixture.longEnough))
            let count = other.requests.count
            let error = await fixture.failure(with: .redirect(to: other.baseURL + "/jokes/search"))
            #expect(error?.message.contains("redirects to private addresses are not followed") == true)
            #expect(other.requests.count == count)
        }
    }
}

struct RedirectTargetTests {
    private func target(
        _ status: Int, _ location: String?, from url: String = "https://h/x/y?api_key=secret", mayBePrivate: Bool = true
    ) throws -> HTTPURL? {
        let url = try #require(HTTPURL(url))
        return try redirectTarget(of: url, status: status, location: location, after: 0, mayBePrivate: mayBePrivate)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreFollowed(status: Int) throws {
        #expect(try target(status, "https://other/z")?.description == "https://other/z")
        #expect(try target(status, "../z?q")?.description == "https://h/z?q")
        #expect(try target(status, "https://127.0.0.1/") != nil)
    }

    @Test(arguments: [200, 204, 300, 304, 305, 306, 400, 404, 503])
    func otherStatusesAreNoRedirects(status: Int) throws { #expect(try target(status, "https://other/z") == nil) }

    @Test(
        arguments: [
            (nil, "https://h/x/y", "h/x/y redirects to something that is not an http or https URL"),
            ("ftp://h/", "https://h/x/y", "is not an http"), ("javascript:alert(1)", "https://h/x/y", "is not an http"),
            ("https://u:p@h/", "https://h/x/y", "is not an http"),
            ("https://h/\u{7}", "https://h/x/y", "is not an http"),
            ("http://o/p?key=secret", "https://h/x/y?secret", "to http://o/p, but only redirects from https"),
            ("http://o/p", "http://h/x", "only redirects from https"),
            ("https://o/p", "http://h/x", "redirects to https://o/p, but only redirects from https"),
            ("https://127.0.0.1/", "https://h/", "redirects to private addresses are not followed"),
        ] as [(String?, String, String)]
    )
    func theseAreErrors(location: String?, url: String, reason: String) async throws {
        let error = try #require(await failure { _ = try target(302, location, from: url, mayBePrivate: false) })
        #expect(error.kind == .http(status: 302))
        #expect(error.message.contains(reason))
        #expect(error.message.contains("; configure ") && !error.message.contains("secret"))
        #expect(!error.isRetryable)
    }
}
