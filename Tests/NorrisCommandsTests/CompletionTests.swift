import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

struct CompletionTests {
    /// The completions for the last word of a line, without their summaries.
    private func words(_ line: String, on machine: Machine = Machine()) -> [String] {
        let outcome = machine.run(
            ["---complete"] + line.split(separator: " ", omittingEmptySubsequences: false).map { String($0) })
        #expect(outcome.errors.isEmpty)
        #expect(outcome.status == .done)
        return outcome.output.split(separator: "\n").map { line in String(line.prefix { $0 != "\t" }) }
    }

    private static func categories(_ names: [String]) -> String {
        let items = names.map { "{\"name\":\(JSON.string($0).jsonText),\"count\":1}" }
        return #"{"items":[\#(items.joined(separator: ","))],"freshness":\#(fresh)}"#
    }

    @Test func offersTheCommandsWithWhatTheyDo() {
        let outcome = Machine().run("---complete", "norrisctl", "")
        #expect(outcome.output.hasPrefix("fact\tShow facts you have not seen yet.\nsearch\t"))
        let commands = words("norrisctl ")
        #expect(Set(commands).isSuperset(of: ["search", "gif", "favorite", "completion", "clear-cache"]))
        for line in ["norrisctl fa", "norrisctl --json ", "norrisctl --socket /s --color=never ", "norrisctl help "] {
            #expect(words(line) == commands)
        }
        #expect(words("norrisctl favorite ") == ["add", "remove", "list", "export", "import"])
        #expect(words("norrisctl help favorite ") == ["add", "remove", "list", "export", "import"])
    }

    @Test func offersTheOptionsOfTheCommandAndOfEveryCommand() {
        let options = words("norrisctl fact -")
        #expect(options.starts(with: ["--category", "--count", "--max-length", "--name", "--source", "--id"]))
        #expect(Set(options).isSuperset(of: ["--json", "--socket", "--timeout", "--help", "--version"]))
        #expect(words("norrisctl fact --co") == options)
        // The command takes no positional argument.
        #expect(words("norrisctl fact ") == options)
        let root = words("norrisctl --")
        #expect(root.contains("--color"))
        #expect(!root.contains("--category"))
        let outcome = Machine().run("---complete", "norrisctl", "fact", "-")
        #expect(outcome.output.contains("--count\tHow many facts, 1 to 100.\n"))
    }

    @Test func leavesOutOptionsThatMayStandOnceAndDo() {
        let options = words("norrisctl --json fact --count 2 --max-length=80 --category dev --")
        #expect(!options.contains("--json"))
        #expect(!options.contains("--count"))
        #expect(!options.contains("--max-length"))
        #expect(options.contains("--category"))
    }

