@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

/// What a person sees who waits.
struct WaitingLineTests {
    private let erased = "\r\u{1B}[K"

    private func machine(_ results: String..., delay: Int) -> Machine {
        let machine = Machine(results.map { .success(Array(Machine.result($0).utf8)) })
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(delay)
        return machine
    }

    private let facts = page(fact("a", "It's round."))

    @Test func isNotSeenByThoseWhoAreServedAtOnce() {
        #expect(machine(facts, delay: 299).run("fact") == Outcome(output: "It's round.\n"))
    }

    @Test func saysWhatIsWaitedForAndGoes() {
        let outcome = machine(facts, delay: 450).run("fact")
        #expect(outcome == Outcome(
            output: "It's round.\n",
            errors: "\r⠸ waiting for norrisd…\u{1B}[K" + "\r⠼ waiting for norrisd…\u{1B}[K" + erased
        ))
    }

    @Test(arguments: [
        (["search", "round"], "searching"), (["gif", "round"], "asking Giphy"), (["categories"], "waiting for norrisd"),
    ])
    func saysWhoIsAsked(arguments: [String], text: String) {
        let errors = machine(#"{"items":[],"freshness":\#(fresh)}"#, delay: 350).run(arguments).errors
        #expect(errors.hasPrefix("\r⠸ \(text)…\u{1B}[K\(erased)norrisctl: No "))
    }

    @Test func countsTheTimeOfTheWholeCommand() {
        let page = page(fact("a", "1"), next: "c")
        let outcome = machine(page, page, delay: 200).run("search", "x", "--page", "2")
        #expect(outcome.errors == "\r⠸ searching…\u{1B}[K" + erased)
    }

    @Test func isNotForAPipe() {
        let machine = machine(facts, delay: 900)
        machine.isErrorTerminal = false
        #expect(machine.run("fact").errors == "")
    }

    @Test func saysWhatIsStillFetchedAndMakesRoomForWhatIsDone() {
        let machine = Machine()
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(400)
        machine.stream = [
            Machine.result(#"{"topics":["source","item"]}"#),
            Machine.result(#"{"started":["facts","planet"]}"#, id: 2),
            Machine.line(.source("facts", .finished, items: 1, at: Machine.now)),
            Machine.line(.source("planet", .finished, items: 2, at: Machine.now)),
        ]
        let outcome = machine.run("refresh", "--wait")
        #expect(outcome.output == "facts: 1 item\nplanet: 2 items\n")
        #expect(outcome.errors.hasPrefix("\r⠸ waiting for norrisd…\u{1B}[K\(erased)"))
        #expect(outcome.errors.contains("\(erased)started: facts, planet\n\r⠇ fetching from facts, planet…"))
        #expect(outcome.errors.contains("fetching from planet…"))
        #expect(outcome.errors.hasSuffix(erased))
        #expect(!outcome.errors.contains(erased + erased))
    }

    @Test func isNotThereWhileEventsAreWatched() {
        let machine = Machine.subscribed(
            Machine.line(.source("facts", .started, at: Machine.now)), Machine.line(.server(.stopping, at: Machine.now))
        )
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(350)
        #expect(machine.run("watch").errors
            == "\r⠸ waiting for norrisd…\u{1B}[K\(erased)norrisctl: norrisd has stopped.\n")
    }
}
