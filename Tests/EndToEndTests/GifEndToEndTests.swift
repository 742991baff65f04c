import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct GifEndToEndTests {
    private static let key = "s3cr3t-key-of-a-test"

    @Test func theKeyIsNowhereButInTheRequests() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.requireKey(Self.key)
        upstream.setGifs(FakeUpstream.gifs(count: 2))
        do {
            let folder = TemporaryFolder()
            let file = try folder.write(Self.key + "\n", to: "giphy-key")
            let daemon = try RunningDaemon(
                in: folder,
                configuration: """
                    log: {level: trace}
                    facts: {enabled: false}
                    http: {timeout: 60s, host_gap: 0s}
                    gifs: {base_url: '\(upstream.baseURL)', api_key_file: '\(file)', queries: []}

                    """)
            try daemon.waitUntilFetched(daemon.watch(), "gifs")
            upstream.setFault(.status(500, body: "no such key: \(Self.key)"))
            let failed = try daemon.ctl("--json", "gif", "other")
            #expect(failed.status == .failedFetch, "\(failed)")
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
        }
        await upstream.stop()
    }

    @Test func withoutAKeyTheCommandSaysHowToGetOne() throws {
        let daemon = try RunningDaemon()
        let result = try daemon.ctl("gif", "aquabats")
        #expect(result.status == 78 && result.output.isEmpty)
        for word in ["developers.giphy.com", "giphy-api-key", "api_key_file"] {
            #expect(result.errors.contains(word), "\(word)")
        }
        #expect(try daemon.ctl("refresh", "gifs").status == 78)
    }
}
