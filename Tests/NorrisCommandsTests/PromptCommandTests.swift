import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import NorrisTestSupport
import Testing

struct PromptCommandTests {
    @Test func addsNoColorToATerminal() {
        let machine = Machine(results: page(fact("a", String(repeating: "long ", count: 16))))
        machine.terminal.isTerminal = true
        machine.environment["CLICOLOR_FORCE"] = "1"
        machine.terminal.columns = 40
        #expect(machine.run("prompt").output == String(repeating: "long ", count: 16).dropLast() + "\n")
    }

    @Test(arguments: [
        ClientError.noSocket(paths: ["/run/norrisd.sock"]), .notPermitted(path: "/s"), .timedOut(path: "/s"),
        .malformedReply(path: "/s", detail: ""),
    ]) func saysNothingWhereTheDaemonIsAway(error: ClientError) {
        #expect(Machine(failure: error).run("prompt") == Outcome())
        #expect(Machine(failure: error).run("prompt", "--json", "--timeout=1s") == Outcome())
    }

    @Test(arguments: ["110% of $5 to `everybody`!", "a 👨\u{200D}👩\u{200D}👧", "🇨🇭", "a\\nb"])
    func skipsUnsuitableFactsAndChangesNone(text: String) {
        let machine = Machine(results: page(fact("a", text)), page(fact("b", text)), page(fact("c", "A fact.")))
        #expect(machine.run("prompt").output == "A fact.\n")
        #expect(machine.parameters == Array(repeating: #"{"max_length":80}"#, count: 3))
    }

    @Test func asksEightTimesForASuitableFact() {
        let machine = Machine(results: Array(repeating: page(fact("a", "100%")), count: 20))
        #expect(machine.run("prompt") == Outcome())
        #expect(machine.requests.count == 8)
    }

    @Test func sendsTheRequestOfOtherCommands() {
        let machine = Machine(results: page(fact("a", "A fact.")))
        _ = machine.run("prompt", "--max-length", "60")
        let line = Session.line(FactRandom.name, FactRandom.Parameters(maxLength: 60))
        #expect(machine.requests.map(\.jsonText) == [try? JSON(parsing: line).jsonText])
    }

    @Test(arguments: [["prompt"], ["--json", "prompt"], ["--socket=/tmp/s", "prompt"], ["prompt", "--json"]])
    func isTheSameCommandAfterOptions(command: [String]) {
        let text = page(fact("a", "A fact."))
        let output = command.contains("--json") ? text : "A fact."
        #expect(Machine(results: text).run(command) == Outcome(output: output + "\n"))
        #expect(Machine().run(command + ["more"]).status == .done)
        #expect(Machine().run(command + ["--help"]) == Machine().run("prompt", "--help"))
    }
}

struct LongInputTests {
    /// The longest ids, with characters that JSON escapes (up to six bytes each) and with plain characters.
    @Test(arguments: ["\u{7F}", "x", "\""]) func sendsManyIdsInRequestsThatFit(character: String) {
        let ids = (100...999).map { "\($0)" + String(repeating: character, count: 197) }
        let machine = Machine(results: Array(repeating: #"{"marked":2}"#, count: 30))
        let outcome = machine.run(["read", "--json"] + ids)
        #expect(machine.requests.count > 1 && machine.requests.count < 30)
        #expect(machine.requests.allSatisfy { $0.jsonText.utf8.count <= 65_536 })
        #expect(outcome == Outcome(output: #"{"marked":\#(2 * machine.requests.count)}"# + "\n"))
        let sent = machine.requests.flatMap { request -> [JSON] in
            guard case .object(let object) = request, case .object(let params)? = object["params"],
                case .array(let ids)? = params["ids"]
            else { return [] }
            return ids
        }
        #expect(sent == ids.map { .string($0) })
    }

    @Test(arguments: [
        (
            String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
            "The parameters nest more than 31 levels deep."
        ), ("\"" + String(repeating: "x", count: 65_536) + "\"", "The parameters are longer than 65536 bytes."),
    ]) func refusesLongParametersBeforeCalling(text: String, message: String) {
        for isInput in [false, true] {
            let machine = Machine()
            machine.input = Array(text.utf8)
            #expect(machine.run("call", "m", isInput ? "-" : text) == .failed(.usage, message))
            #expect(machine.requests.isEmpty)
        }
    }
}
