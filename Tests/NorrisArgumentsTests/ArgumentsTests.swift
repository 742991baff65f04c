import NorrisArguments
import Testing

enum Color: String, CaseIterable { case red, green }

/// Options and arguments of each kind.
struct Sample: Equatable {
    var isLoud = false, isQuick = false
    var count: Int?
    var name: String?
    var tags: [String] = []
    var color: Color?
    var word: String?
    var first = ""
    var second: Int?
    var rest: [String] = []

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&isLoud, "loud", short: "l", "Shout.")
        arguments.flag(&isQuick, "quick", "Hurry.")
        arguments.option(&count, "count", short: "n", in: 1...10, "How many.")
        arguments.option(&name, "name", ValueKind("name", "'sample names' lists them."), "Whose.")
        arguments.option(&tags, "tag", short: "t", ValueKind("tag", takesSurplus: true), "May be repeated.")
        arguments.option("color", ValueKind("color"), "Which color.", choices: Color.words) {
            assign(&color, Color(rawValue: $0))
        }
        arguments.option("word", ValueKind("word"), "One word.", takes: "one word") { text in
            word = text
            return !text.contains(" ")
        }
        arguments.positional(&first, ValueKind("id", noun: "item", "'sample list' shows their ids."), "The item.")
        arguments.positional(.number, "The place.", takes: "a whole number", isOptional: true) {
            assign(&second, Int($0))
        }
        arguments.positional(&rest, .file, "The files.", isOptional: true)
        arguments.common()
    }
}

func parse(_ words: String...) -> Result<Sample, UsageError> {
    var sample = Sample()
    var arguments = CommandArguments(words)
    do {
        try arguments.parse { sample.declare(&$0) }
        return .success(sample)
    } catch {
        return .failure(error)
    }
}

struct ArgumentsTests {
    private func sample(_ change: (inout Sample) -> Void) -> Result<Sample, UsageError> {
        var sample = Sample()
        sample.first = "x"
        change(&sample)
        return .success(sample)
    }

    @Test func readsEachSpellingOfAnOption() {
        for words in [["-n3"], ["-n", "3"], ["-n=3"], ["--count", "3"], ["--count=3"], ["--count=1", "-n3"]] {
            var sample = Sample()
            var arguments = CommandArguments(["x"] + words)
            #expect(throws: Never.self) { try arguments.parse { sample.declare(&$0) } }
            #expect(sample.count == 3, "\(words)")
        }
        #expect(parse("-ln3", "x") == sample { ($0.isLoud, $0.count) = (true, 3) })
        #expect(parse("x", "-lta", "-t", "b", "--tag=") == sample { ($0.isLoud, $0.tags) = (true, ["a", "b", ""]) })
        #expect(parse("x", "--color", "green", "--word", "") == sample { ($0.color, $0.word) = (.green, "") })
        #expect(parse("--name=a=b", "x") == sample { $0.name = "a=b" })
    }

    @Test func aValueMayBeginWithADash() {
        #expect(parse("--name", "-x", "x") == sample { $0.name = "-x" })
        #expect(parse("--name", "--", "x") == sample { $0.name = "--" })
        #expect(parse("-t", "--loud", "x") == sample { $0.tags = ["--loud"] })
    }

