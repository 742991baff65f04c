import Foundation
import NorrisTestSupport
import Testing

/// norrisctl where the caller has closed a standard descriptor, or it cannot be written.
struct ClosedDescriptorEndToEndTests {
    private func shell(_ daemon: RunningDaemon, _ command: String) throws -> ProgramResult {
        try run(
            "sh", ["-c", command, Programs.norrisctl], environment: ["NORRISD_SOCKET": daemon.socket, "HOME": "/nowhere"]
        )
    }

    @Test func whatIsShownNeverGoesToTheDaemon() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            let errors = try daemon.folder.write("", to: "errors")
            let watch = try ChildProcess(
                "sh", ["-c", "exec \"$0\" watch >&-", Programs.norrisctl],
                environment: ["NORRISD_SOCKET": daemon.socket], errors: errors
            )
            // Until one comes that watch shows.
            var reloads = 0
            while !watch.hasEnded, reloads < 2000 {
                #expect(try daemon.ctl("reload").status == 0)
                reloads += 1
            }
            #expect(watch.wait() == 74)
            #expect(try String(contentsOfFile: errors, encoding: .utf8).contains("cannot be written"))
        }
    }

    @Test(arguments: ["fact", "call fact.random", "status", "refresh --wait --json"])
    func contentThatCannotBeWrittenIsTold(command: String) async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            for output in [">&-", ">/dev/full"] where !command.hasPrefix("refresh") {
                let result = try shell(daemon, "exec \"$0\" \(command) \(output)")
                #expect(result.status == 74, "\(result)")
                #expect(result.errors.hasPrefix("norrisctl: "))
            }
            #expect(try shell(daemon, "exec \"$0\" \(command) 2>&- <&-").status != 74)
        }
    }

    @Test func aPromptNeverMinds() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            for output in [">&-", ">/dev/full", ">&- 2>&- <&-"] {
                for command in ["prompt", "prompt --timeout=1s", "--plain prompt"] {
                    let result = try shell(daemon, "exec \"$0\" \(command) \(output)")
                    #expect(result.status == 0, "\(result)")
                    #expect(result.errors.isEmpty)
                }
            }
        }
    }
}
