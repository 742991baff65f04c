@testable import NorrisCommands
import Testing

struct CategoriesCommandTests {
    private let result = #"{"items":[{"name":"animal","count":9},{"name":"dev","count":31}],"freshness":\#(fresh)}"#

    @Test func printsNamesAndCounts() {
        let machine = Machine(results: result)
        #expect(machine.run("categories") == Outcome(output: "animal\t9\ndev\t31\n"))
        #expect(machine.methods == ["fact.categories"])
        #expect(Machine(results: result).onTerminal().run("categories").output == "animal   9\ndev     31\n")
        #expect(Machine(results: result).onTerminal().run("categories", "--plain").output == "animal\t9\ndev\t31\n")
        #expect(Machine(results: result).run("categories", "--json").output == result + "\n")
    }

    @Test func saysWhyThereAreNone() {
        let empty = #"{"items":[],"freshness":{"origin":"none","state":"empty","error":null}}"#
        #expect(Machine(results: empty).run("categories") == Outcome(
            errors: "norrisctl: No categories: there are no facts yet; norrisctl status says why.\n",
            status: .nothing
        ))
    }
}
