import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct GifEndToEndTests {
    private static let key = "s3cr3t-key-of-a-test"

    /// An upstream with 46 GIFs for one query, on two pages that share a GIF.
    private func upstream(count: Int = 46) async throws -> FakeUpstream {
        let upstream = try await FakeUpstream.start()
        upstream.requireKey(Self.key)
        upstream.repeatGifsAcrossPages()
        upstream.setGifs(FakeUpstream.gifs(count: count), query: "aquabats")
        return upstream
    }

    private func configuration(
        _ upstream: FakeUpstream, _ folder: TemporaryFolder, gifs: String = ""
    ) throws -> String {
        let file = try folder.write(Self.key + "\n", to: "giphy-key")
        return """
            log: {level: trace}
            facts: {enabled: false}
            http: {timeout: 60s}
            gifs: {base_url: '\(upstream.baseURL)', api_key_file: '\(file)', queries: []\(gifs)}

            """
    }

    /// Runs a body until it returns true, at most five times. norrisd waits only two seconds for a search, which may be
    /// too short on a busy machine, and sends no request in the next minute. A new daemon sends one at once.
    private func retrying(_ body: () async throws -> Bool) async throws {
        for _ in 0..<4 {
            if try await body() { return }
        }
        #expect(try await body())
    }

    /// Returns the offsets of the search requests.
    private func searches(_ upstream: FakeUpstream) -> [String?] {
        upstream.requests.filter { $0.path.hasSuffix("/search") }.map { $0.parameter("offset") ?? "0" }
    }

    @Test func aSearchPagesToItsEndWithoutADoubleAndIsAskedOnce() async throws {
        let upstream = try await upstream()
        try await retrying {
            let folder = TemporaryFolder()
            let daemon = try RunningDaemon(in: folder, configuration: configuration(upstream, folder))
            // norrisd fetches trending GIFs first, and a search waits at most two seconds for its turn.
            try daemon.waitUntilFetched(daemon.watch(), "gifs")
            let before = searches(upstream).count
            let first = try daemon.ctl("gif", "aquabats", "--url")
            guard first.status == 0 else { return false }
            #expect(first.errors.contains("Powered by GIPHY"))
            #expect(first.output.split(separator: "\n").count == 25)
            #expect(searches(upstream).dropFirst(before) == ["0"])

            upstream.setFault(.status(500), path: "/v1/gifs/search")
            let failed = try daemon.ctl("gif", "aquabats", "--page", "2")
            #expect(failed.status == 75, "\(failed)")
            #expect(try daemon.ctl("gif", "aquabats", "--url").output == first.output, "The first page is still there")
            return true
        }
        upstream.setFault(nil, path: "/v1/gifs/search")
        try await retrying {
            let folder = TemporaryFolder()
            let daemon = try RunningDaemon(in: folder, configuration: configuration(upstream, folder))
            try daemon.waitUntilFetched(daemon.watch(), "gifs")
            let before = searches(upstream).count
            var ids: [String] = []
            for page in ["1", "2"] {
                let result = try daemon.ctl("gif", "AQUABATS ", "--page", page)
                guard result.status == 0 else { return false }
                ids += result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
            }
            #expect(ids.count == 46)
            #expect(Set(ids).count == 46)
            #expect(searches(upstream).dropFirst(before) == ["0", "25"])
            _ = try daemon.ctl("gif", "aquabats", "--page", "2")
            #expect(searches(upstream).count == before + 2, "A stored page costs no request")
            #expect(try daemon.ctl("gif", "aquabats", "--page", "3").status == 1)
            // The third request is the prefetch of trending GIFs.
            #expect(try daemon.quota().used == 3)
            return true
        }
        await upstream.stop()
    }

    @Test func theKeyIsNowhereButInTheRequests() async throws {
        let upstream = try await upstream()
        try await retrying {
            let folder = TemporaryFolder()
            let configuration = try configuration(upstream, folder)
            let daemon = try RunningDaemon(in: folder, configuration: configuration)
            try daemon.waitUntilFetched(daemon.watch(), "gifs")
            guard try daemon.ctl("gif", "aquabats").status == 0 else { return false }
            upstream.setFault(.status(500, body: "no such key: \(Self.key)"))
            let failed = try daemon.ctl("--json", "gif", "other")
            let status = try daemon.ctl("--json", "status")
            let printed = try run(Programs.norrisd, ["--config", folder("config.yaml"), "--print-config"])
            #expect(daemon.end() == 0)
            #expect(upstream.requests.contains { $0.parameter("api_key") == Self.key })
            for text in [failed.errors, failed.output, status.output, printed.output, daemon.log] {
                #expect(!text.contains(Self.key))
            }
            #expect(daemon.log.contains("source.started"), "The log level is trace")
            for name in ["state/state.db", "cache/cache.db"] {
                let bytes = try Data(contentsOf: URL(filePath: folder(name)))
                #expect(bytes.count > 4_096)
                #expect(bytes.range(of: Data(Self.key.utf8)) == nil, "\(name)")
            }
            return true
        }
        await upstream.stop()
    }

    @Test func theBudgetOutlivesTheDaemonAndAFifthIsForUsers() async throws {
        let upstream = try await upstream()
        try await retrying {
            let folder = TemporaryFolder()
            let before = upstream.requests.count
            // One of five requests is reserved for users. Trending GIFs use the other four.
            let configuration = try configuration(upstream, folder, gifs: ", hourly_quota: 5, refresh: 1s")
            var daemon: RunningDaemon? = try RunningDaemon(in: folder, configuration: configuration)
            await upstream.waitForRequests(before + 4)
            let trending = upstream.requests.dropFirst(before).filter { $0.path.hasSuffix("/trending") }.count
            #expect(trending == 4)
            #expect(try daemon?.quota().used == 4)
            guard try daemon?.ctl("gif", "aquabats").status == 0 else { return false }
            #expect(try daemon?.quota().used == 5)
            let used = try #require(daemon).ctl("gif", "nothing of the kind")
            #expect(used.status == 75, "\(used)")
            #expect(used.errors.contains("All 5 requests of this hour are used (gifs.hourly_quota), next try"))
            #expect(daemon?.end() == 0)
            daemon = nil

            let next = try RunningDaemon(in: folder, configuration: configuration)
            #expect(try next.quota().used == 5)
            #expect(try next.ctl("gif", "nothing of the kind").status == 75)
            #expect(try next.ctl("gif", "aquabats", "--offline").status == 0)
            #expect(upstream.requests.count == before + 5)
            return true
        }
        await upstream.stop()
    }

    @Test func afterA429NothingIsAskedBeforeItsTime() async throws {
        let upstream = try await upstream()
        // Without Retry-After the quota would end at the next full hour, which may begin during this test.
        upstream.setFault(
            .answer(
                status: 429, headers: [("Content-Type", "application/json"), ("Retry-After", "1800")],
                body: Array(#"{"data":[],"meta":{"status":429,"msg":"API rate limit exceeded","response_id":""}}"#.utf8)
            ))
        do {
            let folder = TemporaryFolder()
            let configuration = try configuration(upstream, folder)
            var daemon: RunningDaemon? = try RunningDaemon(in: folder, configuration: configuration)
            await upstream.waitForRequests(1)
            let result = try #require(daemon).ctl("--json", "gif", "aquabats")
            #expect(result.status == 75, "\(result)")
            #expect(result.errors.contains(#""kind":"quota""#))
            let retryAt = try #require(try daemon?.source("gifs").freshness.error?.retryAt)
            #expect(daemon?.end() == 0)
            daemon = nil

            upstream.setFault(nil)
            let next = try RunningDaemon(in: folder, configuration: configuration)
            #expect(try next.ctl("gif", "aquabats").status == 75)
            #expect(try next.ctl("refresh", "gifs").status == 75)
            let error = try next.source("gifs").freshness.error
            #expect(error?.kind == .quota && error?.retryAt == retryAt)
            #expect(upstream.requests.count == 1)
        }
        await upstream.stop()
    }

    @Test func withoutAKeyTheCommandSaysHowToGetOne() throws {
        let daemon = try RunningDaemon()
        let result = try daemon.ctl("gif", "aquabats")
        #expect(result.status == 78)
        #expect(result.output.isEmpty)
        for word in ["developers.giphy.com", "giphy-api-key", "api_key_file"] {
            #expect(result.errors.contains(word), "\(word)")
        }
        #expect(try daemon.ctl("refresh", "gifs").status == 78)
        #expect(try daemon.ctl("fact").status == 0)
    }
}

extension RunningDaemon {
    fileprivate func quota() throws -> SourceStatus.Quota { try #require(try source("gifs").quota) }
}
