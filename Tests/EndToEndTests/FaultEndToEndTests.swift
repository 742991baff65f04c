import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FaultEndToEndTests {
    // MARK: Every fault

    /// A fault and its `freshness.error` kind. The name is the key under `posts.sources` and the start of the path.
    private typealias Case = (name: String, kind: SourceFailure.Kind, fault: FakeUpstream.Fault)

    private static let cases: [Case] = [
        ("reset", .offline, .reset), ("closed", .offline, .raw("")), ("cut-off", .offline, .truncated(chunked: false)),
        ("cut-off-in-a-chunk", .offline, .truncated(chunked: true)), ("hanging", .timeout, .hang),
        ("dripping", .timeout, .drip(every: .milliseconds(200))), ("endless", .decode, .endless),
        ("gzip-bomb", .decode, .gzipBomb), ("long-head", .decode, .longHead), ("bad-request", .http, .status(400)),
        ("not-found", .http, .status(404, body: #"{"status":404,"error":"Not Found"}"#)),
        ("too-many-requests", .quota, .status(429, retryAfter: "2")), ("broken", .http, .status(500)),
        ("unavailable", .http, .status(503, retryAfter: "1")), ("html", .decode, .html), ("garbage", .decode, .garbage),
        ("wrong-types", .decode, .json(#"{"data":"two"}"#)),
        ("half-a-document", .decode, .json(#"{"data":[{"uid":"u"#)),
        ("unusable-items", .decode, .json(#"{"data":[7]}"#)), ("redirect-loop", .http, .redirectLoop),
    ]

    /// Returns a valid answer of an upstream.
    private static func users(posts: Int) -> [UInt8] {
        let posts = (1...posts).map { #"{"id":\#($0),"pics":["https://h.example/\#($0).png"]}"# }
        return Array(#"{"data":[{"uid":"u","name":"U","posts":[\#(posts.joined(separator: ","))]}]}"#.utf8)
    }

    @Test("One source for each fault: all fail as they should, hold up no other, and mend by themselves")
    func everyFault() async throws {
        let valid = try FakeCertificate()
        let certificates = [
            ("expired", try FakeCertificate(isExpired: true)),
            ("wrong-name", try FakeCertificate(names: ["DNS:elsewhere.example"])),
            ("self-signed", try FakeCertificate()),
        ]
        let upstream = try await FakeUpstream.start()
        // A separate address, so that no other process gets the port while it is closed.
        let refusing = try await FakeUpstream.start(host: "127.0.0.7")
        var secure: [FakeUpstream] = []
        for _ in certificates { secure.append(try await FakeUpstream.start(security: .tls(valid))) }

        var sites = Self.cases.map { (name: $0.name, upstream: upstream) }
        sites.append((name: "refused", upstream: refusing))
        sites += zip(certificates, secure).map { (name: $0.0, upstream: $1) }
        let wellBehaved = (name: "well-behaved", upstream: upstream)
        for (name, upstream) in sites + [wellBehaved] {
            upstream.setDocument("/\(name)/users/posts", contentType: "application/json", body: Self.users(posts: 1))
        }
        let folder = TemporaryFolder()
        let trusted = try folder.write(
            try ([valid] + certificates.dropLast().map(\.1)).map { certificate in
                try String(contentsOfFile: certificate.path, encoding: .utf8)
            }.joined(), to: "trusted.pem")
        let sources = (sites + [wellBehaved]).map { name, upstream in
            "    \(name): {kind: users-posts, url: '\(upstream.baseURL)/\(name)', refresh: 1s}\n"
        }
        var kinds = Dictionary(uniqueKeysWithValues: Self.cases.map { ($0.name, $0.kind) })
        for name in ["refused"] + certificates.map(\.0) { kinds[name] = .offline }

        do {
            let daemon = try RunningDaemon(
                in: folder,
                configuration: """
                    http: {timeout: 4s, max_body: 256KiB}
                    facts: {enabled: false}
                    posts:
                      sources:
                    \(sources.joined())
                    """, environment: ["SSL_CERT_FILE": trusted])
            let watch = try daemon.watch()
            for (name, _) in sites { try daemon.waitUntilFetched(watch, name) }

            // The faults first, because a 304 has no body.
            for fault in Self.cases { upstream.setFault(fault.fault, path: "/\(fault.name)/users/posts") }
            for ((_, certificate), upstream) in zip(certificates, secure) {
                try await upstream.setCertificate(certificate)
            }
            refusing.close()
            for (name, upstream) in sites + [wellBehaved] {
                let body = Self.users(posts: 2)
                upstream.setDocument("/\(name)/users/posts", contentType: "application/json", body: body)
            }
            var missing = kinds
            var wrong: [String: Int] = [:]
            while !missing.isEmpty {
                let event = try watch.wait(for: .failed)
                guard let name = event.source, let kind = missing[name] else { continue }
                if event.error?.kind != kind {
                    // A busy machine may cause other failures, so four of them are ignored.
                    wrong[name, default: 0] += 1
                    if wrong[name, default: 0] < 5 { continue }
                    Issue.record("\(name) fails with \(event.error as Any)")
                }
                missing[name] = nil
            }

            #expect(try daemon.ctl("fact").status == 0)
            #expect(try daemon.ctl("status").status == 0)
            for (name, _) in sites {
                let source = try daemon.source(name)
                #expect(source.items == 1, "\(name)")
                #expect(source.freshness.fetchedAt != nil, "\(name)")
                #expect(source.consecutiveFailures >= 1, "\(name)")
                let kind = kinds[name]?.rawValue ?? ""
                try daemon.waitForLog { log in
                    log.split(separator: "\n").last {
                        $0.contains(" source.failed ") && $0.hasSuffix(" source=\(name)")
                    }?
                    .contains(" error.kind=\(kind) ") == true
                }
            }
            try wait(watch) { try daemon.source(wellBehaved.name).items == 2 }
            #expect(try daemon.source(wellBehaved.name).freshness.error == nil)

            for fault in Self.cases { upstream.setFault(nil, path: "/\(fault.name)/users/posts") }
            for upstream in secure { try await upstream.setCertificate(valid) }
            refusing.reopen()
            for (name, _) in sites {
                try wait(watch) { try daemon.source(name).items == 2 && daemon.source(name).freshness.error == nil }
            }
            _ = try daemon.log(of: "source.recovered", atLeast: sites.count)
        }
        for upstream in secure + [upstream, refusing] { await upstream.stop() }
    }

    /// Checks the condition again after each fetch.
    private func wait(_ watch: LineClient, until condition: () throws -> Bool) throws {
        while try !condition() { try watch.wait(for: .finished) }
    }

    // MARK: From the first start

    @Test func anUpstreamThatIsNotThereDoesNotSlowASearch() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.close()
        do {
            let daemon = try RunningDaemon.fetching(from: upstream)
            try daemon.waitUntilFailing(daemon.watch())
            for _ in 0..<2 {
                let found = try daemon.ctl("search", "Chuck")
                #expect(found.status == 0)
                #expect(found.lines.count == 25)
                #expect(found.errors.isEmpty, "Facts do not age: \(found.errors)")
                #expect(try daemon.ctl("search", "no such text").errors.contains("facts: offline"))
                #expect(try daemon.ctl("fact").status == 0)
            }
        }
        await upstream.stop()
    }

    // MARK: Redirects

    @Test func aRedirectToAPrivateAddressIsNotFollowed() async throws {
        let certificate = try FakeCertificate()
        let proxy = try await FakeUpstream.start(security: .tlsAfterConnect(certificate))
        let target = try await FakeUpstream.start(security: .tls(certificate))
        proxy.setFault(.redirect(to: target.baseURL), path: "/jokes/search")
        do {
            let daemon = try RunningDaemon(
                configuration: RunningDaemon.configuration(
                    "https://jokes.example", http: "proxy: 'http://127.0.0.1:\(proxy.port)', timeout: 60s"),
                environment: ["SSL_CERT_FILE": certificate.path])
            try daemon.waitUntilFailing(daemon.watch())
            let failure = try #require(try daemon.source().freshness.error)
            #expect(failure.kind == .http)
            #expect(failure.message.contains("private address"))
            #expect(proxy.requests.map(\.method) == ["CONNECT", "GET"])
            #expect(target.requests.isEmpty)
        }
        await proxy.stop()
        await target.stop()
    }
}
