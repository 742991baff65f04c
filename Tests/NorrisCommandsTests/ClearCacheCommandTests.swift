@testable import NorrisCommands
import NorrisProtocol
import Testing

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
