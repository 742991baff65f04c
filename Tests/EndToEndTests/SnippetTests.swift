import Foundation
import NorrisTestSupport
import Testing

/// Tests of the snippets in `Scripts/integrations`, with the real programs if Debian packages them.
@Suite(.onTestThread, .timeLimit(.minutes(20))) struct SnippetTests {
    private static let shells = ["bash", "dash", "zsh"]

    // MARK: cowsay.sh

    @Test(arguments: shells) func aCowTellsAFact(shell: String) throws {
        let snippet = try Snippet("cowsay.sh")
        let result = try snippet.run(in: shell, "norrissay -W 500", daemon: try RunningDaemon())
        #expect(result.status == 0, "\(result)")
        let balloon = result.lines.dropFirst().first ?? ""
        #expect(balloon.hasPrefix("< ") && balloon.contains("Chuck Norris"), "\(result)")
        #expect(result.output.contains("(oo)"))
        #expect(result.errors.isEmpty)

        let away = try snippet.run(in: shell, "norrissay")
        #expect(away.status == 69)
        #expect(away.output.isEmpty && away.errors.contains("norrisd"), "\(away)")
    }

    // MARK: fortune.sh, with Debian's fortune as the fallback

    /// A daemon with two short sayings and a long saying in a separate category.
    private func daemonWithSayings() throws -> RunningDaemon {
        let folder = TemporaryFolder()
        let long = String(repeating: "Long is the way. ", count: 20)
        let sayings = try folder.write("Short.\n%\nNot so short.\n%\n\(long)\n%\n", to: "sayings")
        let daemon = try RunningDaemon(in: folder, configuration: "facts: {enabled: false, fortunes: ['\(sayings)']}\n")
        try daemon.waitForLog("fortunes.read")
        return daemon
    }

    @Test(arguments: shells) func aFactReplacesTheFortune(shell: String) throws {
        let daemon = try daemonWithSayings()
        let snippet = try Snippet("fortune.sh")
        let fact = try snippet.run(in: shell, "fortune -ae", daemon: daemon)
        #expect(fact.status == 0 && !fact.output.isEmpty && fact.errors.isEmpty, "\(fact)")
        func fortunes(_ arguments: String) throws -> Set<String> {
            let line = Array(repeating: "fortune \(arguments)", count: 6).joined(separator: ";")
            return Set(try snippet.run(in: shell, line, daemon: daemon).lines)
        }
        #expect(try fortunes("sayings").count == 3)
        #expect(try fortunes("-s sayings") == ["Short.", "Not so short."])
        #expect(try fortunes("-a -s -n 6 sayings") == ["Short."])
        #expect(try fortunes("-n 6 sayings").count == 3, "Without -s, -n chooses nothing")
    }

    @Test(arguments: shells) func withoutTheProgramNorrisctlSaysWhatIsWrongAndNothingTypedIsRun(shell: String) throws {
        let snippet = try Snippet("fortune.sh")
        let away = try snippet.run(in: shell, "fortune", games: "/nowhere")
        #expect(away.status == 69 && away.errors.contains("norrisd"), "\(away)")
        let unknown = try snippet.run(in: shell, "fortune -m x", games: "/nowhere")
        #expect(unknown.status == 64 && unknown.errors.contains("install"), "\(unknown)")
        let typed = try snippet.folder.write(snippet.hostileText, to: "typed")
        let line = #"fortune "$(cat '\#(typed)')""#
        let result = try snippet.run(in: shell, line, daemon: try RunningDaemon(), games: "/nowhere")
        #expect(result.status == 1 && result.errors.contains("touch"), "\(result)")
        #expect(!snippet.hostileTextHasRun)
    }

    // MARK: notify-posts

    @Test("Titles reach the notification as text, and a source replaces only its own notification")
    func newPostsAreNotified() throws {
        let snippet = try Snippet("notify-posts", norrisctl: #"cat "$HOME/events""#)
        let hostile = snippet.hostileText + #" <b>&\n"#
        let title = hostile.replacing("\\", with: "\\\\")
        _ = try snippet.folder.write(
            """
            {"topic":"source","source":"planet","phase":"finished","items":2,"at":"2026-11-25T12:00:00Z"}
            {"topic":"item","source":"facts","added":7,"at":"2026-11-25T12:00:00Z"}
            {"topic":"item","source":"planet","added":2,"items":[{"id":"planet:1","title":"\(title)"},\
            {"id":"planet:2","title":"-i"}],"at":"2026-11-25T12:00:00Z"}
            {"topic":"item","source":"blog","added":1,"items":[{"id":"blog:1","title":"One"}],\
            "at":"2026-11-25T12:00:00Z"}
            {"topic":"item","source":"planet","added":1,"items":[{"id":"planet:3","title":"Later"}],\
            "at":"2026-11-25T12:00:00Z"}

            """, to: "events")
        _ = try snippet.folder.writeProgram(#"printf '%s\n' "$@" --- >>"$HOME/shown"; echo 7"#, to: "notify-send")
        let result = try run(snippet.path, environment: snippet.environment())
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        let shown = try String(contentsOfFile: snippet.folder("shown"), encoding: .utf8)
        let calls = shown.split(separator: "---\n").map { $0.split(separator: "\n").map(String.init) }
        let escaped = hostile.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        #expect(calls.first?.suffix(4) == ["--", "2 new posts of planet", escaped, "-i"], "\(shown)")
        #expect(calls.dropFirst().first?.suffix(3) == ["--", "New post of blog", "One"], "\(shown)")
        #expect(calls.last?.suffix(3) == ["--", "New post of planet", "Later"], "\(shown)")
        #expect(calls.map { $0.contains("--replace-id=7") } == [false, false, true], "\(shown)")
        #expect(!snippet.hostileTextHasRun)
    }

    // MARK: norris-pick, with the real fzf

    @Test("The id of an imported favorite stays text if the user's shell is fish, which quotes in another way")
    func thePreviewGetsTheWholeID() throws {
        let snippet = try Snippet(
            "norris-pick",
            norrisctl: #"""
                case $1 in
                    favorite) cat "$HOME/reply" ;;
                    fact) printf '%s' "$3" >"$HOME/asked"; echo '{"fact":{"text":"previewed","categories":[]}}' ;;
                esac
                """#)
        let id = #"p:1\' "# + snippet.hostileText
        _ = try snippet.folder.write("fact\t\(id)\tOne\n", to: "reply")
        let variables = ["TERM": "xterm", "SHELL": "/usr/bin/fish"]
        let terminal = try PseudoTerminal(
            snippet.path, environment: snippet.environment().merging(variables) { $1 }, columns: 200)
        #expect(terminal.wait(for: "previewed") != nil, "\(terminal.rest)")
        terminal.type("\u{1b}")
        _ = terminal.waitForEnd()
        #expect(try String(contentsOfFile: snippet.folder("asked"), encoding: .utf8) == id)
        #expect(!snippet.hostileTextHasRun)
    }

    @Test("A query finds facts and posts, and is text for every program") func theListIsText() throws {
        let snippet = try Snippet("norris-pick")
        let folder = TemporaryFolder()
        let text = "-x \(snippet.hostileText)"
        let sayings = try folder.write("\(text)\n%\n", to: "sayings")
        let feed = """
            {"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"T","content_text":"\(text)"}]}
            """
        let file = try folder.write(feed, to: "feed.json")
        let daemon = try RunningDaemon(
            in: folder,
            configuration: """
                facts: {enabled: false, fortunes: ['\(sayings)']}
                posts: {sources: {made: {kind: exec, command: [/bin/cat, '\(file)']}}}

                """)
        try daemon.waitForLog("fortunes.read")
        try #require(try daemon.ctl("refresh", "made", "--wait").status == 0)
        let list = try run(snippet.path, ["--list", text], environment: snippet.environment(daemon))
        let items = list.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        #expect(items.map { $0[0] } == ["fact", "post"] && items.allSatisfy { $0[2].hasSuffix(text) }, "\(list)")
        for item in items {
            let arguments = ["--preview"] + item.prefix(2).map(String.init)
            let preview = try run(snippet.path, arguments, environment: snippet.environment(daemon))
            #expect(preview.output.replacing("\n", with: "").contains(text), "\(preview)")
        }
        #expect(!snippet.hostileTextHasRun)
    }

    @Test func thePreviewIsText() throws {
        let snippet = try Snippet("norris-pick", norrisctl: #"cat "$HOME/reply""#)
        _ = try snippet.folder.write(
            #"{"post":{"author":{"name":"Ada"},"text":"a\u001b[31mb\nc[1]","links":["https://a.example/"]}}"#,
            to: "reply")
        let preview = try run(snippet.path, ["--preview", "post", "-x"], environment: snippet.environment())
        #expect(preview.output == "Ada\n\na[31mb\nc[1]\n\n[1] https://a.example/\n", "\(preview)")
        #expect(!snippet.hostileTextHasRun)
    }

    // MARK: update-motd.d/60-norrisd, run by run-parts(8) with few variables, as pam_motd(8) does

    private func login(_ snippet: Snippet, _ daemon: RunningDaemon? = nil) throws -> ProgramResult {
        let environment = snippet.environment(daemon).filter { ["NORRISD_SOCKET", "PATH"].contains($0.key) }
        return try run("run-parts", ["--lsbsysinit", snippet.path], environment: environment)
    }

    @Test func theFactOfTheDayComesWithALogin() throws {
        let daemon = try RunningDaemon()
        let fact = try daemon.ctl("fact", "--today").output
        let result = try login(Snippet("update-motd.d"), daemon)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.output.hasPrefix("\n") && result.output.hasSuffix("\n"))
        #expect(result.output.split(whereSeparator: \.isWhitespace) == fact.split(whereSeparator: \.isWhitespace))
    }

    @Test func aDaemonThatIsAwayOrHangsHoldsNobodyUp() throws {
        let away = try login(Snippet("update-motd.d"))
        #expect(away.status == 0 && away.output.isEmpty && away.errors.isEmpty, "\(away)")
        let daemon = try RunningDaemon()
        daemon.send(SIGSTOP)
        defer { daemon.send(SIGCONT) }
        let errors = daemon.folder("errors")
        let script = #"exec '\#(Programs.norrisctl)' "$@" 2>'\#(errors)'"#
        let result = try login(Snippet("update-motd.d", norrisctl: script), daemon)
        #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        #expect(try String(contentsOfFile: errors, encoding: .utf8).contains("250ms"))
    }

    // MARK: starship.toml, run as starship runs custom modules, because Debian 12 has no starship package

    @Test func starshipsModulePrintsAFactOrNothing() throws {
        let snippet = try Snippet("starship.toml")
        // starship passes the command to the shell's standard input, and omits a group in round brackets, including the
        // space, if the output is empty.
        let script = """
            import subprocess, sys, tomllib
            module = tomllib.load(open(sys.argv[1], "rb"))["custom"]["norris"]
            assert module["when"] and module["format"] == "[($output )]($style)" and "unsafe_no_escape" not in module
            sys.exit(subprocess.run(module["shell"], input=module["command"].encode()).returncode)
            """
        func prompt(_ daemon: RunningDaemon?) throws -> ProgramResult {
            try run("python3", ["-c", script, snippet.path], environment: snippet.environment(daemon))
        }
        let fact = try prompt(try RunningDaemon())
        #expect(fact.status == 0 && fact.lines.count == 1 && fact.output.count <= 61, "\(fact)")
        #expect(fact.output.contains("Chuck Norris"))
        let nothing = try prompt(nil)
        #expect(nothing.status == 0 && nothing.output.isEmpty && nothing.errors.isEmpty, "\(nothing)")
    }

    // MARK: tmux.conf in a real tmux at a terminal

    /// tmux expands formats in the output of programs (format_job_get in its format.c).
    @Test func tmuxDoesNotExpandAFact() throws {
        let text = "C# #H #[fg=red]#{pane_id}##[bg=red] #(touch made) 5%H"
        let snippet = try Snippet("tmux.conf", norrisctl: "printf '%s\\n' '\(text)'")
        let environment = snippet.environment()
        let server = ["-S", snippet.folder("tmux")]
        defer { _ = try? run("tmux", server + ["kill-server"], environment: environment) }
        let terminal = try PseudoTerminal(
            "tmux", server + ["-f", snippet.path, "new-session", "echo the window is open; exec cat"],
            environment: environment, columns: 132)
        #expect(terminal.wait(for: text) != nil, "\(terminal.rest)")
    }
}

/// A snippet of `Scripts/integrations` in a separate home folder, with the programs that the snippet needs.
struct Snippet {
    let path: String
    let folder = TemporaryFolder()

    /// - Parameters:
    ///   - name: the path of the file in `Scripts/integrations`.
    ///   - script: a replacement for `norrisctl`. The default is norrisctl with a timeout of 5 minutes.
    init(_ name: String, norrisctl script: String? = nil) throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        path = root.appending(path: "Scripts/integrations").appending(path: name).path
        _ = try folder.writeProgram(script ?? #"exec '\#(Programs.norrisctl)' --timeout 5m "$@""#, to: "norrisctl")
    }

    /// - Parameter daemon: nil for a daemon that is not running.
    func environment(_ daemon: RunningDaemon? = nil, games: String = "/usr/games") -> [String: String] {
        [
            "HOME": folder.path, "LC_ALL": "C.UTF-8", "NORRISD_SOCKET": daemon?.socket ?? folder("nowhere"),
            "PATH": "\(folder.path):\(games):/usr/sbin:/usr/bin:/sbin:/bin",
        ]
    }

    /// Reads the snippet in a shell and then runs a line, as a user at a prompt does.
    func run(
        in shell: String, _ line: String, daemon: RunningDaemon? = nil, games: String = "/usr/games"
    ) throws -> ProgramResult {
        try NorrisTestSupport.run(
            shell, ["-c", ". '\(path)'\n\(line)"], environment: environment(daemon, games: games))
    }

    /// A text with a command that a shell would run or expand in several ways.
    var hostileText: String { "$(touch \(folder("made"))) `touch \(folder("made"))` ; touch \(folder("made")) #" }

    var hostileTextHasRun: Bool { FileManager.default.fileExists(atPath: folder("made")) }
}
