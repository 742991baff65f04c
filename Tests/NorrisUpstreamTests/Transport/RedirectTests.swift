import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct RedirectTests {
    private let certificate: FakeCertificate

    init() throws {
        certificate = try FakeCertificate(names: ["IP:127.0.0.1", "IP:127.0.0.2", "DNS:localhost"])
    }

    /// - Parameters:
    ///   - host: of the base; the other upstream is at 127.0.0.1.
    ///   - assumingBaseIsPrivate: nil to look at the base, which is a loopback address.
    private func run(
        host: String = "127.0.0.1", assumingBaseIsPrivate: Bool? = nil,
        _ body: (Asking, _ other: FakeUpstream) async throws -> Void
    ) async throws {
        let other = try await FakeUpstream.start(security: .tls(certificate))
        try await Asking.run(
            FakeUpstream.start(security: .tls(certificate), host: host),
            assumingBaseIsPrivate: assumingBaseIsPrivate,
            configure: { $0.trustRoots = certificate.path }
        ) { try await body($0, other) }
        await other.stop()
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func fromSecureToSecureIsFollowed(status: Int) async throws {
        try await run { asking, other in
            asking.upstream.setFault(.redirect(to: other.baseURL + "/jokes/categories", status: status))
            let etag = [(name: "If-None-Match", value: "\"1\"")]
            let answer = try await asking.send(headers: etag)
            #expect(answer.status == 200)
            #expect(answer.url?.description == other.baseURL + "/jokes/categories")
            #expect(other.requests.map(\.target) == ["/jokes/categories"])
            #expect(other.requests.first?.header("Host") == "127.0.0.1:\(other.port)")
            #expect(other.requests.first?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test func aRelativeOneIsFollowed() async throws {
        try await run { asking, _ in
            asking.upstream.setFault(.redirect(to: "categories?x=1"), path: "/jokes/search")
            let answer = try await asking.send()
            #expect(answer.status == 200)
            #expect(asking.upstream.requests.last?.target == "/jokes/categories?x=1")
        }
    }

    @Test func threeAreFollowedAndNoMore() async throws {
        try await run { asking, _ in
            asking.upstream.setFault(.redirect(to: "/1"), path: "/0")
            asking.upstream.setFault(.redirect(to: "/2"), path: "/1")
            asking.upstream.setFault(.redirect(to: "/3"), path: "/2")
            asking.upstream.setFault(.json("[]"), path: "/3")
            let answer = try await asking.send("/0")
            #expect(answer.status == 200)
            asking.upstream.setFault(.redirect(to: "/4"), path: "/3")
            #expect(await asking.failure("/0")?.kind == .http(status: 302))
            #expect(asking.upstream.requests.last?.path == "/3")
        }
    }

    @Test func aLoopEnds() async throws {
        try await run { asking, _ in
            let error = await asking.failure(with: .redirectLoop)
            #expect(error?.kind == .http(status: 302))
            #expect(error?.message.contains("no more than 3 redirects") == true)
            #expect(asking.upstream.requests.count == 4)
        }
    }

    @Test func fromSecureToPlainIsRefused() async throws {
        let plain = try await FakeUpstream.start()
        try await run { asking, _ in
            let error = await asking.failure(with: .redirect(to: plain.baseURL + "/jokes/search?query=secret"))
            #expect(error?.kind == .http(status: 302))
            #expect(error?.message.contains("http://127.0.0.1:\(plain.port)/jokes/search, and") == true)
            #expect(error?.message.contains("secret") == false)
            #expect(plain.requests.isEmpty)
        }
        await plain.stop()
    }

    @Test func fromPlainIsRefused() async throws {
        let other = try await FakeUpstream.start(security: .tls(certificate))
        try await Asking.run(FakeUpstream.start()) { asking in
            for target in [other.baseURL, asking.upstream.baseURL] {
                #expect(await asking.failure(with: .redirect(to: target))?.kind == .http(status: 302))
            }
            #expect(other.requests.isEmpty)
        }
        await other.stop()
    }

    @Test func fromAPublicUpstreamNoneLeadsToAPrivatePeer() async throws {
        try await run(host: "127.0.0.2", assumingBaseIsPrivate: false) { asking, other in
            for host in ["127.0.0.1", "localhost"] {
                let target = other.baseURL(host: host) + "/jokes/search"
                let error = await asking.failure(with: .redirect(to: target))
                #expect(error?.kind == .http(status: 302))
                #expect(error?.message.contains("redirects to \(target), and a private address") == true)
                #expect(error?.isRetryable == false)
            }
            // The connection ends before the request goes out.
            #expect(other.requests.isEmpty)
            // The configured host is always fetched, by a redirect too.
            asking.upstream.setFault(nil)
            asking.upstream.setFault(.redirect(to: "/jokes/categories"), path: "/jokes/search")
            let answer = try await asking.send()
            #expect(answer.status == 200)
            #expect(asking.upstream.requests.last?.path == "/jokes/categories")
        }
    }

    @Test func aConnectionInUseIsCheckedAgain() async throws {
        try await run(host: "127.0.0.2", assumingBaseIsPrivate: false) { asking, other in
            var settings = Asking.settings
            settings.trustRoots = certificate.path
            // A transport that may ask the other leaves a connection to it.
            let transport = CurlTransport(baseURL: other.baseURL, settings: settings, logger: Asking.quietLogger)
            defer { transport.shutdown() }
            let url = other.baseURL + Asking.search
            _ = try await transport.send(HTTPRequest(url: url, timeout: Asking.longEnough))
            let count = other.requests.count
            let error = await asking.failure(with: .redirect(to: other.baseURL + "/jokes/search"))
            #expect(error?.message.contains("a private address is not followed") == true)
            #expect(other.requests.count == count)
        }
    }
}
