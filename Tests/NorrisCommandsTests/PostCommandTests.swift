@testable import NorrisCommands
import NorrisProtocol
import Testing

struct PostCommandTests {
    private let reply = #"{"post":\#(post("town:1", #"1\n2\n\n3\n4"#))}"#

    @Test func showsAllOfAPost() {
        let machine = Machine(results: reply)
        #expect(machine.onTerminal().run("post", "town:1") == Outcome(output: """
            ● Ada @ada · 1 day ago · town
            1
            2

            3
            4
            12 likes · 1 comment
            #day  town:1

            """))
        #expect(machine.methods == ["post.get"])
        #expect(machine.parameters == [#"{"id":"town:1"}"#])
    }

    @Test func isOneLineToAPipe() {
        let line = "town:1\t2026-11-20T11:00:00Z\tAda\t1 2 3 4\n"
        #expect(Machine(results: reply).run("post", "town:1") == Outcome(output: line))
        #expect(Machine(results: reply).run("post", "--full", "town:1") == Outcome(output: line))
        #expect(Machine(results: reply).run("post", "--json", "town:1") == Outcome(output: reply + "\n"))
    }

    @Test func takesIdsThatLookLikeOptions() {
        let machine = Machine(results: reply)
        #expect(machine.run("post", "--", "-x").status == .done)
        #expect(machine.parameters == [#"{"id":"-x"}"#])
    }

    @Test func saysWhereTheIdsAre() {
        let error = ResponseError.notFound("There is no post with the id \"x\".")
        #expect(Machine(error: error).run("post", "x") == .failed(
            .nothing, "There is no post with the id \"x\".", "norrisctl feed shows those there are, with their ids."
        ))
        #expect(Machine(error: error).run("post", "x", "--json") == Outcome(
            errors: error.jsonText + "\n", status: .nothing
        ))
        let other = ResponseError.busy("Too much.", hint: "Wait.")
        #expect(Machine(error: other).run("post", "x").errors == "norrisctl: Too much.\n  Wait.\n")
    }
}

struct ReadCommandTests {
    @Test(arguments: [
        (#"{"marked":3}"#, "3 marked as read\n"), (#"{"marked":1}"#, "1 marked as read\n"),
        (#"{"marked":1234}"#, "1,234 marked as read\n"), (#"{"marked":0}"#, "already read\n"),
    ])
    func saysHowManyWereUnread(result: String, output: String) {
        let machine = Machine(results: result)
        #expect(machine.run("read", "a", "b", "--", "-c") == Outcome(output: output))
        #expect(machine.methods == ["post.mark_read"])
        #expect(machine.parameters == [#"{"ids":["a","b","-c"]}"#])
    }

    @Test func marksAll() {
        let machine = Machine(results: #"{"marked":9}"#)
        #expect(machine.run("read", "--all") == Outcome(output: "9 marked as read\n"))
        #expect(machine.parameters == [#"{"all":true}"#])
    }

    @Test func printsTheWireResult() {
        let result = #"{"marked":9,"more":true}"#
        #expect(Machine(results: result).run("read", "a", "--json") == Outcome(output: result + "\n"))
    }

    /// The longest ids, of characters that JSON writes as six bytes each and of plain ones.
    @Test(arguments: ["\u{7F}", "x", "\""])
    func sendsManyIdsInRequestsThatFit(character: String) {
        let ids = (100...999).map { "\($0)" + String(repeating: character, count: 197) }
        let machine = Machine((1...30).map { _ in .success(Array(Machine.result(#"{"marked":2}"#).utf8)) })
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

    @Test func stopsAtTheFirstFailure() {
        let error = ResponseError.notFound("There is no post with the id \"b\".", hint: "post.list lists them.")
        #expect(Machine(error: error).run("read", "a", "b") == .failed(
            .nothing, "There is no post with the id \"b\".", "norrisctl feed shows those there are, with their ids."
        ))
        let full = ResponseError.storage("Read marks cannot be written.", hint: "Free some space.")
        let outcome = Machine(error: full).run(["read"] + (1...900).map { String(repeating: "\($0)", count: 60) })
        #expect(outcome == Outcome(
            errors: "norrisctl: Read marks cannot be written.\n  Free some space.\n", status: .inputOutput
        ))
    }

    @Test func wantsIdsOrAll() {
        #expect(Machine().run("read").errors == """
            norrisctl: Name posts by their ids, or all of them: norrisctl read --all.
              norrisctl read --help shows what it takes.

            """)
        #expect(Machine().run("read", "a", "--all").errors.contains("--all stands alone"))
    }
}
