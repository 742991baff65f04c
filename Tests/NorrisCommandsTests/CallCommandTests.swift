@testable import NorrisCommands
import NorrisProtocol
import Testing

struct CallCommandTests {
    @Test func printsTheResultAsOneLine() {
        let machine = Machine(results: #"{"a":[1,2.50,"\u0085\u2028é"]}"#).onTerminal()
        #expect(machine.run("call", "server.info") == Outcome(output: #"{"a":[1,2.5,"\u0085\u2028é"]}"# + "\n"))
        #expect(machine.requests == [["jsonrpc": "2.0", "id": 1, "method": "server.info"]])
    }

    @Test func sendsParametersFromTheArgument() {
        let machine = Machine(results: "{}")
        _ = machine.run("call", "fact.random", #" {"category": "dev", "count": 2} "#)
        #expect(machine.parameters == [#"{"category":"dev","count":2}"#])
    }

    @Test func sendsParametersFromStandardInput() {
        let machine = Machine(results: "{}")
        machine.input = Array("{\"query\":\"x\"}\n".utf8)
        _ = machine.run("call", "fact.search", "-")
        #expect(machine.parameters == [#"{"query":"x"}"#])
    }

    @Test func sendsWhateverIsJSON() {
        let machine = Machine(results: "{}", "{}")
        _ = machine.run("call", "m", "[]")
        _ = machine.run("call", "m", "null")
        #expect(machine.parameters == ["[]", "null"])
    }

    @Test(arguments: [
        ("{\"a\":}", "The parameters are not JSON: The byte at 5 is not JSON there."),
        ("", "The parameters are not JSON: The value ends too early at byte 0."),
        ("{} x", "The parameters are not JSON: Something follows the end of the value at byte 3."),
        (
            String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
            "The parameters open more than 31 brackets."
        ),
        ("\"" + String(repeating: "x", count: 65_536) + "\"", "The parameters are longer than 65536 bytes."),
    ])
    func refusesBadParametersBeforeCalling(text: String, message: String) {
        for isInput in [false, true] {
            let machine = Machine()
            machine.input = Array(text.utf8)
            let outcome = machine.run("call", "m", isInput ? "-" : text)
            #expect(outcome.status == .usage)
            #expect(outcome.errors.hasPrefix("norrisctl: \(message)\n"))
            #expect(machine.requests.isEmpty)
        }
    }

    @Test func saysThatStandardInputCannotBeRead() {
        let machine = Machine()
        machine.input = nil
        #expect(machine.run("call", "m", "-") == Outcome(
            errors: "norrisctl: Standard input cannot be read.\n", status: .inputOutput
        ))
    }

    @Test func printsErrorsAsObjects() {
        let error = ResponseError.invalidParams("x must be \u{1B}[1m.", parameter: "x")
        #expect(Machine(error: error).run("call", "m") == Outcome(
            errors: #"""
                {"code":-32602,"message":"x must be \u001b[1m.","data":{"reason":"invalid_params","parameter":"x"}}

                """#,
            status: .usage
        ))
    }

    @Test func takesAnUnknownMethodForAMistakeOfTheUser() {
        #expect(Machine(error: .unknownMethod("m")).run("call", "m").status == .usage)
    }
}
