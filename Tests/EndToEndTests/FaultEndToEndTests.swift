import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// What users notice of an upstream that fails, and what not, by the built programs.
@Suite(.timeLimit(.minutes(20)))
struct FaultEndToEndTests {
    /// Something that goes wrong at the upstream, and how `freshness.error` tells it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: SourceFailure.Kind
        /// nil for an upstream that is not there.
        let fault: FakeUpstream.Fault?

        init(_ name: String, _ kind: SourceFailure.Kind, _ fault: FakeUpstream.Fault?) {
            testDescription = name
            self.kind = kind
            self.fault = fault
        }
    }

    static let cases = [
        Case("refused", .offline, nil),
        Case("reset", .offline, .reset),
        Case("closed", .offline, .raw("")),
        Case("cut off", .offline, .truncated(chunked: false)),
        Case("cut off in a chunk", .offline, .truncated(chunked: true)),
        Case("hanging", .timeout, .hang),
        Case("dripping", .timeout, .drip(every: .milliseconds(200))),
        Case("endless", .decode, .endless),
        Case("gzip bomb", .decode, .gzipBomb),
        Case("bad request", .http, .status(400)),
        Case("not found", .http, .status(404, body: #"{"status":404,"error":"Not Found"}"#)),
        Case("too many requests", .quota, .status(429, retryAfter: "2")),
        Case("broken", .http, .status(500)),
        Case("unavailable", .http, .status(503, retryAfter: "1")),
        Case("HTML", .decode, .html),
        Case("garbage", .decode, .garbage),
        Case("wrong types", .decode, .wrongTypes),
        Case("half a document", .decode, .json(#"{"total":2,"result":[{"id":"a"#)),
        Case("empty result", .decode, .emptyResult),
        Case("unusable items", .decode, .json(#"{"total":1,"result":[{"id":"a","value":7}]}"#)),
        Case("redirect loop", .http, .redirectLoop),
    ]

    @Test("While the upstream fails all goes on, and afterwards it mends by itself", arguments: cases)
    func faults(_ fault: Case) async throws {
        let upstream = try await FakeUpstream.start()
        try await TestThread.run {
            let daemon = try RunningDaemon.fetching(
                from: upstream, facts: ", refresh: 1s",
                http: "timeout: \(fault.kind == .timeout ? 2 : 60)s, max_body: 256KiB"
            )
            let watch = try daemon.watch()
            try daemon.waitUntilFetched(watch)
            let items = try daemon.source().items
            #expect(items > 40)
            if fault.fault == nil { upstream.close() }
            // A 304 has no body that could go wrong.
            upstream.setJokes(FakeUpstream.jokes(count: 41), fault: fault.fault)
            let failed = try watch.wait(for: .failed)
            #expect(failed.error?.kind == fault.kind)

            try check(daemon, failsWith: fault.kind, items: items)
            let lines = daemon.log(of: "source.failed")
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.first?.contains("error.kind=\(fault.kind.rawValue)") == true)

            upstream.setFault(nil)
            if fault.fault == nil { upstream.reopen() }
            try watch.wait(for: .finished)
            let source = try daemon.source()
            #expect(source.freshness.error == nil)
            #expect(source.consecutiveFailures == 0)
            #expect(source.items == items + 1)
            #expect(daemon.log(of: "source.failed").count == 1)
            #expect(daemon.log(of: "source.recovered").count == 1)
        }
        await upstream.stop()
    }

    private func check(_ daemon: RunningDaemon, failsWith kind: SourceFailure.Kind, items: Int) throws {
        let fact = try daemon.ctl("fact")
        #expect(fact.status == 0)
        #expect(fact.lines.count == 1)
        #expect(fact.errors.hasPrefix("norrisctl: facts: "))
        #expect(fact.errors.hasSuffix("; showing what is stored\n"))
        #expect(fact.errors.count { $0 == "\n" } == 1)

        let client = try LineClient(path: daemon.socket)
        let found: FactSearch.Result = try client.call(FactSearch.description, #"{"query":"Counted to 7 "}"#)
        #expect(found.items.map(\.text) == [FakeUpstream.jokes(count: 8)[7].value])
        #expect(found.freshness?.origin == .cache)
        #expect(found.freshness?.error?.kind == kind)

        let status = try daemon.ctl("status")
        #expect(status.status == 0)
        #expect(status.output.contains("\(kind.rawValue): "))
        let source = try daemon.source()
        #expect(source.items == items)
        #expect(source.freshness.error?.kind == kind)
        #expect(source.freshness.fetchedAt != nil)
        #expect(source.consecutiveFailures >= 1)
    }

    // MARK: From the first start on

    @Test func anUpstreamThatIsNotThereDoesNotSlowASearch() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.close()
        try await TestThread.run {
            let daemon = try RunningDaemon.fetching(from: upstream)
            try daemon.waitUntilFailing(daemon.watch())
            for _ in 0..<2 {
                let found = try daemon.ctl("search", "Chuck")
                #expect(found.status == 0)
                #expect(found.lines.count == 25)
                #expect(found.errors.contains("facts: offline"))
                #expect(try daemon.ctl("fact").status == 0)
            }
        }
        await upstream.stop()
    }

    @Test func anUpstreamThatHangsCostsOneSearchTwoSecondsAndNoOtherAny() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setFault(.hang)
        try await TestThread.run {
            let daemon = try RunningDaemon.fetching(from: upstream)
            await upstream.waitForRequests(1)
            func search() throws -> (FactSearch.Result, Duration) {
                let client = try LineClient(path: daemon.socket)
                let start = ContinuousClock.now
                let result: FactSearch.Result = try client.call(FactSearch.description, #"{"query":"light"}"#)
                return (result, start.duration(to: .now))
            }
            let (first, time) = try search()
            #expect(time >= .seconds(2))
            #expect(first.freshness?.error?.kind == .timeout)
            // Once is enough: a busy machine may take its time without having waited for the upstream.
            var again = Duration.seconds(60)
            for _ in 0..<10 where again >= .seconds(1) {
                let second: FactSearch.Result
                (second, again) = try search()
                #expect(second.items == first.items)
                #expect(second.freshness?.origin == .builtin)
            }
            #expect(again < .seconds(1))
            #expect(try daemon.ctl("fact").status == 0)
            #expect(upstream.requests.count == 1, "The search waited for its turn in vain")
        }
        await upstream.stop()
    }

    // MARK: Redirects

    @Test func aRedirectToAPrivateAddressIsNotFollowed() async throws {
        let certificate = try FakeCertificate()
        let proxy = try await FakeUpstream.start(security: .tlsAfterConnect(certificate))
        let target = try await FakeUpstream.start(security: .tls(certificate))
        proxy.setFault(.redirect(to: target.baseURL), path: "/jokes/search")
        try await TestThread.run {
            let daemon = try RunningDaemon(
                configuration: RunningDaemon.configuration(
                    "https://jokes.example", http: "proxy: 'http://127.0.0.1:\(proxy.port)'"
                ),
                environment: ["SSL_CERT_FILE": certificate.path]
            )
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
