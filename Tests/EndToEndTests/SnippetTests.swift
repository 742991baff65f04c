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
        // The last post arrives after the first notifications.
        let snippet = try Snippet(
            "notify-posts",
            norrisctl: #"""
                printf '%s\n' "$@" >"$HOME/asked"; cd "$HOME"; head -n -1 posts
                until [ -e shown ]; do sleep 0.1; done; tail -n 1 posts
                """#)
        let hostile = snippet.hostileText + #" <b>&\n"#
        func post(_ source: String, _ member: String, _ text: String) -> String {
            let escaped = text.replacing("\\", with: #"\\"#).replacing("\n", with: #"\n"#)
            return #"{"id":"\#(source):1","source":"\#(source)","\#(member)":"\#(escaped)"}"#
        }
        let posts =
            [post("planet", "title", hostile), post("blog", "text", "Two\n words"), post("planet", "title", "-i")]
            + [#"{"id":"blog:2","source":"blog","title":"Old","read":true}"#]
            + (1...6).map { post("busy", "title", "Title \($0)") } + [post("planet", "title", "Later")]
        _ = try snippet.folder.write(posts.joined(separator: "\n") + "\n", to: "posts")
        _ = try snippet.folder.writeProgram(#"printf '%s\n' "$@" --- >>"$HOME/shown"; echo "$$""#, to: "notify-send")
        let result = try run(snippet.path, ["--tag", "T"], environment: snippet.environment())
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(try snippet.text("asked") == "watch\n--new\n--json\n--tag\nT\n")
        let shown = try snippet.text("shown")
        let calls = shown.split(separator: "---\n").map { $0.split(separator: "\n").map(String.init) }
        // Posts that arrive late, on a slow machine, are in a second notification, which replaces the first one.
        func titles(_ source: String) throws -> [String] {
            let calls = calls.filter { $0.contains { $0.hasSuffix(" of \(source)") } }
            let areLater = calls.map { $0.contains { $0.hasPrefix("--replace-id=") } }
            #expect(areLater == calls.indices.map { $0 > 0 }, "\(shown)")
            return try calls.flatMap { call in
                let titles = call.suffix(from: try #require(call.firstIndex(of: "--")) + 2)
                let isOne = call.contains("New post of \(source)")
                #expect(titles.count <= 5 && isOne == (titles.count == 1), "\(shown)")
                return titles
            }
        }
        let escaped = hostile.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        #expect(try titles("planet") == [escaped, "-i", "Later"], "\(shown)")
        #expect(try titles("blog") == ["Two words"], "\(shown)")
        #expect(try titles("busy").last == "Title 6", "\(shown)")
        #expect(!snippet.hostileTextHasRun)
    }

    @Test("Posts from before the start are not notified, and norrisctl says why it ends")
    func onlyLaterPostsAreNotified() throws {
        let snippet = try Snippet("notify-posts")
        let posts = try DaemonWithPosts()
        _ = try snippet.folder.writeProgram(#"printf '%s\n' "$@" >"$HOME/terminal""#, to: "notify-send")
        let terminal = try PseudoTerminal(
            "sh", ["-c", "ln -s \"$(tty)\" \"$HOME/terminal\"; exec '\(snippet.path)' --source made"],
            environment: snippet.environment(posts.daemon))
        // The first post may arrive before norrisctl has subscribed.
        var output: String?
        for number in 3..<60 where output == nil {
            try posts.add("\(number)")
            output = terminal.wait(for: "New post of made", within: 5)
        }
        #expect(output != nil && terminal.wait(for: "Title ") != nil, "\(terminal.rest)")
        #expect(!["Title 1\r", "Title 2\r"].contains { terminal.rest.contains($0) })

        let away = try run(snippet.path, environment: snippet.environment())
        #expect(away.status == 69 && away.output.isEmpty && away.errors.contains("norrisd"), "\(away)")
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

    // MARK: waybar.jsonc and polybar.ini: their commands, because the programs need a display

    /// The settings of a status bar's file.
    private func settings(_ snippet: Snippet) throws -> [String: String] {
        let lines = try String(contentsOfFile: snippet.path, encoding: .utf8).split(separator: "\n")
        guard snippet.path.hasSuffix(".jsonc") else {
            let pairs = lines.map { $0.split(separator: " = ", maxSplits: 1).map(String.init) }
            return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
        }
        let text = lines.filter { !$0.trimmingPrefix { $0 == " " }.hasPrefix("//") }.joined()
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        return try #require(json?["custom/norrisd"]).mapValues { "\($0)" }
    }

    @Test(
        "A bar gets a number after each change and an empty line at 0, and starts the command again if it ends",
        arguments: [("waybar.jsonc", "restart-interval", "on-click"), ("polybar.ini", "interval", "click-left")])
    func barsFollowTheNumberOfUnreadPosts(file: String, interval: String, click: String) throws {
        let snippet = try Snippet(file)
        let settings = try settings(snippet)
        let (command, action) = (try #require(settings["exec"]), try #require(settings[click]))
        #expect(Int(settings[interval] ?? "") ?? 0 > 0 && settings["tail"] ?? "true" == "true", "\(settings)")
        let away = try run("sh", ["-c", command], environment: snippet.environment())
        #expect(away.output.isEmpty && away.errors.isEmpty, "\(away)")

        let posts = try DaemonWithPosts()
        let environment = snippet.environment(posts.daemon)
        let terminal = try PseudoTerminal("sh", ["-c", command], environment: environment)
        #expect(terminal.wait(for: "\n") == "2\r\n", "\(terminal.rest)")
        let opened = try run("sh", ["-c", action], environment: environment)
        #expect(opened.status == 0, "\(opened)")
        #expect(terminal.wait(for: "\n") == "1\r\n", "\(terminal.rest)")
        #expect(try snippet.text("opened") == "https://a.example/1\n")
        _ = try posts.daemon.ctl("read", "--all")
        #expect(terminal.wait(for: "\n") == "\r\n", "\(terminal.rest)")
        try posts.add("3")
        #expect(terminal.wait(for: "\n") == "1\r\n", "\(terminal.rest)")
    }

    // MARK: i3blocks.conf in the real i3blocks

    @Test func i3blocksShowsTheNumberAndOpensAPost() throws {
        let snippet = try Snippet("i3blocks.conf")
        _ = try snippet.folder.writeProgram(#"echo "$1" >"$HOME/slept"; exec /bin/sleep 0.1"#, to: "sleep")
        // Pipes, as i3bar has; i3blocks writes less at a terminal.
        let terminal = try PseudoTerminal(
            "sh", ["-c", "stty -echo; cat | i3blocks -c '\(snippet.path)' | cat"],
            environment: snippet.environment().merging(["NORRISD_SOCKET": snippet.folder("sock")]) { $1 })
        // Without norrisd, the command waits and tries again.
        #expect(try snippet.text("slept") == "5\n")
        let posts = try DaemonWithPosts(in: snippet.folder)
        _ = try #require(terminal.wait(for: #""full_text":"2","name":"norrisd"}]"#), "\(terminal.rest)")
        terminal.type(#"{"name":"norrisd-next","instance":"","button":1,"x":1,"y":1}"# + "\r")
        _ = try #require(terminal.wait(for: #""full_text":"1","name":"norrisd"}]"#), "\(terminal.rest)")
        #expect(try snippet.text("opened") == "https://a.example/1\n")
        _ = try posts.daemon.ctl("read", "--all")
        _ = try #require(terminal.wait(for: #""name":"norrisd-next","separator":false}]"#), "\(terminal.rest)")
        try posts.add("3")
        _ = try #require(terminal.wait(for: #""full_text":"1","name":"norrisd"}]"#), "\(terminal.rest)")
    }

    // MARK: starship.toml, with each shell, but without starship, which Debian 12 does not package

    @Test(arguments: ["bash", "zsh", "fish"]) func starshipGetsTheFactOfThePrompt(shell: String) throws {
        let snippet = try Snippet("starship.toml")
        let script = """
            import sys, tomllib
            print(tomllib.load(open(sys.argv[1], "rb"))["env_var"]["NORRIS_FACT"]["format"])
            """
        #expect(try run("python3", ["-c", script, snippet.path]).output == "[($env_value )]($style)\n")

        // The start file of the shell is the line of the comment. This starship prints nothing.
        let text = try String(contentsOfFile: snippet.path, encoding: .utf8)
        let documented = shell == "fish" ? "norrisctl init fish" : "eval \"$(norrisctl init bash)"
        let start = try #require(text.firstRange(of: documented)).lowerBound
        let line = text[start...].prefix { $0 != "\n" }.replacing("bash", with: shell)
        let file = ["bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"][shell] ?? ""
        _ = try snippet.folder.writeProgram("", to: "starship")
        try snippet.write(line + "\n", to: file)
        let fact = "C# is what Chuck Norris hums."
        try snippet.write(fact + "\n", to: "norrisd/prompt-facts")
        let terminal = try PseudoTerminal(shell, ["-i"], environment: snippet.environment())
        // The greeting has shown a fact, so that the first prompt has none.
        terminal.type("\rprintf '<%s>' \"$(printenv NORRIS_FACT)\"\r")
        #expect(terminal.wait(for: "<\(fact)>") != nil, "\(terminal.rest)")
    }

    // MARK: tmux.conf in a real tmux at a terminal

    /// tmux expands formats in the output of programs (format_job_get in its format.c).
    @Test func tmuxShowsTheNumberAndAFactThatItDoesNotExpand() throws {
        let snippet = try Snippet("tmux.conf")
        let posts = try DaemonWithPosts()
        let fact = "C# #H #[fg=red]#{pane_id}##[bg=red] #(touch made) 5%H"
        try snippet.write("\(String(repeating: "too long ", count: 7))\n\(fact)\n", to: "norrisd/prompt-facts")
        let environment = snippet.environment(posts.daemon)
        let server = ["-S", snippet.folder("tmux-socket")]
        defer { _ = try? run("tmux", server + ["kill-server"], environment: environment) }
        let terminal = try PseudoTerminal(
            "tmux",
            server + ["-f", snippet.path, "new-session", "cat", ";", "set", "-g", "status-interval", "1"],
            environment: environment, columns: 132)
        _ = try #require(terminal.wait(for: "2 unread  \(fact)"), "\(terminal.rest)")
        _ = try posts.daemon.ctl("read", "--all")
        // tmux may write the old line again before it gets the number.
        var line = terminal.wait(for: fact)
        while line?.contains("2 unread") == true { line = terminal.wait(for: fact) }
        #expect(line?.contains("unread") == false, "\(line ?? terminal.rest)")
        #expect(!terminal.rest.contains("too long"))
    }
}

/// A daemon with a source `made`, which has two unread posts at first.
private struct DaemonWithPosts {
    let daemon: RunningDaemon

    init(in folder: TemporaryFolder = TemporaryFolder()) throws {
        let file = try folder.write(Self.feed(["1", "2"]), to: "feed.json")
        daemon = try RunningDaemon(
            in: folder,
            configuration: """
                facts: {enabled: false}
                posts: {sources: {made: {kind: exec, command: [/bin/cat, '\(file)']}}}

                """)
        try fetch()
    }

    /// Replaces the feed, whose old posts stay in the daemon, and fetches it.
    func add(_ id: String) throws {
        _ = try daemon.folder.write(Self.feed([id]), to: "feed.json")
        try fetch()
    }

    private func fetch() throws { try #require(try daemon.ctl("refresh", "made", "--wait").status == 0) }

    private static func feed(_ ids: [String]) -> String {
        let items = ids.map { #"{"id":"\#($0)","title":"Title \#($0)","url":"https://a.example/\#($0)"}"# }
        return #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items.joined(separator: ","))]}"#
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
        _ = try folder.writeProgram(#"printf '%s\n' "$@" >"$HOME/opened""#, to: "browser")
    }

    /// Writes a file into the home folder, which is also `$XDG_RUNTIME_DIR`.
    func write(_ text: String, to name: String) throws {
        let parent = URL(filePath: folder(name)).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        _ = try folder.write(text, to: name)
    }

    /// Waits at most two minutes for a file in the home folder, and returns its text. `opened` is the address that the
    /// browser was started with.
    func text(_ name: String) throws -> String {
        func text() throws -> String { try String(contentsOfFile: folder(name), encoding: .utf8) }
        for _ in 0..<12_000 {
            if let text = try? text(), text.hasSuffix("\n") { return text }
            usleep(10_000)
        }
        return try text()
    }

    /// - Parameter daemon: nil for a daemon that is not running.
    func environment(_ daemon: RunningDaemon? = nil, games: String = "/usr/games") -> [String: String] {
        [
            "BROWSER": folder("browser"), "DISPLAY": ":0", "HOME": folder.path, "LC_ALL": "C.UTF-8",
            "NORRISD_SOCKET": daemon?.socket ?? folder("nowhere"), "XDG_RUNTIME_DIR": folder.path,
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
