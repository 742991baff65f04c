import Glibc
import NorrisArguments
import NorrisClient
import NorrisSystem
@testable import NorrisCommands
import NorrisTestSupport
import Testing

/// Random command lines from the words of the command declarations.
struct RandomCommandLineTests {
    private static let paths: [[String]] =
        [[]]
        + Norrisctl.commands.flatMap { command in
            [[command.name]] + command.aliases.map { [$0] } + command.commands.map { [command.name, $0.name] }
        }

    private static let junk: [String] = [
        "", "-", "--", "---", "--=", "-=", "=", "-j=", "help", "x", "dev", "2", "0", "-1", "101", "--1", "--X", "-é",
        "e\u{301}", "--j", "--no-json", "--coun", "-jj", "-jV", "-jn2", "-cdev", "-n", "-n=3", "-c=x", "-hx", "norris",
        "poster", "{id}", "{", "5s", "40", "never", "facts", "gif", "bash", "/s", "\u{1B}[31m", "\0", "--help",
        "--version", "-V", "-h", String(decoding: [0x2D, 0x2D, 0xFF, 0xFE], as: UTF8.self),
        String(decoding: [0xC3, 0x28], as: UTF8.self), String(repeating: "z", count: 70_000),
        "--" + String(repeating: "y", count: 70_000),
    ]

    /// The words for a command: its options in each spelling, and invalid words.
    private static func words(of path: [String]) throws -> [String] {
        var invocation = Invocation(path, isLenient: true)
        try invocation.parse()
        var settings = Settings()
        let items =
            CommandArguments.descriptions { settings.declare(&$0) } + (path.isEmpty ? [] : invocation.descriptions)
        return junk
            + items.filter(\.isOption).flatMap { item -> [String] in
                let value = item.choices.first ?? "2"
                return ["--\(item.name)", "--\(item.name)=\(value)", "--\(item.name)="]
                    + (item.short.map { ["-\($0)", "-\($0)\(value)", "-j\($0)"] } ?? [])
            }
    }

    @Test("200,000 command lines mean what a slow parser makes of them", arguments: 1...8)
    func meansWhatTheReferenceParserSays(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let choices = try Self.paths.map { ($0, try Self.words(of: $0)) }
        var valid = 0
        for round in 0..<25_000 {
            let (path, words) = choices[Int.random(in: 0..<choices.count, using: &generator)]
            var line = path
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                let word = words[Int.random(in: 0..<words.count, using: &generator)]
                // Most words follow the command.
                let start = Int.random(in: 0..<8, using: &generator) == 0 ? 0 : path.count
                line.insert(word, at: Int.random(in: start...line.count, using: &generator))
            }
            var invocation = Invocation(line)
            let expected = ReferenceParser.meaning(of: line)
            do {
                try invocation.parse()
            } catch {
                guard expected == nil else {
                    Issue.record("\(brief(line)) is refused: \(error.message.prefix(100)); expected \(expected!)")
                    return
                }
                #expect(!error.message.isEmpty && error.message.count < 400, "\(brief(line))")
                continue
            }
            guard let expected else {
                Issue.record("\(brief(line)) is accepted")
                return
            }
            valid += 1
            let isSame =
                expected.wantsHelp == invocation.arguments.wantsHelp
                && expected.wantsVersion == invocation.arguments.wantsVersion
                && (expected.wantsVersion || ["norrisctl"] + expected.command == invocation.path)
            #expect(isSame, "\(brief(line))")
            guard round % 4 == 0, !expected.wantsHelp, !expected.wantsVersion else { continue }
            #expect(invocation.arguments.positionals == expected.positionals, "\(brief(line))")
            var spelledOut = Invocation(expected.spelledOut)
            try spelledOut.parse()
            #expect(spelledOut.settings == invocation.settings, "\(brief(line))")
            #expect("\(spelledOut.command)" == "\(invocation.command)", "\(brief(line))")
        }
        #expect(valid > 2_000)
    }

    private func brief(_ line: [String]) -> [String] { line.map { String($0.prefix(20)) } }

    @Test func noWrongCommandLineHasAnEffect() throws {
        var generator = SeededRandom(seed: 27)
        let choices = try Self.paths.map { ($0, try Self.words(of: $0)) }
        for _ in 0..<2_000 {
            let (path, words) = choices[Int.random(in: 0..<choices.count, using: &generator)]
            let line = path + (0..<3).map { _ in words[Int.random(in: 0..<words.count, using: &generator)] }
            guard ReferenceParser.meaning(of: line) == nil else { continue }
            let machine = Machine()
            let outcome = machine.run(line)
            #expect(outcome.status == (path == ["prompt"] ? .done : .usage), "\(brief(line))")
            #expect(outcome.output.isEmpty && outcome.errors.contains("\n  See 'norrisctl "), "\(brief(line))")
            #expect(machine.requests.isEmpty && !machine.hasWritten && machine.runs.isEmpty)
        }
    }

    @Test func completionOfAnyLinePrintsPlainWordsAtOnce() throws {
        var generator = SeededRandom(seed: 3)
        let choices = try Self.paths.map { ($0, try Self.words(of: $0)) }
        for _ in 0..<2_000 {
            let (path, words) = choices[Int.random(in: 0..<choices.count, using: &generator)]
            let line = path + (0...2).map { _ in words[Int.random(in: 0..<words.count, using: &generator)] }
            let machine = Machine([.failure(.noSocket(paths: ["/s"]))])
            var outcome = Outcome()
            // CPU time, because the elapsed time depends on the load of the machine.
            let start = threadTime()
            outcome = machine.run(["---complete", "norrisctl"] + line)
            #expect(threadTime() - start < .milliseconds(100), "\(brief(line))")
            #expect(outcome.status == .done && outcome.errors.isEmpty, "\(brief(line))")
            for offer in outcome.output.split(separator: "\n") where offer != "/" {
                let isPlain = offer.prefix { $0 != "\t" }.utf8.allSatisfy { byte in
                    0x61...0x7A ~= byte | 0x20 || 0x30...0x39 ~= byte || "._:+-".utf8.contains(byte)
                }
                #expect(isPlain, "\(brief(line)): \(offer)")
            }
        }
    }
}

/// The CPU time of the calling thread (clock_gettime(2)).
private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
