import Foundation
import NorrisTestSupport
import Testing

/// `update-motd.d/60-norrisd`, run as pam_motd(8) does: by run-parts(8), with little in the environment.
struct MotdSnippetTests {
    private func login(_ snippet: Snippet, _ daemon: RunningDaemon? = nil) throws -> ProgramResult {
        let environment = snippet.environment(daemon).filter { ["NORRISD_SOCKET", "PATH"].contains($0.key) }
        return try run("run-parts", ["--lsbsysinit", snippet.path], environment: environment)
    }

    @Test func theFactOfTheDayComesWithALogin() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            let fact = try daemon.ctl("fact", "--today").output
            let result = try login(Snippet("update-motd.d"), daemon)
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("\n") && result.output.hasSuffix("\n"))
            #expect(result.output.split(whereSeparator: \.isWhitespace) == fact.split(whereSeparator: \.isWhitespace))
            #expect(result.errors.isEmpty)
        }
    }

    @Test func aLongFactIsWrappedBetweenWords() async throws {
        try await TestThread.run {
            let word = String(repeating: "ü", count: 90)
            let fact = String(repeating: "Chuck Norris waits for no one. ", count: 9) + word
            let result = try login(Snippet("update-motd.d", norrisctl: "echo '\(fact)'"))
            #expect(result.lines.count > 3)
            #expect(result.lines.dropLast().allSatisfy { $0.count <= 78 })
            #expect(result.lines.last == word, "\(result)")
        }
    }

    @Test func nothingIsSaidWhileTheDaemonIsAway() async throws {
        try await TestThread.run {
            let result = try login(Snippet("update-motd.d"))
            #expect(result.status == 0)
            #expect(result.output.isEmpty && result.errors.isEmpty, "\(result)")
        }
    }

    @Test func aDaemonThatHangsHoldsNobodyUp() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            daemon.send(SIGSTOP)
            defer { daemon.send(SIGCONT) }
            let errors = daemon.folder("errors")
            let script = #"exec '\#(Programs.norrisctl)' "$@" 2>'\#(errors)'"#
            let result = try login(Snippet("update-motd.d", norrisctl: script), daemon)
            #expect(result.status == 0)
            #expect(result.output.isEmpty && result.errors.isEmpty, "\(result)")
            #expect(try String(contentsOfFile: errors, encoding: .utf8).contains("250ms"))
        }
    }
}
