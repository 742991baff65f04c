import Glibc
import NorrisFetchProtocol
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct RedirectTests {
    private let certificate: FakeCertificate

    init() throws { certificate = try FakeCertificate(names: ["IP:127.0.0.1", "IP:127.0.0.2", "DNS:localhost"]) }

    /// - Parameters:
    ///   - host: The host of the base URL. The other upstream is at 127.0.0.1.
    ///   - isSecure: Whether the base URL and the other upstream have TLS.
    ///   - allowsPrivate: nil to detect the private address of the base URL.
    private func run(
        host: String = "127.0.0.1", isSecure: (base: Bool, other: Bool) = (true, true), allowsPrivate: Bool? = nil,
        _ body: (Fixture, _ other: FakeUpstream) async throws -> Void
    ) async throws {
        let security = { (isSecure: Bool) in isSecure ? FakeUpstream.Security.tls(certificate) : .none }
        let other = try await FakeUpstream.start(security: security(isSecure.other))
        try await Fixture.run(
            FakeUpstream.start(security: security(isSecure.base), host: host),
            configure: { ($0.trustRoots, $0.allowsPrivate) = (certificate.path, allowsPrivate) }
        ) { try await body($0, other) }
        await other.stop()
    }

    @Test(arguments: [300, 301, 302, 303, 307, 308]) func fromSecureToSecureIsFollowed(status: Int) async throws {
        try await run { fixture, other in
            fixture.upstream.setFault(.redirect(to: other.baseURL + "/jokes/categories", status: status))
            let response = try await fixture.send(headers: [(name: "If-None-Match", value: "\"1\"")])
            #expect(response.status == 200)
            #expect(response.url.description == other.baseURL + "/jokes/categories")
            #expect(other.requests.map(\.target) == ["/jokes/categories"])
            #expect(other.requests.first?.header("Host") == "127.0.0.1:\(other.port)")
            #expect(other.requests.first?.header("If-None-Match") == "\"1\"")
        }
    }

    @Test(
        "Only permanent redirects before all others say where a document has moved",
        arguments: [
            ([301, 308], "/2"), ([301, 302], "/1"), ([302, 301], nil), ([307], nil), ([308], "/1"), ([], nil),
        ] as [([Int], String?)])
    func permanentRedirects(statuses: [Int], target: String?) async throws {
        try await run(isSecure: (false, false)) { fixture, _ in
            for (number, status) in statuses.enumerated() {
                let next = "/\(number + 1)?key=1#f"
                fixture.upstream.setFault(.redirect(to: next, status: status), path: "/\(number)")
            }
            fixture.upstream.setFault(.json("[]"), path: "/\(statuses.count)")
            let base = fixture.upstream.baseURL
            let response = try await fixture.send("/0")
            #expect(response.movedTo?.description == target.map { "\(base)\($0)?key=1" })
        }
    }

    @Test func fromSecureToPlainIsNotFollowed() async throws {
        try await run(isSecure: (true, false)) { fixture, other in
            let error = await fixture.failure(with: .redirect(to: other.baseURL + "/p?key=secret"))
            let reason = "redirects from https to http are not followed; configure that address."
            expect(error, .http(status: 302), "to \(other.baseURL)/p, but \(reason)", isRetryable: false)
            #expect(error?.message.contains("secret") == false)
            #expect(other.requests.isEmpty)
        }
    }

    @Test func fiveAreFollowedAndNoMore() async throws {
        try await run { fixture, _ async throws in
            for number in 0...4 { fixture.upstream.setFault(.redirect(to: "/\(number + 1)"), path: "/\(number)") }
            fixture.upstream.setFault(.json("[]"), path: "/5")
            #expect(try await fixture.send("/0").status == 200)
            fixture.upstream.setFault(.redirect(to: "/6"), path: "/5")
            #expect(await fixture.failure("/0")?.kind == .http(status: 302))
            #expect(fixture.upstream.requests.last?.path == "/5")
            let count = fixture.upstream.requests.count
            let error = await fixture.failure(with: .redirectLoop)
            #expect(error?.message.contains("at most 5 redirects") == true)
            #expect(fixture.upstream.requests.count == count + 6)
        }
    }

    @Test func fromAPublicUpstreamNoneLeadsToAPrivatePeer() async throws {
        try await run(host: "127.0.0.2", allowsPrivate: false) { fixture, other async throws in
            for host in ["127.0.0.1", "localhost"] {
                let target = other.baseURL(host: host) + "/jokes/search"
                let error = await fixture.failure(with: .redirect(to: target))
                expect(error, .http(status: 302), "to \(target), but redirects to private", isRetryable: false)
            }
            #expect(other.requests.isEmpty)
            // Redirects to the configured host are always followed.
            fixture.upstream.setFault(nil)
            fixture.upstream.setFault(.redirect(to: "/jokes/categories"), path: "/jokes/search")
            #expect(try await fixture.send().status == 200)
            #expect(fixture.upstream.requests.last?.path == "/jokes/categories")
        }
    }

    /// A name, other than localhost, with a private address. This machine's own name usually has one.
    private static let privateName: (name: String, address: String)? = {
        var bytes = [CChar](repeating: 0, count: 256)
        gethostname(&bytes, bytes.count)
        let name = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return [name, "ip6-loopback", "host.docker.internal"].lazy
            .compactMap { name in privateAddress(of: name).map { (name, $0) } }.first
    }()

    /// A name tells nothing of the address that it leads to.
    @Test(.enabled(if: privateName != nil, "This machine knows no name with a private address."))
    func fromAPublicUpstreamNoNameLeadsToAPrivatePeer() async throws {
        let (name, address) = try #require(Self.privateName)
        try await run(host: "127.0.0.2", isSecure: (false, false), allowsPrivate: false) { fixture, _ in
            let other = try await FakeUpstream.start(host: address)
            let target = other.baseURL(host: name) + "/jokes/search"
            let error = await fixture.failure(with: .redirect(to: target))
            expect(error, .http(status: 302), "to \(target), but redirects to private", isRetryable: false)
            #expect(other.requests.isEmpty)
            await other.stop()
        }
    }

    /// The first IPv4 address of a name, if it is private.
    private static func privateAddress(of name: String) -> String? {
        var hints = addrinfo()
        (hints.ai_family, hints.ai_socktype) = (AF_INET, CInt(SOCK_STREAM.rawValue))
        var list: UnsafeMutablePointer<addrinfo>?
        guard HTTPURL("http://\(name)")?.hasPrivateHost == false, getaddrinfo(name, nil, &hints, &list) == 0,
            let first = list
        else { return nil }
        defer { freeaddrinfo(first) }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        getnameinfo(
            first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return IPAddress(address)?.isPrivate == true ? address : nil
    }

    /// Parsers of URLs differ in white space beyond ASCII, of which libcurl ignores none.
    @Test(arguments: ["\u{A0}", "\u{3000}", "\u{2028}"])
    func aLocationIsReadAsLibcurlReadsIt(space: String) async throws {
        try await run(isSecure: (false, false)) { fixture, other in
            fixture.upstream.setFault(.redirect(to: "\(space)\(other.baseURL)/x"), path: "/feed")
            fixture.upstream.setFault(.json("[]"))
            let response = try await fixture.send("/feed")
            #expect(response.url.authority == "127.0.0.1:\(fixture.upstream.port)", "\(response.url)")
            #expect(fixture.upstream.requests.count == 2 && other.requests.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("/final", "/final"), ("final", "/x/final"), ("to?a=1", "/x/to?a=1"), ("../final#f", "/final"),
            ("/a b/ü", "/a%20b/%c3%bc"),
        ]) func aPasswordStaysWithARelativeRedirect(location: String, target: String) async throws
    {
        try await run(isSecure: (false, false)) { fixture, _ in
            fixture.upstream.setFault(.redirect(to: location), path: "/x/rel")
            fixture.upstream.setFault(.json("[]"), path: String(target.prefix { $0 != "?" }))
            let url = fixture.upstream.baseURL.replacing("://", with: "://me:secret@")
            let response = try await fixture.send(url: url + "/x/rel")
            #expect(response.url.path + (response.url.query.map { "?\($0)" } ?? "") == target)
            #expect(fixture.upstream.requests.map { $0.header("Authorization") != nil } == [true, true])
        }
    }

    @Test func aPasswordNeverGoesToAnotherHost() async throws {
        try await run(isSecure: (false, false)) { fixture, other in
            let url = fixture.upstream.baseURL.replacing("://", with: "://me:secret@") + "/x"
            for base in [other.baseURL, fixture.upstream.baseURL(host: "localhost")] {
                fixture.upstream.setFault(.redirect(to: base + "/jokes/categories"), path: "/x")
                _ = try await fixture.send(url: url)
            }
            let others = other.requests + fixture.upstream.requests.filter { $0.path != "/x" }
            #expect(others.count == 2 && others.allSatisfy { $0.header("Authorization") == nil })
            // A password in the redirect is not sent either.
            let foreign = other.baseURL.replacing("://", with: "://you:pw@")
            #expect(await fixture.failure(with: .redirect(to: foreign))?.kind == .http(status: 302))
            #expect(other.requests.count == 1)
        }
    }

    @Test func headersOfTheConfigurationGoToTheConfiguredHostOnly() async throws {
        let other = try await FakeUpstream.start()
        try await Fixture.run(
            FakeUpstream.start(), configure: { $0.request.headers = ["X-Token: secret", "Cookie: a=b"] }
        ) { fixture in
            func sends(_ requests: [FakeUpstream.Request]) -> [Bool] {
                requests.map { $0.header("X-Token") == "secret" && $0.header("Cookie") == "a=b" }
            }
            fixture.upstream.setFault(.redirect(to: "/y"), path: "/x")
            fixture.upstream.setFault(.redirect(to: other.baseURL + "/z"), path: "/y")
            other.setFault(.redirect(to: "/end"), path: "/z")
            other.setFault(.json("[]"), path: "/end")
            _ = try await fixture.send("/x")
            #expect(sends(fixture.upstream.requests) == [true, true])
            #expect(other.requests.count == 2)
            #expect(other.requests.allSatisfy { $0.header("X-Token") == nil && $0.header("Cookie") == nil })
        }
        await other.stop()
    }

    /// libcurl follows the `Location` of any status from 300 to 399.
    @Test(arguments: [200, 304, 305, 404, 503])
    func otherStatusesAreNoRedirects(status: Int) async throws {
        try await run(host: "127.0.0.2", allowsPrivate: false) { fixture, other in
            other.setFault(.json(#"{"message":"private"}"#))
            let fault = FakeUpstream.Fault.redirect(to: other.baseURL + "/jokes/categories", status: status)
            let error = await fixture.failure(with: fault)
            // A 304 needs validators.
            #expect(error?.kind == (status == 200 ? nil : status == 304 ? .decode : .http(status: status)))
            #expect(error?.message.contains("private") != true)
            #expect(other.requests.isEmpty)
        }
    }

    @Test func cookiesReturnToTheirHostOnly() async throws {
        try await run(isSecure: (false, false)) { fixture, _ async throws in
            func redirect(_ cookie: String, to target: String) -> FakeUpstream.Fault {
                .answer(status: 302, headers: [("Set-Cookie", cookie), ("Location", target)], body: [])
            }
            // libcurl connects to this machine for names that end with `.localhost`.
            let site = "http://site.localhost:\(fixture.upstream.port)"
            fixture.upstream.setFault(redirect("a=1; Path=/", to: "/1"), path: "/0")
            fixture.upstream.setFault(redirect("b=2; Path=/other", to: site + "/2"), path: "/1")
            fixture.upstream.setFault(redirect("c=3; Domain=site.localhost", to: site + "/3"), path: "/2")
            fixture.upstream.setFault(.redirect(to: "http://sub.site.localhost:\(fixture.upstream.port)/4"), path: "/3")
            fixture.upstream.setFault(.redirect(to: fixture.upstream.baseURL + "/5"), path: "/4")
            fixture.upstream.setFault(.json("[]"), path: "/5")
            #expect(try await fixture.send("/0").status == 200)
            let cookies = fixture.upstream.requests.map { $0.header("Cookie") }
            #expect(cookies == [nil, "a=1", nil, "c=3", nil, "a=1"])
            // Another fetch begins without cookies.
            #expect(try await fixture.send("/5").status == 200)
            #expect(fixture.upstream.requests.last?.header("Cookie") == nil)
        }
    }

    @Test(arguments: ["ftp://h/", "javascript:alert(1)", "https://a b/", "https://"])
    func anythingElseIsNoTarget(location: String) async throws {
        try await run { fixture, _ in
            fixture.upstream.setFault(.redirect(to: location))
            let error = await fixture.failure("/x/y?key=secret")
            let address = "127.0.0.1:\(fixture.upstream.port)/x/y"
            expect(
                error, .http(status: 302), "\(address) redirects to something that is not an http or https URL",
                isRetryable: false)
            #expect(error?.message.contains("; configure ") == true && error?.message.contains("secret") == false)
            #expect(fixture.upstream.requests.count == 1)
        }
    }
}
