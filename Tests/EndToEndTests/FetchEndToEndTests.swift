import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Tests of fetching by the built programs from an upstream without faults.
@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FetchEndToEndTests {
    @Test func thousandsOfFactsArriveOnceAndAreForgottenAndFetchedAgain() async throws {
        // A debug build may need more than the limit of three seconds for a document with 9,000 facts.
        let thousands = Programs.areDebug ? 2 : 9
        let upstream = try await FakeUpstream.start(jokes: FakeUpstream.jokes(count: thousands * 1000))
        do {
            let folder = TemporaryFolder()
            var daemon: RunningDaemon? = try .fetching(from: upstream, in: folder)
            try daemon?.waitUntilFetched(#require(daemon).watch())
            let items = try #require(daemon?.source().items)
            #expect(items > thousands * 1000)
            let paths = upstream.requests.map(\.path)
            #expect(paths == ["/jokes/search", "/jokes/search", "/jokes/categories"])
            let nextRun = try #require(try daemon?.source().nextRunAt)
            #expect(daemon?.end() == 0)
            daemon = nil

            let next = try RunningDaemon.fetching(from: upstream, in: folder)
            #expect(try next.source().nextRunAt == nextRun)
            #expect(try next.source().items == items)
            let page: FactSearch.Result = try LineClient(path: next.socket).call(
                FactSearch.self, #"{"query":"counted to \#(thousands * 1000 - 1) "}"#)
            #expect(page.items.count == 1)
            #expect(page.freshness?.origin == .cache)
            #expect(page.freshness?.state == .fresh)
            #expect(upstream.requests.count == 3, "Neither a restart nor a search sends a request")

            let watch = try next.watch()
            #expect(try next.ctl("clear-cache").output == "removed \(thousands),000 items\n")
            let finished = try watch.waitUntilFinished()
            #expect(finished.items?.count == items)
            #expect(upstream.requests.count == 6)
            #expect(upstream.requests.allSatisfy { $0.header("If-None-Match") == nil })
        }
        await upstream.stop()
    }

    /// `CREDENTIALS_DIRECTORY` names the folder of the key, and with `NOTIFY_SOCKET` a program could end the service.
    @Test func aProgramOfASourceGetsNoVariablesOfSystemd() throws {
        let folder = TemporaryFolder()
        let feed = "<rss><channel><item><guid>1</guid><title>Note</title></item></channel></rss>"
        let program = try folder.writeProgram("env >\(folder("variables"))\necho '\(feed)'", to: "program")
        let configuration = "facts: {enabled: false}\nposts: {sources: {notes: {kind: exec, command: [\(program)]}}}\n"
        let daemon = try RunningDaemon(
            in: folder, configuration: configuration, environment: ["CREDENTIALS_DIRECTORY": folder.path])
        try daemon.waitUntilFetched(daemon.watch(), "notes")
        #expect(try daemon.ctl("feed").output.contains("Note"))
        let variables = try String(contentsOfFile: folder("variables"), encoding: .utf8).split(separator: "\n")
        #expect(variables.contains("HOME=\(folder.path)"))
        #expect(!variables.contains { $0.hasPrefix("CREDENTIALS_") || $0.hasPrefix("NOTIFY_") })
    }

    private static let feed = "<rss><channel><item><guid>1</guid><title>Note</title></item></channel></rss>"

    private func configuration(running program: String) -> String {
        "facts: {enabled: false}\nposts: {sources: {notes: {kind: exec, command: ['\(program)']}}}\n"
    }

    @Test func programsEndWithTheDaemonHoweverItEnds() async throws {
        let folder = TemporaryFolder()
        let script = "sleep 1000 & echo $! >'\(folder("child"))'; echo $$ >'\(folder("pid"))'; sleep 1000 & wait"
        let program = try folder.writeProgram(script, to: "program")
        let daemon = try RunningDaemon(in: folder, configuration: configuration(running: program))
        for _ in 0..<12_000 where FileManager.default.contents(atPath: folder("pid"))?.isEmpty != false {
            poll(nil, 0, 10)
        }
        let pids = ["pid", "child"].compactMap { name in
            FileManager.default.contents(atPath: folder(name)).flatMap {
                pid_t(String(decoding: $0.dropLast(), as: UTF8.self))
            }
        }
        #expect(pids.count == 2 && pids.allSatisfy { kill($0, 0) == 0 })
        daemon.end(SIGKILL)
        // Empty until another process has reaped it.
        for pid in pids {
            await eventually { FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")?.isEmpty != false }
        }
    }

    /// A stop of the unit ends a fetch.
    @Test func aStopDuringAFetchIsNoFailure() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setFault(.hang)
        let folder = TemporaryFolder()
        let daemon = try RunningDaemon.fetching(from: upstream, in: folder)
        await eventually { !upstream.requests.isEmpty }
        #expect(daemon.end() == 0)
        let successor = try RunningDaemon.fetching(from: upstream, in: folder)
        #expect(try successor.source().freshness.error == nil && successor.source().consecutiveFailures == 0)
        await upstream.stop()
    }

    @Test func refreshSaysWhatCame() async throws {
        let upstream = try await FakeUpstream.start(jokes: FakeUpstream.jokes(count: 40))
        do {
            let daemon = try RunningDaemon.fetching(from: upstream)
            try daemon.waitUntilFetched(daemon.watch())
            let items = try daemon.source().items
            let nothing = try daemon.ctl("refresh", "--wait")
            #expect(nothing.status == 0, "\(nothing)")
            #expect(nothing.output == "facts: \(items) items\n")
            upstream.setJokes(FakeUpstream.jokes(count: 52))
            let more = try daemon.ctl("refresh", "facts", "--wait")
            #expect(more.output == "facts: \(items + 12) items, 12 new\n", "\(more)")
            upstream.setFault(.status(503))
            let failed = try daemon.ctl("refresh", "--wait")
            #expect(failed.status == 75)
            #expect(failed.output.isEmpty)
            #expect(failed.errors.contains("facts: HTTP 503 from 127.0.0.1:"))
            #expect(try daemon.ctl("refresh", "nothing").status == 1)
        }
        await upstream.stop()
    }

    @Test func aCertificateOfTheTestsOwnIsTrustedWhereTheEnvironmentNamesIt() async throws {
        let certificate = try FakeCertificate()
        let upstream = try await FakeUpstream.start(security: .tls(certificate))
        do {
            let trusting = try RunningDaemon.fetching(from: upstream, environment: ["SSL_CERT_FILE": certificate.path])
            try trusting.waitUntilFetched(trusting.watch())
            #expect(try trusting.source().freshness.error == nil)
            let requests = upstream.requests.count
            #expect(requests == 3)

            let wary = try RunningDaemon.fetching(from: upstream)
            try wary.waitUntilFailing(wary.watch())
            let failure = try #require(try wary.source().freshness.error)
            #expect(failure.kind == .offline)
            #expect(failure.message.contains("certificate"))
            #expect(upstream.requests.count == requests)
        }
        await upstream.stop()
    }

    @Test func proxiesOfTheEnvironmentAndPasswordsOfTheHomeAreIgnored() async throws {
        let upstream = try await FakeUpstream.start()
        let nobody = "http://127.0.0.1:1"
        do {
            let folder = TemporaryFolder()
            _ = try folder.write("machine 127.0.0.1 login chuck password secret\n", to: ".netrc")
            let daemon = try RunningDaemon.fetching(
                from: upstream, in: folder,
                environment: ["http_proxy": nobody, "https_proxy": nobody, "ALL_PROXY": nobody, "HOME": folder.path])
            try daemon.waitUntilFetched(daemon.watch())
            #expect(!upstream.requests.isEmpty)
            #expect(upstream.requests.allSatisfy { $0.header("Authorization") == nil && !$0.target.contains("://") })
        }
        await upstream.stop()
    }
}
