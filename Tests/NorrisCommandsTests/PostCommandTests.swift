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

    @Test func addsDetails() {
        #expect(Machine(results: reply).onTerminal().run("post", "town:1", "--full").output.hasSuffix("""
            #day  town:1

            published  2026-11-20T11:00:00Z
            address    https://town.example/1
            author id  town:7
            e-mail     ada@town.example

            """))
    }

    @Test func showsWhatIsSensitiveWhereItIsAskedFor() {
        let sensitive = reply.replacing(#""tags""#, with: #""sensitive":true,"title":"Spiders","tags""#)
        let output = Machine(results: sensitive).onTerminal().run("post", "town:1").output
        #expect(output.contains("\nSensitive: Spiders\n1\n2\n"))
        #expect(!output.contains("norrisctl"))
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
        #expect(Machine(error: error).run("post", "x") == Outcome(
            errors: """
                norrisctl: There is no post with the id "x".
                  norrisctl feed shows those there are, with their ids.

                """,
            status: .nothing
        ))
        #expect(Machine(error: error).run("post", "x", "--json") == Outcome(
            errors: error.jsonText + "\n", status: .nothing
        ))
        let other = ResponseError.busy("Too much.", hint: "Wait.")
        #expect(Machine(error: other).run("post", "x").errors == "norrisctl: Too much.\n  Wait.\n")
    }
}
