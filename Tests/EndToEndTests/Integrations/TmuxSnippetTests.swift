import NorrisTestSupport
import Testing

/// `tmux.conf` in a real tmux at a terminal, seen as a user sees it.
struct TmuxSnippetTests {
    /// Starts tmux with the snippet as its configuration, and ends it after the body.
    private func withTmux(
        _ snippet: Snippet, _ daemon: RunningDaemon? = nil, _ body: (PseudoTerminal) throws -> Void
    ) throws {
        let environment = snippet.environment(daemon)
        let server = ["-S", snippet.folder("tmux")]
        defer { _ = try? run("tmux", server + ["kill-server"], environment: environment) }
        let terminal = try PseudoTerminal(
            "tmux", server + ["-f", snippet.path, "new-session", "echo the window is open; exec cat"],
            environment: environment, columns: 132
        )
        try #require(terminal.wait(for: "the window is open") != nil, "\(terminal.rest)")
        try body(terminal)
    }

    @Test func aFactStandsInTheStatusLine() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            try withTmux(Snippet("tmux.conf"), daemon) { terminal in
                #expect(terminal.wait(for: "Chuck Norris") != nil, "\(terminal.rest)")
            }
        }
    }

    /// tmux expands formats in the output of programs (format_job_get in its format.c).
    @Test func aFactIsNotExpandedByTmux() async throws {
        try await TestThread.run {
            let text = "C# #H #[fg=red]#{pane_id}##[bg=red] #(touch made) 5%H"
            let snippet = try Snippet("tmux.conf", norrisctl: "printf '%s\\n' '\(text)'")
            try withTmux(snippet) { terminal in
                #expect(terminal.wait(for: text) != nil, "\(terminal.rest)")
            }
        }
    }

    @Test func onlyTheTimeShowsWhileTheDaemonIsAway() async throws {
        try await TestThread.run {
            let asked = #"'\#(Programs.norrisctl)' "$@"; tmux -S "$HOME/tmux" wait-for -S asked"#
            let snippet = try Snippet("tmux.conf", norrisctl: asked)
            try withTmux(snippet) { terminal in
                let waiting = ["-S", snippet.folder("tmux"), "wait-for", "asked"]
                let waited = try run("tmux", waiting, environment: snippet.environment())
                #expect(waited.status == 0, "\(waited)")
                terminal.type("typed\r")
                // The terminal's echo, and what the program gives back; the status line may be drawn between them.
                #expect(terminal.wait(for: "typed") != nil && terminal.wait(for: "typed") != nil, "\(terminal.rest)")
                // Of a command that takes long tmux says so, with its name.
                let seen = String(decoding: terminal.transcript, as: UTF8.self).replacing(/<[^>]*not ready>/, with: "")
                #expect(seen.contains(/\s\d\d:\d\d/) && !seen.contains("norris"), "\(seen)")
            }
        }
    }
}
