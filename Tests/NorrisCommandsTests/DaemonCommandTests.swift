@testable import NorrisCommands
import NorrisProtocol
import Testing

struct StatusCommandTests {
    private let result = """
        {"state":"degraded","message":"A configuration was refused.","uptime_seconds":61,"connections":1,\
        "requests_total":7,"sources":[{"name":"facts","kind":"chucknorris","enabled":true,"items":120,\
        "freshness":\(builtin),"consecutive_failures":0}],"database":{"cache_bytes":4096,"state_bytes":2048,\
        "read_only":false},"version":"0.1.0"}
        """

    @Test func isTheResultAsJSON() {
        #expect(Machine(results: result).run("status", "--json") == Outcome(output: result + "\n"))
    }

    // MARK: Figures

    private let figures = ##"{"text":"# TYPE a gauge\na{b=\"c\"} 1\n# EOF\n"}"##

    @Test func figuresComeAsTheyAreToAPipeAndToATerminal() {
        let expected = Outcome(output: "# TYPE a gauge\na{b=\"c\"} 1\n# EOF\n")
        let machine = Machine(results: figures)
        #expect(machine.run("status", "--metrics") == expected)
        #expect(machine.methods == ["server.metrics"])
        #expect(machine.parameters == [""])
        #expect(Machine(results: figures).onTerminal(columns: 10).run("status", "--metrics") == expected)
    }

    @Test func figuresAsJSONAreTheResult() {
        #expect(Machine(results: figures).run("status", "--metrics", "--json") == Outcome(output: figures + "\n"))
    }

    @Test func noFigureReachesATerminalRaw() {
        let hostile = #"{"text":"a\u001b]0;x\u0007b\u0085\u202e 1\n"}"#
        #expect(Machine(results: hostile).run("status", "--metrics").output == "ab 1\n")
    }
}

struct ReloadCommandTests {
    @Test func saysThatItIsDone() {
        let machine = Machine(results: "{}")
        #expect(machine.run("reload") == Outcome(output: "reloaded\n"))
        #expect(machine.methods == ["server.reload"])
        #expect(Machine(results: "{}").run("reload", "--json") == Outcome(output: "{}\n"))
    }

    @Test func saysWhoMay() {
        #expect(Machine(error: .permissionDenied(method: "server.reload")).run("reload") == .failed(
            .notPermitted, "server.reload needs an administrator.",
            "Use root, the daemon's own user, or a member of one of its admin_groups."
        ))
    }
}

struct ClearCacheCommandTests {
    @Test func saysHowManyWereRemoved() {
        let machine = Machine(results: #"{"removed":9000}"#)
        #expect(machine.run("clear-cache", "facts") == Outcome(output: "removed 9,000 items\n"))
        #expect(machine.methods == ["cache.clear"])
        #expect(machine.parameters == [#"{"source":"facts"}"#])
        let all = Machine(results: #"{"removed":1}"#)
        #expect(all.run("clear-cache") == Outcome(output: "removed 1 item\n"))
        #expect(all.parameters == ["{}"])
        #expect(Machine(results: #"{"removed":0}"#).run("clear-cache", "--json").output == #"{"removed":0}"# + "\n")
    }

    @Test func saysWhoMayAndWhichSourcesThereAre() {
        #expect(Machine(error: .permissionDenied(method: "cache.clear")).run("clear-cache").status == .notPermitted)
        #expect(Machine(error: .notFound("There is no source \"x\".")).run("clear-cache", "x") == Outcome(
            errors: "norrisctl: There is no source \"x\".\n", status: .nothing
        ))
        #expect(Machine(error: .unknownMethod("cache.clear")).run("clear-cache").status == .unavailable)
    }
}

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
