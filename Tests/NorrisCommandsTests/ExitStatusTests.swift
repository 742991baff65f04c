import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct ExitStatusTests {
    private static let statuses: [(code: Int64, status: ExitStatus, number: Int32)] = [
        (-32700, .internalError, 70), (-32600, .usage, 64), (-32602, .usage, 64), (-32603, .internalError, 70),
        (-32001, .nothing, 1), (-32002, .temporary, 75), (-32003, .notPermitted, 77), (-32004, .temporary, 75),
        (-32005, .inputOutput, 74), (-32006, .temporary, 75), (-32099, .internalError, 70), (-1, .internalError, 70),
    ]

    @Test(arguments: statuses)
    func followsTheCodeOfAnError(code: Int64, status: ExitStatus, number: Int32) {
        let error = ResponseError(ErrorCode(rawValue: code), reason: "r", message: "It failed.", hint: "Mend it.")
        #expect(status.rawValue == number)
        #expect(Machine(error: error).run("fact") == Outcome(
            errors: "norrisctl: It failed.\n  Mend it.\n", status: status
        ))
        let object = error.jsonText + "\n"
        #expect(Machine(error: error).run("fact", "--json") == Outcome(errors: object, status: status))
        #expect(Machine(error: error).run("call", "m") == Outcome(errors: object, status: status))
    }

    @Test func tellsAnOlderDaemonFromAMistypedMethod() {
        let error = ResponseError.unknownMethod("fact.today")
        #expect(Machine(error: error).run("fact", "--today") == Outcome(
            errors: """
                norrisctl: This norrisd does not know fact.today; it is older than norrisctl \(NorrisVersion.current).
                  Update norrisd, then: systemctl restart norrisd

                """,
            status: .unavailable
        ))
        #expect(Machine(error: error).run("call", "fact.today").status == .usage)
        #expect(ExitStatus.unavailable.rawValue == 69)
    }

    @Test(arguments: [("credentials", ExitStatus.configuration), ("offline", .temporary), ("quota", .temporary)])
    func tellsWhyNothingIsCached(kind: String, status: ExitStatus) {
        let error = ResponseError(
            .nothingCached,
            reason: "nothing_cached",
            message: "There are no gifs.",
            details: ["source": "gifs", "last_error": ["kind": .string(kind), "message": "m", "since": "s"]]
        )
        #expect(Machine(error: error).run("fact").status == status)
        #expect(Machine(error: error).run("call", "gif.random").status == status)
        #expect(ExitStatus.configuration.rawValue == 78)
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"result":{"items":[{"id":1}]}}"#, #"{"jsonrpc":"2.0","id":1,"result":[]}"#,
        #"{"jsonrpc":"2.0","id":1}"#, "[]", "nonsense", "",
    ])
    func countsAnUnreadableReplyAsAFault(reply: String) {
        let outcome = Machine([.success(Array(reply.utf8))]).run("fact")
        #expect(outcome.status == .internalError)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("norrisctl: norrisd sent a reply that cannot be read: "))
        #expect(outcome.errors.hasSuffix("\n  Compare the versions: norrisctl doctor\n"))
    }

    @Test func readsTheErrorOfAServerThatTakesNoMoreConnections() {
        let line = #"{"jsonrpc":"2.0","id":null,"error":{"code":-32004,"message":"Too many."}}"#
        #expect(Machine([.success(Array(line.utf8))]).run("fact") == Outcome(
            errors: "norrisctl: Too many.\n", status: .temporary
        ))
    }
}