    @Test func readsArgumentsByTheirPlaces() {
        #expect(parse("x", "2", "a", "-", "b") == sample { ($0.second, $0.rest) = (2, ["a", "-", "b"]) })
        #expect(parse("x", "--", "2", "--loud") == sample { ($0.second, $0.rest) = (2, ["--loud"]) })
        #expect(
            parse("x", "--loud", "2", "--", "--", "-n")
                == sample { ($0.isLoud, $0.second, $0.rest) = (true, 2, ["--", "-n"]) })
    }

    @Test(arguments: [
        (["--bogus=1"], "Unknown option '--bogus'."), (["-lx"], "Unknown option '-x'."),
        (["-é"], "Unknown option '-é'."),
        (["--coun=1"], "Unknown option '--coun'. Did you mean '--count'?"),
        (["--loud=1"], "The option '--loud' takes no value."), (["-l=1"], "The option '-l' takes no value."),
        (["--count"], "Missing value for '--count <n>': it takes a whole number from 1 to 10."),
        (["--name"], "Missing value for '--name <name>': 'sample names' lists them."),
        (["--tag"], "Missing value for '--tag <tag>'."),
        (["-n11"], "The value '11' is invalid for '--count <n>': it takes a whole number from 1 to 10."),
        (
            ["--color", "geen"],
            "The value 'geen' is invalid for '--color <color>': it takes red or green. " + "Did you mean 'green'?"
        ), (["--word=a b"], "The value 'a b' is invalid for '--word <word>': it takes one word."),
        ([], "Which item? 'sample list' shows their ids."),
        (["x", "y"], "The value 'y' is invalid for '<n>': it takes a whole number."),
        (["--bogus", "--help"], "Unknown option '--bogus'."),
    ]) func saysWhatIsWrong(words: [String], message: String) {
        var sample = Sample()
        var arguments = CommandArguments(words)
        let error = #expect(throws: UsageError.self) { try arguments.parse { sample.declare(&$0) } }
        #expect(error?.message == message)
    }

    @Test(
        "A word that resembles no name is reported, because the command may know what was meant",
        arguments: [
            (["--bogus=1"], "--bogus"), (["--coun=1"], nil), (["--color", "blue"], "--color blue"),
            (["--color", "geen"], nil),
        ] as [([String], String?)]) func reportsAnUnknownWord(words: [String], unknown: String?)
    {
        var sample = Sample()
        var arguments = CommandArguments(words)
        let error = #expect(throws: UsageError.self) { try arguments.parse { sample.declare(&$0) } }
        #expect(error?.unknown == unknown)
    }

    @Test func aSurplusArgumentSuggestsTheOptionItIsFor() {
        struct Plain {
            var tag: String?
            mutating func declare(_ arguments: inout CommandArguments) {
                arguments.option(&tag, "tag", ValueKind("tag", takesSurplus: true), "A tag.")
            }
        }
        for (word, text) in [
            ("dev", "Unexpected argument 'dev'. Did you mean 'sample --tag dev'?"),
            ("$(x)", "Unexpected argument '$(x)'."), ("", "Unexpected argument ''."),
        ] {
            var plain = Plain()
            var arguments = CommandArguments([word])
            let error = #expect(throws: UsageError.self) { try arguments.parse { plain.declare(&$0) } }
            #expect(error?.text(of: "sample") == text)
        }
    }

    @Test func helpAndVersionWinOverLaterErrors() throws {
        for words in [["--help", "--bogus", "-n"], ["-h", "x", "y"], ["-lh", "--color=x"]] {
            var sample = Sample()
            var arguments = CommandArguments(words)
            try arguments.parse { sample.declare(&$0) }
            #expect(arguments.wantsHelp && !arguments.wantsVersion)
        }
        for words in [["--version", "--bogus"], ["-V"], ["-lV", "--count"]] {
            var sample = Sample()
            var arguments = CommandArguments(words)
            try arguments.parse { sample.declare(&$0) }
            #expect(arguments.wantsVersion)
        }
    }

    @Test(arguments: [
        ("-x", true), ("-nn", true), ("-l", false), ("--X", true), ("--1", true), ("-", true), ("-é", true),
    ]) func idsMayBeginWithADash(word: String, isID: Bool) throws {
        var sample = Sample()
        var arguments = CommandArguments(["ids", word, "1"])
        var isCommand = false
        func declare(_ arguments: inout CommandArguments) { if isCommand { sample.declare(&arguments) } }
        do {
            try arguments.parse(declare) { _ throws(UsageError) in
                isCommand = true
                return .command(takesIDs: true)
            }
        } catch {
            #expect(!isID)
        }
        #expect((sample.first == word) == isID)
        #expect(sample.isLoud != isID)
    }
}
