import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FeedEndToEndTests {
    private static let feed = "<rss><channel><title>Planet</title><item><title>Newest</title></item></channel></rss>"

    /// Returns the ids of a listing to a pipe.
    private func ids(_ result: ProgramResult) -> [String] {
        result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
    }

    @Test func feedsAreAddedImportedAndRemoved() async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setDocument("/rss.xml", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
        do {
            let daemon = try RunningDaemon(
                configuration: "facts: {enabled: false}\nhttp: {timeout: 60s, host_gap: 0s}\n")
            let added = try daemon.ctl("feed", "add", "\(upstream.baseURL)/rss.xml", "--name", "planet")
            #expect(added.status == 0 && added.output == "added: planet\n", "\(added)")
            #expect(try ids(daemon.ctl("feed", "--source", "planet")).count == 1)
            let outlines = (1...50).map { number in
                upstream.setDocument("/\(number).xml", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
                return "<outline text=\"../../f\(number)\" xmlUrl=\"\(upstream.baseURL)/\(number).xml\"/>"
            }
            let opml = "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>"
            let imported = try daemon.ctl("feed", "import", "-", input: opml)
            #expect(imported.status == 0 && imported.output == "50 added\n", "\(imported)")
            #expect(try ids(daemon.ctl("feed", "--source", "f50")).count == 1)
            let removed = try daemon.ctl("feed", "remove", "f50")
            #expect(removed.status == 0 && removed.output == "removed: f50\n", "\(removed)")
            #expect(try daemon.ctl("feed", "--source", "f50").status == 1)
            #expect(try daemon.ctl("feed", "remove", "f50").status == 1)
            let exported = try daemon.ctl("feed", "export").output
            #expect(exported.contains("xmlUrl=\"\(upstream.baseURL)/1.xml\""))
            let again = try daemon.ctl("feed", "import", "-", input: exported)
            #expect(again.status == 0 && again.output == "0 added, 50 already there\n", "\(again)")
            let refused = try daemon.ctl("feed", "add", "ftp://x/", "--name", "bad")
            #expect(refused.status == 64 && refused.errors.contains("is not an http or https address"), "\(refused)")
            let gone = try daemon.ctl("feed", "add", "\(upstream.baseURL)/nowhere")
            #expect(gone.status == .failedFetch && gone.errors.contains("HTTP 404"), "\(gone)")
        }
        await upstream.stop()
    }
}
