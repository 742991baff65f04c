import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
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
        #expect(outcome.output.hasPrefix("fact\tShow facts, each once before any repeats.\nsearch\t"))
        let commands = words("norrisctl ")
        #expect(Set(commands).isSuperset(of: ["search", "gif", "favorite", "completion", "clear-cache"]))
        for line in ["norrisctl", "norrisctl fa", "norrisctl --socket /s --color=never ", "norrisctl help "] {
            #expect(words(line) == commands)
        }
        #expect(words("norrisctl call post.").contains("post.mark_read"))
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
        #expect(!words("norrisctl --").contains("--category"))
        #expect(Machine().run("---complete", "norrisctl", "fact", "-").output.contains("--count\tHow many facts, "))
        let more = words("norrisctl --json fact --count 2 --max-length=80 --category dev --")
        #expect(Set(more).isDisjoint(with: ["--json", "--count", "--max-length"]) && more.contains("--category"))
    }

    @Test(arguments: [
        ("norrisctl --color ", ["auto", "always", "never"]), ("norrisctl fact --color=n", ["auto", "always", "never"]),
        ("norrisctl search -n 3 --source ", ["norris", "fortune", "all"]),
        ("norrisctl fav rm ", ["fact", "gif", "post"]), ("norrisctl favorite list --kind ", ["fact", "gif", "post"]),
        ("norrisctl completion ", ["bash", "zsh", "fish"]), ("norrisctl status --socket=/r", ["/"]),
        ("norrisctl favorite import ", ["/"]), ("norrisctl card -o ", ["/"]),
    ]) func offersWhatIsAlwaysTheSame(line: String, expected: [String]) { #expect(words(line) == expected) }

    @Test(arguments: [
        "norrisctl search ", "norrisctl fact --count=", "norrisctl xyz ", "norrisctl favorite xyz ",
        "norrisctl --bogus=", "norrisctl fact -- ", "norrisctl search -- -", "norrisctl favorite add fact ",
        "norrisctl help fact ", "norrisctl help --", "norrisctl call fact.random ",
    ]) func offersNothingWhereAnythingMayStandOrNothing(line: String) { #expect(words(line).isEmpty) }

    @Test(arguments: [
        "norrisctl --socket /s fact --category d", "norrisctl fact --socket=/s --category=d",
        "norrisctl --timeout 5s fact --category dev --socket /s --category ",
    ]) func offersCategoriesOfThatDaemonWithinATenthOfASecond(line: String) throws {
        let machine = Machine(results: Self.categories(["dev", "food"]))
        machine.environment["NORRISD_SOCKET"] = "/other"
        #expect(words(line, on: machine) == ["dev", "food"])
        #expect(machine.methods == ["fact.categories"] && machine.sockets == [["/s"]])
        #expect(try #require(machine.timeouts.first) <= .milliseconds(100))
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

    @Test(arguments: ["remove", "edit"]) func offersOnlySourcesThatAreNotInTheConfiguration(command: String) {
        let sources = [("town", "config"), ("planet", "added")].map { name, origin in
            """
            {"name":"\(name)","kind":"feed","url":"https://e.example/","origin":"\(origin)","tags":[],"items":3,\
            "unread":0,"consecutive_failures":0,"article":false,"freshness":\(fresh)}
            """
        }
        let machine = Machine(results: "{\"items\":[\(sources.joined(separator: ","))]}")
        #expect(words("norrisctl feed \(command) ", on: machine) == ["planet"])
    }

    @Test(arguments: [
        ("norrisctl favorite remove gifs ", "gif"), ("norrisctl gif --id=", "gif"), ("norrisctl fact --id -", "fact"),
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
        ("norrisctl post town:", #"{"limit":50}"#), ("norrisctl read town:1 ", #"{"unread":true,"limit":50}"#),
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
        let hostile =
            "`$ \n\t;|&'\"\\~*?[]{}!#%=<>/,@é日\u{301}\u{202E}\u{0}\u{7F}\u{9B}\u{1B}".unicodeScalars.map { "a\($0)b" }
            + ["", "-x", "--all", String(repeating: "a", count: 101)]
        let longest = String(repeating: "a", count: 100)
        let harmless = ["dev", "A.z:0+9-_", longest]
        let machine = Machine(results: Self.categories(hostile + harmless))
        #expect(words("norrisctl fact --category ", on: machine) == harmless)
    }

    @Test func saysNothingWhereTheDaemonDoesNot() {
        let machines = [
            Machine(failure: .noSocket(paths: ["/s"])), Machine(failure: .timedOut(path: "/s")),
            Machine(results: #"{"items":[{"name":7}]}"#), Machine([.success(Array("\u{1B}x".utf8))]),
            Machine(error: .unknownMethod("\u{1B}no")),
        ]
        for machine in machines {
            #expect(machine.run("---complete", "norrisctl", "fact", "--category", "") == Outcome())
            #expect(machine.requests.count == 1)
        }
    }

}

struct CompletionCommandTests {
    @Test(arguments: ["bash", "zsh", "fish"]) func printsAScriptOfPlainLines(shell: String) {
        let machine = Machine().onTerminal()
        let outcome = machine.run("completion", shell)
        #expect(outcome.status == .done && outcome.errors.isEmpty && machine.requests.isEmpty)
        #expect(outcome.output.utf8.allSatisfy { $0 == 0x0A || 0x20...0x7E ~= $0 })
    }
}
