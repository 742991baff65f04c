import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Events and recent searches through the built programs.
@Suite(.serialized)
struct EventEndToEndTests {
    /// Starts `norrisctl watch` on a daemon that has not been asked anything, and returns when it has subscribed.
    private func watch(_ daemon: RunningDaemon) throws -> ChildProcess {
        let process = try ChildProcess(
            Programs.norrisctl, ["watch"], environment: ["NORRISD_SOCKET": daemon.socket],
            output: daemon.folder("events"), errors: daemon.folder("notes")
        )
        var asked = 0
        repeat {
            asked += 1
            try #require(asked < 2_000 && !process.hasEnded, "The watch has not subscribed")
        } while !(try daemon.ctl("status").output.contains("\nrequests_total\t\(asked + 1)\n"))
        return process
    }

    private func lines(_ daemon: RunningDaemon, _ file: String) throws -> [String] {
        try String(contentsOfFile: daemon.folder(file), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func watchTellsAReloadAndEndsWithTheDaemon() throws {
        let daemon = try RunningDaemon()
        let watch = try watch(daemon)
        #expect(try daemon.ctl("reload").status == 0)
        #expect(daemon.end() == 0)
        #expect(watch.wait() == 0)
        let events = try lines(daemon, "events").map { $0.split(separator: "\t").dropFirst().joined(separator: " ") }
        #expect(events == ["norrisd reloaded", "norrisd stopping"])
        #expect(try lines(daemon, "notes") == ["norrisctl: norrisd has stopped."])
    }

    @Test func aRefusedConfigurationIsToldUntilOneIsNot() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            let watch = try LineClient(path: daemon.socket)
            let _: EventSubscribe.Result = try watch.call(EventSubscribe.self, #"{"topics":["server"]}"#)
            _ = try daemon.folder.write("facts: {enabled: maybe}\n", to: "config.yaml")
            #expect(try daemon.ctl("reload").status != 0)
            try watch.wait(for: .degraded)
            _ = try daemon.folder.write("facts: {enabled: false}\n", to: "config.yaml")
            #expect(try daemon.ctl("reload").status == 0)
            try watch.wait(for: .ok)
        }
    }

    @Test("Ctrl-C ends a watch as it ends any program, without a word")
    func interruptedWatch() throws {
        let daemon = try RunningDaemon()
        let watch = try watch(daemon)
        watch.send(SIGINT)
        #expect(watch.wait() == 130)
        #expect(try lines(daemon, "notes") == [])
    }

    @Test func aWatchOfADaemonThatDiesSaysSo() throws {
        let daemon = try RunningDaemon()
        let watch = try watch(daemon)
        daemon.end(SIGKILL)
        #expect(watch.wait() == 69)
        let note = try lines(daemon, "notes").first
        #expect(note == "norrisctl: The connection to norrisd at \(daemon.socket) was lost.")
    }

    @Test func recentSearchesSurviveARestart() throws {
        let folder = TemporaryFolder()
        var daemon: RunningDaemon? = try RunningDaemon(in: folder)
        #expect(try daemon?.ctl("recent").status == 1)
        _ = try daemon?.ctl("search", "Chuck")
        _ = try daemon?.ctl("search", "no", "such", "text")
        // As if the power went: what was searched was on the disk before it was answered.
        daemon?.end(SIGKILL)
        daemon = nil
        let next = try RunningDaemon(in: folder)
        let recents = try next.ctl("recent").output.split(separator: "\n").map { $0.split(separator: "\t")[..<3] }
        #expect(recents.map(Array.init) == [["1", "no such text", "fact"], ["2", "chuck", "fact"]])
        let again = try next.ctl("recent", "2")
        #expect(again.status == 0)
        #expect(try next.ctl("search", "chuck").output == again.output)
        #expect(try next.ctl("recent", "--clear").output == "removed 2 searches\n")
    }
}
