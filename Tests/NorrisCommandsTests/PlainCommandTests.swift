@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

/// Plain command lines are read without ArgumentParser, those with `=` never are: both must come to the same.
struct PlainCommandTests {
    private static let words = [
        "--category", "dev", "--count", "2", "101", "--max-length", "80", "--name", "Ada", "--id", "-x", "--today",
        "--explicit", "--json", "--plain", "--width", "40", "--color", "never", "red", "--timeout", "20ms", "5", "--cou",
        "--", "", "-1", "--help", "--bogus", "--socket",
    ]

    /// All that can be seen of a run.
    private struct Sight: Equatable {
        var outcome: Outcome
        var requests: [JSON]
        var sockets: [[String]]
        var timeouts: [Duration]
    }

    private func run(_ arguments: [String]) -> Sight {
        let machine = Machine(results: page(fact("a", "He divides by zero.")))
        let outcome = machine.run(arguments)
        return Sight(
            outcome: outcome, requests: machine.requests, sockets: machine.sockets, timeouts: machine.timeouts
        )
    }

    @Test(arguments: ["fact", "prompt"])
    func meanWhatArgumentParserMakesOfThem(command: String) {
        var generator = SeededGenerator(state: 5)
        var done = 0
        for _ in 0..<100 {
            let arguments = (0..<Int.random(in: 0...5, using: &generator)).compactMap { _ in
                Self.words.randomElement(using: &generator)
            }
            let plain = run([command, "--socket", "/s"] + arguments)
            #expect(plain == run([command, "--socket=/s"] + arguments), "\(arguments)")
            done += plain.outcome.status == .done && !plain.requests.isEmpty ? 1 : 0
        }
        #expect(done > 5)
    }
}
