import Foundation
import NorrisArguments
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct UsageTests {
    private static let commands: [[String]] = Norrisctl.commands.flatMap { command in
        [[command.name]] + command.commands.map { [command.name, $0.name] }
    }

    @Test(arguments: [["--version"], ["fact", "--version"], ["--version", "fact"], ["search", "-V"]])
    func tellsTheVersions(arguments: [String]) {
        #expect(Machine().run(arguments) == Outcome(output: "norrisctl \(NorrisVersion.current) (protocol 1)\n"))
    }

    @Test func helpReadsAsItDid() throws { try checkGolden("help.txt", Machine().run("help", "fact").output) }

    @Test(arguments: [["--help"], ["-h"], ["help"], ["help", "help"], ["--json", "--help"]])
    func helpListsTheCommandsAndTheExitStatuses(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .done && outcome.errors.isEmpty)
        for command in Norrisctl.commands { #expect(outcome.output.ranges(of: "\n  \(command.name) ").count == 1) }
        for status in ExitStatus.allCases { #expect(outcome.output.contains("\n  \(status.rawValue) ")) }
        #expect(outcome.output.contains("\n      --timeout <time> "))
    }

    @Test(arguments: commands) func helpOfACommandIsAskedForInAnyOrder(command: [String]) {
        let outcome = Machine().run(command + ["--help"])
        #expect(outcome.status == .done)
        #expect(outcome.output.contains("\nUSAGE\n  norrisctl \(command.joined(separator: " "))"))
        #expect(outcome.output.contains("\nEXAMPLES\n  "))
        // Only the help of the program lists the options of every command.
        #expect(!outcome.output.contains("--socket <path>"))
        #expect(Machine().run(["--help"] + command) == outcome)
        #expect(Machine().run(command + ["--json", "-h"]) == outcome)
        #expect(Machine().run(["help"] + command) == outcome)
        // A word after a command without subcommands is its argument.
        if command.count > 1 { #expect(Machine().run([command[0], "help", command[1]]) == outcome) }
    }

    /// A summary with its values needs no second look, such as at the manual.
    @Test func helpNamesTheValuesOfEveryClosedList() {
        let items = CommandList.all.flatMap { command in command.items.map { (command.name, $0) } }
        let common = CommandList.options.map { ("", $0) }
        var count = 0
        for (command, item) in items + common where !item.choices.isEmpty {
            count += 1
            let isNamed = item.choices.allSatisfy { item.summary.contains($0) }
            #expect(isNamed, "norrisctl \(command): \(item.label) takes \(item.rule); name them in its summary.")
        }
        #expect(count > 10)
    }

    /// The sentence is a paragraph of its own, the last one before the examples.
    @Test func helpSaysWhatAPipeGetsInOnePlace() {
        for command in CommandList.all {
            let paragraphs = Machine().run(["help"] + command.name.split(separator: " ").map(String.init)).output
                .components(separatedBy: "\n\n").filter { $0.contains(/(I|i)n a pipe:/) }
            #expect(paragraphs.count <= 1)
            #expect(
                paragraphs.allSatisfy { $0.hasPrefix("In a pipe: ") || $0.hasPrefix("Tab-separated in a pipe: ") },
                "\(command.name): \(paragraphs)")
        }
    }

    @Test func helpFitsTheTerminal() {
        func widest(_ columns: Int, _ arguments: String...) -> Int {
            let lines = Machine().onTerminal(columns: columns).run(arguments).output.split(separator: "\n")
            // Examples are not wrapped, because users copy them.
            return lines.prefix { $0 != "EXAMPLES" }.map { $0.count }.max() ?? 0
        }
        #expect(widest(60, "gif", "--help") <= 60)
        #expect(widest(30, "gif", "--help") <= 30)
        #expect(80...100 ~= widest(300, "gif", "--help"))
        #expect(widest(20, "--help") <= 24, "An option's name is not cut.")
    }

    @Test func headingsOfHelpAreBoldWhereColorsAre() {
        let machine = Machine().onTerminal()
        #expect(!machine.run("fact", "--help").output.contains("\u{1B}"))
        machine.environment = ["TERM": "xterm"]
        #expect(machine.run("fact", "--help").output.contains("\u{1B}[1mUSAGE\u{1B}[0m\n"))
        #expect(!machine.run("help", "fact", "--color", "never").output.contains("\u{1B}"))
    }

    @Test(arguments: [
        ("fcat", "fact"), ("facts", "fact"), ("categ", "categories"), ("serach", "search"), ("hlep", "help"),
        ("favorites", "favorite"), ("version", "--version"), ("sources", "feed sources"), ("unmute", "mute --remove N"),
        ("add", "feed add URL"), ("import", "feed import"), ("ls", "feed"), ("joke", "fact"),
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
        ("init", "Which shell: bash, zsh or fish?"), ("search", "Which words? For example: norrisctl search light"),
        ("fact --category", "Missing value for '--category <name>': 'norrisctl categories' lists them."),
        ("fact --source", "Missing value for '--source <source>': it takes norris, fortune or all."),
        ("fact --count 0", "The value '0' is invalid for '--count <n>': it takes a whole number from 1 to 100."),
        ("fact --count +5", "The value '+5' is invalid for '--count <n>': it takes a whole number from 1 to 100."),
        ("recent +2", "The value '+2' is invalid for '<n>': it takes a whole number."),
        ("fact dev", "Unexpected argument 'dev'. Did you mean 'norrisctl fact --category dev'?"),
        ("fact --json=1", "The option '--json' takes no value."),
        ("feed unread", "Unknown command \"feed unread\". Did you mean 'norrisctl feed --unread'?"),
        ("feed list", "Unknown command \"feed list\". Did you mean 'norrisctl feed sources'?"),
        ("feed --page 99", "The value '99' is invalid for '--page <n>': it takes a whole number from 1 to 10."),
        ("feed planet", "Unknown command \"feed planet\". Did you mean 'norrisctl feed --source planet'?"),
        (
            "feed https://e.org",
            "Unknown command \"feed https://e.org\". Did you mean 'norrisctl feed add https://e.org'?"
        ), ("unread --all", "Unknown option '--all'. Did you mean 'norrisctl read --undo'?"),
        ("fact --verison", "Unknown option '--verison'. Did you mean '--version'?"),
        (
            "search x --source fortnue",
            "The value \"fortnue\" is invalid for '--source': it takes norris, fortune or all, or with --in posts "
                + "a source of posts. Did you mean 'fortune'?"
        ),
    ]) func saysWhatIsMissingAndWhereItComesFrom(line: String, message: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(Machine().run(words) == .failed(.usage, message, "See 'norrisctl \(words[0]) --help'."))
    }

    @Test func suggestsTheCategoryThatWasMeant() {
        for (words, hint) in [
            (["fact", "-c", "devv"], "Did you mean 'dev'? "), (["search", "x", "-c", "devv"], "Did you mean 'dev'? "),
            (["fact", "-c", "sport"], ""),
        ] {
            let machine = Machine(error: .notFound("There is no such category.", category: words.last))
            let items = ["dev", "food"].map { "{\"name\":\"\($0)\",\"count\":1}" }.joined(separator: ",")
            machine.reply(Machine.reply(#"{"items":[\#(items)],"freshness":\#(fresh)}"#))
            #expect(
                machine.run(words)
                    == .failed(
                        .nothing, "There is no such category.", "\(hint)List the categories: norrisctl categories"))
        }
    }
}

/// The conventions of command lines, by examples.
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
        ["--timeout", "1s", "fact", "--socket", "/s", "--timeout", "2s"],
        ["--socket", "fact", "fact", "--socket", "/s", "--timeout", "2s"],
    ]) func takesTheCommonOptionsOnBothSidesOfTheCommand(arguments: [String]) {
        let found = socketAndTimeout(arguments)
        #expect(found?.0 == ["/s"])
        #expect(found?.1 == .seconds(2))
    }

    @Test(arguments: [
        (["--timeout", "1ms"], Duration.milliseconds(1)), (["--timeout", "2m"], .seconds(120)),
        (["--timeout", "1440m"], .seconds(86_400)), ([], .seconds(5)),
    ]) func takesTimesWithUnits(options: [String], duration: Duration) {
        #expect(socketAndTimeout(["fact"] + options)?.1 == duration)
    }

    @Test(arguments: [
        ["fact", "--timeout", "5"], ["fact", "--timeout", "0s"], ["fact", "--timeout", "1.5s"],
        ["fact", "--timeout", "1441m"], ["fact", "--timeout", "٥s"], ["fact", "--width", "0"],
        ["fact", "--width", "x"], ["fact", "--color", "Always"], ["fact", "--count", "101"], ["fact", "--count", ""],
        ["fact", "--bogus"], ["fact", "-x"], ["fact", "--id", "a", "--today"], ["fact", "--id", "a", "--count", "1"],
        ["fact", "--today", "--explicit"], ["fact", "--copy", "--count", "2"], ["fact", "--copy", "--json"],
        ["search", ""], ["search", "--limit", "101", "x"], ["status", "x"], ["call"], ["call", "m", "{}", "x"],
        ["refresh", "a", "b"], ["recent", "x"], ["recent", "1", "--clear"], ["gif", ""], ["gif", "--random", ""],
        ["gif", "--limit", "51"], ["gif", "--page", "11"], ["gif", "--id", "a", "x"],
        ["gif", "--id", "a", "--random"], ["gif", "--id", "a", "--limit", "1"], ["gif", "--random", "--trending"],
        ["gif", "--random", "--page", "2"], ["gif", "--trending", "x"], ["gif", "--offline"],
        ["gif", "--url", "--markdown"], ["gif", "--open", "--copy"], ["gif", "--show", "--url"],
        ["gif", "--copy", "--limit", "2"], ["--json", "gif", "--open"], ["post", "a", "--json", "--open"],
        ["post", "a", "--open-link", "0"], ["post", "a", "b"], ["config"], ["config", "path", "x"], ["favorite", "x"],
        ["favorite", "--kind", "fact", "list"], ["favorite", "add", "a", "--id", "b"],
        ["favorite", "add", "gif", "a", "b"], ["favorite", "add", "gif", "--x"], ["favorite", "list", "--kind", "x"],
        ["feed", "x"], ["feed", "--open", "1"], ["post", "a", "--full"], ["card"], ["card", "--json"],
        ["card", "x", "-o", "f"],
        ["card", "-o", ""], ["card", "--id", "a", "--today", "-o", "f"],
        ["card", "--alt", "--show"], ["card", "--show", "--open"], ["card", "-o", "-", "--open"],
        ["card", "-o", "-", "--json"],
        ["card", "-o", "f", "--json", "--show"], ["card", "--text", "-o"], ["card", "-o", "f", "--size", "255"],
        ["card", "--text", "", "-o", "f"], ["card", "--text", " \n\t\u{1B}[31m", "-o", "f"], ["read", "a", "--all"],
        ["init", "Bash"], ["init", "bash", "zsh"], ["init", "bash", "--max-length", "0"], ["completion", "csh"],
        ["--bogus", "fact"], ["--count", "2", "fact"],
    ]) func refusesWhatIsNoCommandLine(arguments: [String]) {
        let machine = Machine()
        let outcome = machine.run(arguments)
        #expect(outcome.status == .usage && outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("norrisctl: "))
        #expect((1...2).contains(outcome.errors.split(separator: "\n").count))
        #expect(machine.requests.isEmpty && machine.runs.isEmpty && !machine.hasWritten)
    }

    @Test(arguments: [
        (["--id", "-x"], "-x"), (["--id=-x"], "-x"), (["--id", "--json"], "--json"), (["--id", "--"], "--"),
        (["--json", "--id", "-x-"], "-x-"), (["--id", "-x=y"], "-x=y"),
    ]) func takesIdsThatLookLikeOptions(arguments: [String], id: String) {
        let machine = Machine(results: #"{"fact":\#(fact("a", "x"))}"#)
        #expect(machine.run(["fact"] + arguments).status == .done)
        #expect(machine.parameters == [#"{"id":"\#(id)"}"#])
    }

    @Test(arguments: [
        (["search", "--", "--help"], "--help"), (["search", "fact"], "fact"), (["search", "help"], "help"),
        (["search", "--", "--", "x"], "-- x"), (["--json", "search", "a", "--limit", "1", "b"], "a b"),
        (["search", "a", "--", "-b"], "a -b"), (["search", "  a ", " b"], "  a   b"),
    ]) func takesWordsBehindTwoDashesAsTheyAre(arguments: [String], query: String) {
        let machine = Machine(results: page(fact("a", "x")))
        #expect(machine.run(arguments).status == .done)
        #expect(machine.parameters.first?.hasPrefix(#"{"query":"\#(query)""#) == true)
    }
}
