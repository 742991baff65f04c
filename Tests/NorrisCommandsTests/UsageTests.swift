@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct UsageTests {
    private static let commands = [
        "fact", "categories", "search", "recent", "status", "watch", "refresh", "reload", "clear-cache", "doctor",
        "call", "gif", "favorite", "feed", "post", "read", "prompt", "init", "completion", "card", "config",
    ]
    private static let innerCommands =
        ["add", "remove", "list", "export", "import"].map { "favorite \($0)" }
        + ["path", "check"].map { "config \($0)" }

    @Test(arguments: [["--version"], ["fact", "--version"], ["--version", "fact"], ["search", "--version"]])
    func tellsTheVersions(arguments: [String]) {
        #expect(Machine().run(arguments) == Outcome(output: "norrisctl \(NorrisVersion.current) (protocol 1)\n"))
    }

    @Test(arguments: [["--help"], ["-h"], ["help"], ["help", "help"], ["--json", "--help"]])
    func helpListsTheCommandsAndTheExitStatuses(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.hasPrefix("Show Chuck Norris facts, GIFs and posts"))
        for command in Self.commands { #expect(outcome.output.contains("\n  \(command) ")) }
        for status in [0, 1, 64, 69, 70, 74, 75, 77, 78] { #expect(outcome.output.contains("\n  \(status) ")) }
        #expect(outcome.output.contains("\n      --timeout <time> "))
    }

    @Test(arguments: commands + innerCommands) func helpOfACommandHasExamplesAndEveryOption(command: String) {
        let words = command.split(separator: " ").map(String.init)
        let outcome = Machine().run(words + ["--help"])
        #expect(outcome.status == .done)
        #expect(outcome.output.contains("\nEXAMPLES\n  "))
        #expect(outcome.output.contains("\nUSAGE\n  norrisctl \(command)"))
        // Only the help of the program lists the options of every command.
        #expect(!outcome.output.contains("--socket <path>"))
        #expect(outcome.output.hasSuffix("\n\nOptions of every command: norrisctl --help\n"))
        #expect(Machine().run(["--help"] + words) == outcome)
        #expect(Machine().run(words + ["--json", "-h"]) == outcome)
        #expect(Machine().run(["help"] + words) == outcome)
    }

    @Test func helpFitsTheTerminal() {
        func widest(_ columns: Int, _ arguments: String...) -> Int {
            let lines = Machine().onTerminal(columns: columns).run(arguments).output.split(separator: "\n")
            // Examples are not wrapped, because users copy them.
            return lines.prefix { $0 != "EXAMPLES" }.map { $0.count }.max() ?? 0
        }
        for command in ["fact", "gif", "refresh"] {
            #expect(widest(60, command, "--help") <= 60)
            #expect(widest(30, command, "--help") <= 30)
            #expect(80...100 ~= widest(300, command, "--help"))
        }
        #expect(widest(60, "--help") <= 60)
        #expect(widest(20, "--help") <= 24, "An option's name is not cut.")
    }

    @Test func headingsOfHelpAreBoldWhereColorsAre() {
        let machine = Machine().onTerminal()
        #expect(!machine.run("fact", "--help").output.contains("\u{1B}"))
        machine.environment = ["TERM": "xterm"]
        let bold = machine.run("fact", "--help").output
        #expect(bold.contains("\u{1B}[1mUSAGE\u{1B}[0m\n"))
        #expect(!machine.run("help", "fact", "--color", "never").output.contains("\u{1B}"))
        #expect(!machine.run("--color=never", "fact", "-h").output.contains("\u{1B}"))
        #expect(Machine().run("fact", "--help", "--color", "always").output == bold)
        machine.environment = ["TERM": "dumb"]
        #expect(!machine.run("fact", "--help").output.contains("\u{1B}"))
    }

    @Test func helpOfAGroupIsAskedForInAnyOrder() {
        let page = Machine().run("favorite", "--help")
        #expect(page.output.contains("\nCOMMANDS\n  add "))
        #expect(Machine().run("favorite", "help") == page)
        #expect(Machine().run("favorite", "help", "add") == Machine().run("favorite", "add", "--help"))
    }

    @Test(arguments: [
        ("fcat", "fact"), ("facts", "fact"), ("categ", "categories"), ("crad", "card"), ("stat", "status"),
        ("seach", "search"), ("serach", "search"), ("relod", "reload"), ("docter", "doctor"), ("calll", "call"),
        ("hlep", "help"), ("categroies", "categories"), ("gfi", "gif"), ("favorites", "favorite"),
    ]) func suggestsTheCommandThatWasMeant(word: String, command: String) {
        #expect(
            Machine().run(word)
                == .failed(
                    .usage, "Unknown command \"\(word)\". Did you mean 'norrisctl \(command)'?",
                    "See 'norrisctl --help'."))
        #expect(Machine().run("--json", word, "--help") == Machine().run(word))
        #expect(Machine().run("help", word) == Machine().run(word))
    }

    @Test(arguments: ["x", "banana", "", "日本", String(repeating: "z", count: 3_000)])
    func suggestsNothingFarFetched(word: String) {
        let outcome = Machine().run(word)
        #expect(outcome.status == .usage)
        #expect(outcome.errors.hasSuffix("\n  See 'norrisctl --help'.\n"))
        #expect(outcome.errors.count < 200)
    }

    @Test(arguments: [
        ("post", "Which post? 'norrisctl feed' shows their ids."),
        ("init", "Which shell: bash, zsh or fish?"), ("search", "Which words? For example: norrisctl search light"),
        ("call", "Which method? 'norrisctl call rpc.discover' lists them."),
        ("fact --category", "Missing value for '--category <name>': 'norrisctl categories' lists them."),
        ("feed --source", "Missing value for '--source <name>': 'norrisctl status' lists them."),
        ("fact --source", "Missing value for '--source <source>': it takes norris, fortune or all."),
        ("fact dev", "Unexpected argument 'dev'. Did you mean 'norrisctl fact --category dev'?"),
        ("feed planet", "Unexpected argument 'planet'. Did you mean 'norrisctl feed --source planet'?"),
        ("status x", "Unexpected argument 'x'."), ("fact --json=1", "The option '--json' takes no value."),
        (
            "search x --source fortnue",
            "The value \"fortnue\" is invalid for '--source': it takes norris, fortune or all, or with --in posts "
                + "a source of posts. Did you mean 'fortune'?"
        ),
    ]) func saysWhatIsMissingAndWhereItComesFrom(line: String, message: String) {
        let words = line.split(separator: " ").map(String.init)
        let command = words[0] == "favorite" ? "favorite add" : words[0]
        #expect(Machine().run(words) == .failed(.usage, message, "See 'norrisctl \(command) --help'."))
    }

    @Test func suggestsTheCategoryThatWasMeant() {
        func machine() -> Machine {
            let machine = Machine(error: .notFound("There is no category \"devv\"."))
            let items = ["dev", "food"].map { "{\"name\":\"\($0)\",\"count\":1}" }.joined(separator: ",")
            machine.reply(.success(Array(Machine.result(#"{"items":[\#(items)],"freshness":\#(fresh)}"#).utf8)))
            return machine
        }
        for words in [["fact", "-c", "devv"], ["search", "x", "-c", "devv"]] {
            #expect(
                machine().run(words)
                    == .failed(
                        .nothing, "There is no category \"devv\".",
                        "Did you mean 'dev'? List the categories: norrisctl categories"))
        }
        let other = machine()
        #expect(other.run("fact", "-c", "sport").errors.hasSuffix("\n  List the categories: norrisctl categories\n"))
        #expect(other.methods == ["fact.random", "fact.categories"])
    }

    @Test func namesTheOptionAndTheHelp() {
        #expect(
            Machine().run("fact", "--count", "0")
                == .failed(
                    .usage, "The value '0' is invalid for '--count <n>': it takes a whole number from 1 to 100.",
                    "See 'norrisctl fact --help'."))
        #expect(
            Machine().run("fact", "--categry", "dev")
                == .failed(
                    .usage, "Unknown option '--categry'. Did you mean '--category'?", "See 'norrisctl fact --help'."))
        #expect(
            Machine().run("random", "--verison")
                == .failed(
                    .usage, "Unknown option '--verison'. Did you mean '--version'?", "See 'norrisctl fact --help'."))
        #expect(Machine().run("--count", "2", "fact").errors.contains("Unknown option '--count'"))
        #expect(
            Machine().run("--nothing-like-it")
                == .failed(.usage, "Unknown option '--nothing-like-it'.", "See 'norrisctl --help'."))
    }
}

