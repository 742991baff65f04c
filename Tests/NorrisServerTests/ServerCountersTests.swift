import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct ServerCountersTests {
    private func errors(_ registry: MethodRegistry) -> [String: Int] {
        let errors = registry.counters.errors.filter { $0.count > 0 }
        return Dictionary(uniqueKeysWithValues: errors.map { ($0.reason, $0.count) })
    }

    private func answered(_ method: RequestMeter) -> Int { method.counts.reduce(0, +) }

    @Test func everyRequestIsCountedAndTimedWithItsMethod() async throws {
        let registry = TestMethods.registry([
            "fact.get": TestMethods.deferredEcho, "fact.today": TestMethods.throwing(.internalError()),
        ])
        for line in [
            request(1, "fact.get", #"{"id":"a"}"#), notification("fact.get", #"{"id":"a"}"#), request(2, "fact.get"),
            request(3, "fact.today"), request(4, "nope"), notification(#"x\"} 1\n# EOF"#),
            "[\(request(5, "server.info")),\(request(6, "fact.get", #"{"id":"b"}"#)),1]",
        ] { _ = try await registry.reply(to: line) }
        let called = registry.counters.methods.filter { $0.requests > 0 }
        #expect(called.map(\.name) == ["fact.get", "fact.today", "server.info"])
        #expect(called.map(\.requests) == [4, 1, 1])
        #expect(called.map(answered) == [4, 1, 1])
        #expect(registry.counters.unknownRequests == 2)
        #expect(registry.counters.methods.map(\.name) == MethodTable.methods.map(\.name))
        #expect(registry.counters.requestsTotal == 8)
    }

    @Test(
        "Every failure counts once, in a reply or not",
        arguments: [
            ("x", "parse_error"), ("[]", "invalid_request"), ("[1]", "invalid_request"), ("{}", "invalid_request"),
            (request(1, "nope"), "unknown_method"), (notification("nope"), "unknown_method"),
            (request(1, "fact.get"), "invalid_params"), (request(1, "cache.clear"), "permission_denied"),
            (request(1, "fact.today"), "storage"), (notification("fact.today"), "storage"),
            (request(1, "fact.categories"), "not_found"), (notification("fact.categories"), "not_found"),
            (request(1, "fact.random", #"{"count":65}"#), "busy"),
            (request(1, "fact.search", #"{"query":"a"}"#), "other"),
        ])
    func failures(_ line: String, _ reason: String) async throws {
        let registry = TestMethods.registry(
            [
                "fact.today": TestMethods.throwing(.storage("no")),
                "fact.categories": TestMethods.throwingLater(.notFound("no")),
                "fact.search": TestMethods.throwing(ResponseError(.busy, reason: "\n", "of no known reason")),
            ], isAdministrator: { _ in false })
        _ = try await registry.reply(to: line)
        #expect(errors(registry) == [reason: 1])
    }

    @Test func aLineThatIsTooLongIsAnError() {
        let registry = TestMethods.registry()
        var json = JSONWriter()
        Exchange(registry: registry).refuseLongLine(into: &json)
        #expect(errors(registry) == ["line_too_long": 1])
    }

    @Test func whatFollowsAResultThatDidNotFitIsRefusedAndCounted() async throws {
        let registry = TestMethods.registry()
        let one = request(1, "fact.random", #"{"count":40}"#)
        _ = try await registry.reply(to: "[\(one),\(one),\(one)]")
        #expect(errors(registry) == ["busy": 2])
        #expect(registry.counters.requestsTotal == 2, "The third was never performed")
    }

    @Test(
        "An entry that fails after a result that just fits counts once", arguments: ["fact.get", "fact.today"], 0...1)
    func anErrorAtTheLimit(_ method: String, excess: Int) async throws {
        let entry = request(2, method, method == "fact.get" ? #"{"id":"a"}"# : nil)
        let line = "[\(request(1, "fact.random")),\(entry)]"
        let envelope = #"[{"jsonrpc":"2.0","id":1,"result":""}"#.utf8.count
        let length = Exchange.maximumResults(line: line.utf8.count) - envelope + excess
        let registry = TestMethods.registry([
            "fact.random": { _, json throws(ResponseError) in
                json.string(String(repeating: "x", count: length))
                return nil
            }, "fact.get": TestMethods.throwing(.notFound("no")),
            "fact.today": TestMethods.throwingLater(.notFound("no")),
        ])
        let reply = try await registry.reply(to: line)
        #expect(errors(registry) == (excess == 0 ? ["not_found": 1] : ["busy": 2]))
        #expect(reply.hasPrefix(#"[{"jsonrpc":"2.0","id":1,"result":"xxx"#) == (excess == 0))
    }

    @Test func aRequestThatWaitsIsNotTimedUntilItIsAnswered() async throws {
        try await withServer { live in
            let client = try live.connect()
            try client.send(lines: request(1, "fact.today"))
            try live.roundTrip()
            let today = try #require(live.counters.methods.first { $0.name == "fact.today" })
            #expect(today.requests == 1)
            #expect(answered(today) == 0)
            live.gate.open()
            try client.expect("1 {}")
            #expect(answered(today) == 1)
            #expect(today.nanoseconds > 0)
        }
    }

    @Test func everyTimeFallsIntoTheFirstBucketThatHoldsIt() {
        let meter = RequestMeter(name: "fact.get")
        #expect(meter.counts == Array(repeating: 0, count: 11) && meter.nanoseconds == 0)
        for nanoseconds in [0, 10_000, 10_001, 1_000_000, 2_500_000_000, 2_500_000_001, Int(Int32.max) * 1_000] {
            meter.record(count: 1, nanoseconds: nanoseconds)
        }
        // Requests that are measured together count as equally long.
        meter.record(count: 10, nanoseconds: 120_000)
        #expect(meter.counts == [2, 11, 0, 1, 0, 0, 0, 0, 0, 1, 2])
        #expect(meter.nanoseconds == 1_140_001 + 5_000_000_001 + Int(Int32.max) * 1_000)
    }
}
