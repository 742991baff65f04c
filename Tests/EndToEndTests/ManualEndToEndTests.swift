import NorrisTestSupport
import Testing

/// The example of norrisd-protocol(7) with a shell and nc, as it stands there.
struct ManualEndToEndTests {
    @Test func exampleOfTheProtocolGivesWhatThePageSays() async throws {
        try await TestThread.run { try exampleGivesWhatThePageSays() }
    }

    private func exampleGivesWhatThePageSays() throws {
        let display = try #require(try ManualPage("norrisd-protocol.7").section("DESCRIPTION").displays.first)
        #expect(display.hasPrefix("$ "))
        // The command ends where the reply begins.
        let parts = display.dropFirst(2).split(separator: "\n{", maxSplits: 1)
        let (command, reply) = (String(try #require(parts.first)), "{" + (try #require(parts.last)))
        #expect(command.contains("/run/norrisd.sock"))
        let daemon = try RunningDaemon()
        let result = try run("/bin/sh", ["-c", command.replacing("/run/norrisd.sock", with: daemon.socket)])
        #expect(result.output == reply)
        #expect(result.status == 0, "\(result)")
        #expect(daemon.end() == 0)
    }
}
