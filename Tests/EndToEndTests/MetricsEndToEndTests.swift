import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct MetricsEndToEndTests {
    /// Reads the metrics until they change, because norrisd computes them at most once per second.
    private func samples(_ daemon: RunningDaemon) throws -> OpenMetricsSamples {
        let old = try daemon.ctl("status", "--metrics")
        #expect(old.status == 0, "\(old)")
        var text = old.output
        while text == old.output { text = try daemon.ctl("status", "--metrics").output }
        #expect(text.hasSuffix("\n# EOF\n"))
        return try OpenMetricsSamples(text)
    }

    /// Returns the command of the unit as systemd parses it (systemd.service(5), "Command lines").
    private func unitCommand() throws -> [String] {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let unit = root.appending(path: "Scripts/integrations/node-exporter/norrisd-metrics.service")
        let text = try String(contentsOf: unit, encoding: .utf8).replacing("\\\n", with: " ")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=/bin/sh -ec '") })
        #expect(!line.contains("%") && !line.replacing("$$", with: "").contains("$"), "systemd would expand these")
        let script = line.dropFirst("ExecStart=/bin/sh -ec '".count).dropLast().replacing("$$", with: "$")
        return ["-ec", "umask 022; cd \"$HOME\"; " + script]
    }

    private func collect(_ snippet: Snippet, _ daemon: RunningDaemon?) throws -> String {
        let result = try run("sh", unitCommand(), environment: snippet.environment(daemon))
        #expect(result.status == 0, "\(result)")
        let names = try FileManager.default.contentsOfDirectory(atPath: snippet.folder.path).sorted()
        #expect(names == ["browser", "norrisctl", "norrisd.prom"], "Nothing else is left behind")
        let attributes = try FileManager.default.attributesOfItem(atPath: snippet.folder("norrisd.prom"))
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        return try String(contentsOfFile: snippet.folder("norrisd.prom"), encoding: .utf8)
    }

    @Test func theTimerLeavesWhatTheCollectorReads() throws {
        let daemon = try RunningDaemon()
        let snippet = try Snippet("node-exporter/norrisd-metrics.service")
        let text = try collect(snippet, daemon)
        #expect(text.contains("\nnorrisd_up 1\n"))
        #expect(text.contains("\n# TYPE norrisd_requests_total counter\n# HELP norrisd_requests_total "))
        let read = try OpenMetricsSamples(text, format: .prometheus)
        let original = try samples(daemon)
        #expect(read.types == original.types.merging(["norrisd_up": "gauge"]) { $1 })
        #expect(Set(read.values.keys) == Set(original.values.keys).union(["norrisd_up"]))
        let requests = "norrisd_requests_total method=server.metrics"
        #expect(try #require(read[requests]) < #require(original[requests]))

        daemon.end()
        #expect(
            try collect(snippet, daemon) == """
                # HELP norrisd_up Whether norrisd answers.
                # TYPE norrisd_up gauge
                norrisd_up 0

                """)
    }
}
