import NorrisClient
import Testing

struct DeadlineTests {
    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func hasPassedAtOnce(duration: Duration) {
        #expect(Deadline(after: duration).hasPassed)
    }

    @Test(arguments: [Duration.seconds(3600), .seconds(Int64.max)])
    func hasNotPassedLongBefore(duration: Duration) {
        #expect(!Deadline(after: duration).hasPassed)
    }

    @Test func leavesNoTimeForACallWhenItHasPassed() throws {
        let server = try ScriptedServer([{ $0.waitForTheEnd() }])
        #expect(throws: ClientError.timedOut(path: server.path)) {
            try Client(candidates: [server.path], timeout: .zero).call(Array("{}".utf8))
        }
    }
}
