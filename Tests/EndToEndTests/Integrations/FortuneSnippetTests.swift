import Foundation
import NorrisTestSupport
import Testing

/// `fortune.sh` in the shells that may read it, with Debian's fortune to fall back to.
struct FortuneSnippetTests {
    static let shells = ["bash", "dash", "zsh"]

    /// One short and one long saying, in a category of their own.
    private func daemonWithSayings() throws -> RunningDaemon {
        let folder = TemporaryFolder()
        let long = String(repeating: "Long is the way. ", count: 20)
        let sayings = try folder.write("Short.\n%\nNot so short.\n%\n\(long)\n%\n", to: "sayings")
        let daemon = try RunningDaemon(in: folder, configuration: "facts: {enabled: false, fortunes: ['\(sayings)']}\n")
        try daemon.waitForLog("fortunes.imported")
        return daemon
    }

    /// Whether Debian's file of fortunes about art holds a text.
    private func isAboutArt(_ text: String) throws -> Bool {
        let cookies = try String(contentsOfFile: "/usr/share/games/fortunes/art", encoding: .utf8)
        return text.count > 5 && cookies.contains(text)
    }

    @Test(arguments: shells)
    func aFactTakesTheFortunesPlace(shell: String) async throws {
        try await TestThread.run {
            let result = try Snippet("fortune.sh").run(in: shell, "fortune -ae", daemon: try RunningDaemon())
            #expect(result.status == 0, "\(result)")
            #expect(result.lines.count == 1 && result.output.contains("Chuck Norris"), "\(result)")
            #expect(result.errors.isEmpty)
        }
    }

    @Test(arguments: shells)
    func shortOnesOfACategoryAreAskedForInItsOwnWords(shell: String) async throws {
        try await TestThread.run {
            let daemon = try daemonWithSayings()
            let snippet = try Snippet("fortune.sh")
            func fortunes(_ arguments: String) throws -> Set<String> {
                let line = Array(repeating: "fortune \(arguments)", count: 6).joined(separator: ";")
                return Set(try snippet.run(in: shell, line, daemon: daemon).lines)
            }
            #expect(try fortunes("sayings").count == 3)
            #expect(try fortunes("-s sayings") == ["Short.", "Not so short."])
            #expect(try fortunes("-a -s -n 6 sayings") == ["Short."])
            #expect(try fortunes("-n 6 sayings").count == 3, "Without -s, -n chooses nothing")
        }
    }

    @Test(arguments: shells)
    func theProgramAnswersWhileTheDaemonIsAway(shell: String) async throws {
        try await TestThread.run {
            let result = try Snippet("fortune.sh").run(in: shell, "fortune -s art")
            #expect(result.status == 0)
            #expect(try isAboutArt(result.output), "\(result)")
            #expect(result.errors.isEmpty)
        }
    }

    @Test(arguments: shells)
    func theProgramAnswersWhatNorrisdCannot(shell: String) async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            let snippet = try Snippet("fortune.sh")
            let named = try snippet.run(in: shell, "fortune -c art", daemon: daemon)
            #expect(named.output.hasPrefix("(/usr/share/games/fortunes/art)\n%\n"), "\(named)")
            #expect(try isAboutArt(snippet.run(in: shell, "fortune 100% art", daemon: daemon).output))
            // No category of norrisd's, for it reads no fortunes here.
            #expect(try isAboutArt(snippet.run(in: shell, "fortune art", daemon: daemon).output))
        }
    }

    @Test(arguments: shells)
    func withoutTheProgramNorrisctlSaysWhatIsWrong(shell: String) async throws {
        try await TestThread.run {
            let snippet = try Snippet("fortune.sh")
            let away = try snippet.run(in: shell, "fortune", games: "/nowhere")
            #expect(away.status == 69)
            #expect(away.errors.contains("norrisd"), "\(away)")
            let unknown = try snippet.run(in: shell, "fortune -m x", games: "/nowhere")
            #expect(unknown.status == 64)
            #expect(unknown.errors.contains("install"), "\(unknown)")
        }
    }

    @Test(arguments: shells)
    func whatIsTypedIsNotRun(shell: String) async throws {
        try await TestThread.run {
            let snippet = try Snippet("fortune.sh")
            let daemon = try RunningDaemon()
            let typed = try snippet.folder.write(snippet.hostileText, to: "typed")
            let line = #"fortune "$(cat '\#(typed)')""#
            let result = try snippet.run(in: shell, line, daemon: daemon, games: "/nowhere")
            #expect(result.status == 1, "\(result)")
            #expect(result.errors.contains("touch"))
            #expect(!snippet.hostileTextHasRun)
        }
    }

    @Test func anAliasOfThatNameIsReplaced() async throws {
        try await TestThread.run {
            let snippet = try Snippet("fortune.sh")
            let lines = "shopt -s expand_aliases\nalias fortune='fortune -c'\n. '\(snippet.path)'\nfortune"
            let result = try snippet.run(in: "bash", lines, daemon: try RunningDaemon())
            #expect(result.output.contains("Chuck Norris"), "\(result)")
            #expect(result.errors.isEmpty)
        }
    }
}