    @Test(arguments: [
        ("norrisctl --color ", ["auto", "always", "never"]), ("norrisctl fact --color=n", ["auto", "always", "never"]),
        ("norrisctl search -n 3 --source ", ["norris", "fortune", "all"]),
        ("norrisctl random --source ", ["norris", "fortune", "all"]), ("norrisctl fav rm ", ["fact", "gif", "post"]),
        ("norrisctl favorite add ", ["fact", "gif", "post"]), ("norrisctl favorite remove g", ["fact", "gif", "post"]),
        ("norrisctl favorite list --kind ", ["fact", "gif", "post"]),
        ("norrisctl completion ", ["bash", "zsh", "fish"]), ("norrisctl --socket ", ["/"]),
        ("norrisctl status --socket=/r", ["/"]), ("norrisctl favorite import ", ["/"]),
        ("norrisctl card --style ", ["poster", "scenic"]), ("norrisctl card -o ", ["/"]),
        ("norrisctl card --output fa", ["/"]), ("norrisctl card --output=fa", ["/"]),
    ]) func offersWhatIsAlwaysTheSame(line: String, expected: [String]) { #expect(words(line) == expected) }

    @Test func offersTheMethods() {
        let methods = words("norrisctl call ")
        #expect(methods.contains("fact.random"))
        #expect(methods.count > 20)
        #expect(words("norrisctl call fact.random ").isEmpty)
    }

    @Test(arguments: [
        "norrisctl search ", "norrisctl gif ca", "norrisctl fact --name ", "norrisctl fact --count=", "norrisctl xyz ",
        "norrisctl favorite xyz ", "norrisctl --bogus=", "norrisctl fact --bogus=-", "norrisctl fact -- ",
        "norrisctl search -- -", "norrisctl favorite add fact ", "norrisctl favorite remove x ", "norrisctl help fact ",
        "norrisctl help --", "norrisctl card --text ", "norrisctl card --size ",
    ]) func offersNothingWhereAnythingMayStandOrNothing(line: String) { #expect(words(line).isEmpty) }

    @Test(arguments: ["", "norrisctl"]) func aCallWithoutWordsIsTheBeginningOfALine(line: String) {
        #expect(words(line).first == "fact")
    }

    @Test(arguments: [
        "norrisctl fact --category ", "norrisctl fact --category d", "norrisctl fact --category=d",
        "norrisctl search light --category ", "norrisctl --json fact --category dev --category ",
        "norrisctl fact --category -",
    ]) func offersCategories(line: String) {
        let machine = Machine(results: Self.categories(["dev", "food"]))
        #expect(words(line, on: machine) == ["dev", "food"])
        #expect(machine.methods == ["fact.categories"])
    }

    @Test(arguments: [
        ("norrisctl refresh ", ["facts", "gifs", "planet"]), ("norrisctl clear-cache ", ["facts", "gifs", "planet"]),
        ("norrisctl feed --source ", ["planet"]),
    ]) func offersSources(line: String, expected: [String]) {
        let sources = ["facts", "gifs", "planet"].map { name in
            """
            {"name":"\(name)","kind":"x","enabled":true,"items":0,"freshness":\(fresh),"consecutive_failures":0}
            """
        }
        let machine = Machine(
            results: """
                {"state":"ok","message":"","uptime_seconds":1,"connections":1,"requests_total":1,\
                "sources":[\(sources.joined(separator: ","))],\
                "database":{"cache_bytes":1,"state_bytes":1,"read_only":false},"version":"1"}
                """)
        #expect(words(line, on: machine) == expected)
        #expect(machine.methods == ["server.status"])
    }

    @Test(arguments: [
        ("norrisctl favorite remove fact ", "fact"), ("norrisctl favorite remove gifs ", "gif"),
        ("norrisctl fact --id ", "fact"), ("norrisctl gif --id=", "gif"), ("norrisctl fact --id -", "fact"),
        ("norrisctl card --id ", "fact"),
    ]) func offersTheIDsOfFavorites(line: String, kind: String) {
        let machine = Machine(
            results: """
                {"items":[{"kind":"\(kind)","id":"builtin-1","title":"t","added_at":"2026-11-21T11:00:00Z"}]}
                """)
        #expect(words(line, on: machine) == ["builtin-1"])
        #expect(machine.methods == ["favorite.list"])
        #expect(machine.parameters == [#"{"kind":"\#(kind)","limit":100}"#])
    }

    @Test(arguments: [
        ("norrisctl post ", #"{"limit":50}"#), ("norrisctl post town:", #"{"limit":50}"#),
        ("norrisctl read ", #"{"unread":true,"limit":50}"#), ("norrisctl read town:1 ", #"{"unread":true,"limit":50}"#),
    ]) func offersTheIDsOfPosts(line: String, parameters: String) {
        let machine = Machine(results: page(post("town:2", "x"), post("town:1", "x")))
        #expect(words(line, on: machine) == ["town:2", "town:1"])
        #expect(machine.methods == ["post.list"])
        #expect(machine.parameters == [parameters])
    }

    @Test func showsTitlesBesideIds() {
        let long = String(repeating: "日", count: 40)
        let titles = [#"a:b\t$(c) `d` \u001b[31m\\e\nf"#, long, ""]
        let posts = titles.enumerated().map { post("town:\($0)", $1) }
        let machine = Machine(results: "{\"items\":[\(posts.joined(separator: ","))],\"freshness\":\(fresh)}")
        let outcome = machine.run("---complete", "norrisctl", "post", "")
        #expect(
            outcome.output
                == "town:0\ta:b (c)  d   e f\ntown:1\t\(String(repeating: "日", count: 29))…\ntown:2\n")
    }

    @Test func offersAuthorsByTheFirstNameThatCanBeTyped() {
        let machine = Machine(
            results: """
                {"items":[{"id":"town:1","name":"Ada","post_count":1},\
                {"id":"town:2","name":"Bo Li","handle":"bo","post_count":1},\
                {"id":"town:3","name":"Çelik","handle":"@c@town.example","post_count":1},\
                {"id":"a b","name":"$(touch X)","post_count":1}],"freshness":\(fresh)}
                """)
        #expect(words("norrisctl feed --author ", on: machine) == ["Ada", "bo", "town:3"])
        #expect(machine.methods == ["author.list"])
    }

    @Test func dropsEveryWordThatAShellMightTakeForMore() {
        let hostile = [
            "$(touch X)", "`touch X`", "a b", "a\nb", "a\tb", "\u{1B}[31mred", "", "dev;x", "a|b", "a&b", "a'b", "a\"b",
            "a\\b", "~root", "a*", "a?", "[a]", "{a,b}", "!1", "#a", "%1", "=a", "<a", "a>b", "/etc", "a/b", "a,b",
            "a@b", "é", "e\u{301}", "日本", "a\u{202E}b", "a\u{0}b", "a\u{7F}", "a\u{9B}", "-x", "--all",
            String(repeating: "a", count: 101),
        ]
        let longest = String(repeating: "a", count: 100)
        let harmless = ["dev", "A.z:0+9-_", longest]
        let machine = Machine(results: Self.categories(hostile + harmless))
        #expect(words("norrisctl fact --category ", on: machine) == harmless)
    }

    @Test func offersWhatHasAnUnderscore() {
        #expect(words("norrisctl call post.", on: Machine()).contains("post.mark_read"))
        #expect(words("norrisctl gif --rendition ", on: Machine()).contains("fixed_height"))
        #expect(words("norrisctl fact --category ", on: Machine(results: Self.categories(["foo_bar"]))) == ["foo_bar"])
    }

    @Test func saysNothingWhereTheDaemonDoesNot() {
        let machines = [
            Machine(failure: .noSocket(paths: ["/s"])), Machine(failure: .refused(path: "/s")),
            Machine(failure: .notPermitted(path: "/s")), Machine(failure: .timedOut(path: "/s")),
            Machine(failure: .closed(path: "/s")), Machine(results: "{}"), Machine(results: "[]"),
            Machine(results: #"{"items":[{"name":7}]}"#), Machine([.success(Array("\u{1B}x".utf8))]),
            Machine(error: .unknownMethod("\u{1B}no")),
        ]
        for machine in machines {
            #expect(machine.run("---complete", "norrisctl", "fact", "--category", "") == Outcome())
            #expect(machine.requests.count == 1)
        }
    }

    @Test func waitsATenthOfASecondAtMost() throws {
        let machine = Machine(results: Self.categories(["dev"]))
        _ = words("norrisctl --timeout 5s fact --category ", on: machine)
        #expect(try #require(machine.timeouts.first) <= .milliseconds(100))
    }

    @Test(arguments: [
        "norrisctl --socket /s fact --category ", "norrisctl fact --socket=/s --category d",
        "norrisctl fact --category dev --socket /s --category=",
    ]) func asksAtTheSocketOfTheLine(line: String) {
        let machine = Machine(results: Self.categories(["dev"]))
        machine.environment["NORRISD_SOCKET"] = "/other"
        _ = words(line, on: machine)
        #expect(machine.sockets == [["/s"]])
    }

    @Test func asksAtTheSocketOfTheEnvironment() {
        let machine = Machine(results: Self.categories(["dev"]))
        machine.environment["NORRISD_SOCKET"] = "/other"
        _ = words("norrisctl fact --category ", on: machine)
        #expect(machine.sockets == [["/other"]])
    }
}

struct CompletionCommandTests {
    @Test(arguments: ["bash", "zsh", "fish"]) func printsAScriptThatTheShellCanRead(shell: String) async throws {
        let machine = Machine().onTerminal()
        let outcome = machine.run("completion", shell)
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        #expect(machine.requests.isEmpty)
        #expect(outcome.output.utf8.allSatisfy { $0 == 0x0A || 0x20...0x7E ~= $0 })
        try await TestThread.run {
            let folder = TemporaryFolder()
            let script = try folder.write(outcome.output, to: "script")
            let check = try run(shell, ["-n", script], environment: ["HOME": folder.path])
            #expect(check.status == 0, "\(check)")
            #expect(check.output + check.errors == "")
        }
    }

    @Test(arguments: [("csh", " Did you mean 'zsh'?"), ("Bash", " Did you mean 'bash'?"), ("", ""), ("powershell", "")])
    func namesTheShellsItKnows(shell: String, suggestion: String) {
        #expect(
            Machine().run("completion", shell)
                == .failed(
                    .usage, "The value '\(shell)' is invalid for '<shell>': it takes bash, zsh or fish.\(suggestion)",
                    "See 'norrisctl completion --help'."))
    }
}