struct GrammarTests {
    private func socketAndTimeout(_ arguments: [String]) -> ([String], Duration)? {
        let machine = Machine(results: page(fact("a", "x")))
        let outcome = machine.run(arguments)
        #expect(outcome.status == .done, "\(outcome.errors)")
        guard let sockets = machine.sockets.first, let timeout = machine.timeouts.first else { return nil }
        return (sockets, timeout)
    }

    @Test(arguments: [
        ["--socket", "/s", "--timeout", "2s", "--json", "fact", "--count", "1"],
        ["fact", "--count", "1", "--socket", "/s", "--timeout", "2s", "--json"],
        ["--socket=/s", "fact", "--json", "--count=1", "--timeout=2s"],
        ["--json", "--timeout", "2s", "fact", "--socket", "/s"],
        ["--color", "never", "--width", "30", "--plain", "--timeout", "2s", "--socket", "/s", "fact"],
        ["--timeout", "1s", "fact", "--socket", "/s", "--timeout", "2s"],
        ["--socket", "fact", "fact", "--socket", "/s", "--timeout", "2s"],
    ]) func takesTheCommonOptionsOnBothSidesOfTheCommand(arguments: [String]) {
        let found = socketAndTimeout(arguments)
        #expect(found?.0 == ["/s"])
        #expect(found?.1 == .seconds(2))
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1ms", .milliseconds(1)), ("5s", .seconds(5)), ("2m", .seconds(120)),
        ("1440m", .seconds(86_400)),
    ]) func takesTimesWithUnits(text: String, duration: Duration) {
        #expect(socketAndTimeout(["fact", "--timeout", text])?.1 == duration)
        #expect(Timeout(text)?.text == text)
    }

    @Test func givesUpAfterFiveSecondsByDefault() { #expect(socketAndTimeout(["fact"])?.1 == .seconds(5)) }

    @Test(arguments: [
        ["fact", "--timeout", "5"], ["fact", "--timeout", "0s"], ["fact", "--timeout", "-1s"],
        ["fact", "--timeout", "5 s"], ["fact", "--timeout", "5h"], ["fact", "--timeout", "s"],
        ["fact", "--timeout", "1.5s"], ["fact", "--timeout", "99999999999999999999s"], ["fact", "--timeout", "1441m"],
        ["fact", "--timeout", "٥s"], ["fact", "--timeout"], ["fact", "--width", "0"], ["fact", "--width", "x"],
        ["fact", "--width", "10001"], ["fact", "--width"], ["--width", "fact"], ["fact", "--color", "red"],
        ["fact", "--color", "Always"], ["fact", "--socket"], ["--socket"], ["fact", "--count", "0"],
        ["fact", "--count", "101"], ["fact", "--count", "two"], ["fact", "--count", ""], ["fact", "--count"],
        ["fact", "--max-length", "0"], ["fact", "--max-length", "10001"], ["fact", "--category"], ["fact", "--id"],
        ["fact", "--name"], ["fact", "extra"], ["fact", "--bogus"], ["fact", "-x"], ["fact", "--json=1"],
        ["fact", "--id", "a", "--today"], ["fact", "--id", "a", "--count", "1"],
        ["fact", "--today", "--category", "dev"], ["fact", "--today", "--explicit"], ["search"], ["search", ""],
        ["search", "--limit", "0", "x"], ["search", "--limit", "101", "x"], ["search", "-x"],
        ["search", "--bogus", "x"], ["categories", "x"], ["status", "x"], ["reload", "x"], ["doctor", "x"], ["call"],
        ["watch", "x"], ["refresh", "a", "b"], ["clear-cache", "a", "b"], ["recent", "x"], ["recent", "1", "2"],
        ["recent", "1", "--clear"], ["call", "m", "{}", "x"], ["gif", ""], ["gif", "--random", ""],
        ["gif", "--limit", "0"], ["gif", "--limit", "51"], ["gif", "--page", "11"], ["gif", "--id", "a", "x"],
        ["gif", "--id", "a", "--random"], ["gif", "--id", "a", "--trending"], ["gif", "--id", "a", "--limit", "1"],
        ["gif", "--id", "a", "--page", "1"], ["gif", "--id", "a", "--offline"], ["gif", "--random", "--trending"],
        ["gif", "--random", "--page", "2"], ["gif", "--random", "--limit", "2"], ["gif", "--random", "--offline"],
        ["gif", "--trending", "x"], ["gif", "--offline"], ["gif", "--rendition"], ["gif", "--trending", "--offline"],
        ["gif", "--url", "--markdown"], ["gif", "-x"], ["gif", "--open", "--copy"], ["gif", "--copy", "--show"],
        ["gif", "--show", "--url"], ["gif", "--open", "--limit", "2"], ["gif", "--copy", "--limit", "2"],
        ["gif", "--json", "--show"], ["gif", "--copy", "--json"], ["--json", "gif", "--open"],
        ["fact", "--copy", "--count", "2"], ["fact", "--copy", "--json"], ["post", "a", "--json", "--open"],
        ["post", "a", "--show", "--json"], ["config"], ["config", "x"], ["config", "path", "x"],
        ["favorite", "x"], ["favorite", "--kind", "fact", "list"], ["favorite", "add", "cat", "dog"],
        ["favorite", "add", "a", "--id", "b"], ["favorite", "add", "gif", "a", "b"], ["favorite", "add", "gif", "--x"],
        ["favorite", "list", "fact"],
        ["favorite", "list", "--kind", "x"], ["favorite", "list", "--limit", "101"],
        ["favorite", "list", "--page", "0"], ["favorite", "export", "f"], ["favorite", "import", "a", "b"],
        ["feed", "x"], ["feed", "--limit", "0"], ["feed", "--limit", "101"], ["feed", "--page", "11"],
        ["feed", "--source"], ["feed", "--author"], ["feed", "-x"], ["post"], ["post", "a", "b"], ["post", "--x"],
        ["card"], ["card", "--json"], ["card", "x", "-o", "f"], ["card", "-o"], ["card", "-o", ""],
        ["card", "--id", "a", "--today", "-o", "f"], ["card", "--id", "a", "--text", "b", "-o", "f"],
        ["card", "--today", "--text", "b", "-o", "f"], ["card", "--open"], ["card", "--text", "b", "--open"],
        ["card", "--show", "--open"], ["card", "--alt", "--open"], ["card", "-o", "-", "--open"],
        ["card", "-o", "-", "--show"], ["card", "-o", "-", "--alt"], ["card", "-o", "-", "--json"],
        ["card", "-o", "f", "--json", "--show"], ["card", "-o", "f", "--json", "--open"],
        ["card", "-o", "f", "--json", "--alt"], ["card", "--alt", "--show"], ["card", "--text", "-o"],
        ["card", "-o", "f", "--size", "255"], ["card", "-o", "f", "--size", "4097"],
        ["card", "-o", "f", "--size", "-1"], ["card", "-o", "f", "--size", "9999999999999999999999"],
        ["card", "-o", "f", "--size", "1080.5"], ["card", "-o", "f", "--size"], ["card", "-o", "f", "-o"],
        ["card", "--text", "", "-o", "f"], ["card", "--text", " \n\t\u{1B}[31m", "-o", "f"],
        ["read", "a", "--all"], ["read", "--x"], ["read", "--all", "x"], ["init"], ["init", "sh"], ["init", "Bash"],
        ["init", "bash", "zsh"], ["init", "bash", "--max-length", "0"], ["init", "bash", "--max-length", "10001"],
        ["init", "bash", "--max-length", "x"], ["init", "-x"], ["--bogus"], ["--bogus", "fact"],
        ["--count", "2", "fact"], ["fcat"], ["", "fact"],
    ]) func refusesWhatIsNoCommandLine(arguments: [String]) {
        let machine = Machine()
        let outcome = machine.run(arguments)
        #expect(outcome.status == .usage)
        #expect(ExitStatus.usage.rawValue == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("norrisctl: "))
        #expect((1...2).contains(outcome.errors.split(separator: "\n").count))
        #expect(machine.requests.isEmpty)
    }

    @Test(arguments: [
        (["--id", "-x"], "-x"), (["--id=-x"], "-x"), (["--id", "-hello"], "-hello"), (["--id", "--json"], "--json"),
        (["--id", "-plain"], "-plain"), (["--id", "--"], "--"), (["--json", "--id", "-x-"], "-x-"),
        (["--id", "-1"], "-1"), (["--id", "x=y"], "x=y"), (["--id", "-x=y"], "-x=y"),
    ]) func takesIdsThatLookLikeOptions(arguments: [String], id: String) {
        let machine = Machine(results: #"{"fact":\#(fact("a", "x"))}"#)
        #expect(machine.run(["fact"] + arguments).status == .done)
        #expect(machine.parameters == [#"{"id":"\#(id)"}"#])
    }

    @Test(arguments: [
        (["search", "--", "-x"], "-x"), (["search", "--", "--help"], "--help"), (["search", "fact"], "fact"),
        (["search", "--", "--", "x"], "-- x"), (["--json", "search", "a", "--limit", "1", "b"], "a b"),
        (["search", "a", "--", "-b"], "a -b"), (["search", "  a ", " b"], "  a   b"), (["search", "help"], "help"),
    ]) func takesWordsBehindTwoDashesAsTheyAre(arguments: [String], query: String) {
        let machine = Machine(results: page(fact("a", "x")))
        #expect(machine.run(arguments).status == .done)
        #expect(machine.parameters.first?.hasPrefix(#"{"query":"\#(query)""#) == true)
    }
}
