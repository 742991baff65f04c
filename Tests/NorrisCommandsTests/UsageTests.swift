@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct UsageTests {
    private static let commands = [
        "fact", "categories", "search", "recent", "status", "watch", "refresh", "reload", "clear-cache", "doctor",
        "call", "gif", "favorite", "feed", "post", "read", "prompt", "init", "completion", "card",
    ]

    @Test(arguments: [["--version"], ["fact", "--version"], ["--version", "fact"], ["search", "--version"]])
    func tellsTheVersions(arguments: [String]) {
        #expect(Machine().run(arguments) == Outcome(output: "norrisctl \(NorrisVersion.current) (protocol 1)\n"))
    }

    @Test(arguments: [["--help"], ["-h"], ["help"], ["help", "help"], ["--json", "--help"]])
    func helpListsTheCommandsAndTheExitStatuses(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.hasPrefix("OVERVIEW: Show facts, GIFs and posts from norrisd"))
        #expect(!outcome.output.contains("and the facts"))
        for command in Self.commands {
            #expect(outcome.output.contains("\n  \(command) "))
        }
        for status in [0, 1, 64, 69, 70, 74, 75, 77, 78] {
            #expect(outcome.output.contains("\n  \(status) "))
        }
        #expect(outcome.output.contains("\n  --timeout <time> "))
    }

    @Test(arguments: commands)
    func helpOfACommandHasExamplesAndEveryOption(command: String) {
        let outcome = Machine().run(command, "--help")
        #expect(outcome.status == .done)
        #expect(outcome.output.contains("\nExamples:\n  "))
        #expect(outcome.output.contains("USAGE: norrisctl \(command)"))
        #expect(outcome.output.contains("\n  --socket <path> "))
        #expect(Machine().run("--help", command) == outcome)
        #expect(Machine().run(command, "--json", "-h") == outcome)
        #expect(Machine().run("help", command) == outcome)
    }

    @Test func helpFitsTheTerminal() {
        let machine = Machine().onTerminal(columns: 60)
        let lines = machine.run("--help").output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 60 })
        let wide = Machine().onTerminal(columns: 300)
        #expect(wide.run("--help").output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(arguments: [
        ("fcat", "fact"), ("facts", "fact"), ("categ", "categories"), ("crad", "card"), ("stat", "status"), ("seach", "search"),
        ("serach", "search"), ("relod", "reload"), ("docter", "doctor"), ("calll", "call"), ("hlep", "help"),
        ("categroies", "categories"), ("gfi", "gif"), ("favourite", "favorite"), ("favorites", "favorite"),
    ])
    func suggestsTheCommandThatWasMeant(word: String, command: String) {
        #expect(Machine().run(word) == Outcome(
            errors: "norrisctl: There is no command \"\(word)\".\n  Did you mean: norrisctl \(command)\n",
            status: .usage
        ))
        #expect(Machine().run("--json", word, "--help") == Machine().run(word))
        #expect(Machine().run("help", word) == Machine().run(word))
    }

    @Test(arguments: ["x", "banana", "", "日本", String(repeating: "z", count: 3_000)])
    func suggestsNothingFarFetched(word: String) {
        let outcome = Machine().run(word)
        #expect(outcome.status == .usage)
        #expect(outcome.errors.hasSuffix("\n  norrisctl --help lists them.\n"))
        #expect(outcome.errors.count < 200)
    }

    @Test func namesTheOptionAndTheHelp() {
        #expect(Machine().run("fact", "--count", "0") == Outcome(
            errors: """
                norrisctl: The value '0' is invalid for '--count <n>': it takes a whole number from 1 to 100.
                  norrisctl fact --help shows what it takes.

                """,
            status: .usage
        ))
        #expect(Machine().run("fact", "--categry", "dev").errors.contains("'--category'?"))
        #expect(Machine().run("--count", "2", "fact").errors.contains("Unknown option '--count'"))
        #expect(Machine().run("--bogus").errors.hasSuffix("\n  norrisctl --help shows what it takes.\n"))
    }
}
