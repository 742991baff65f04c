import NorrisProtocol
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
        let called = registry.counters.methods.filter { $0.requests.count > 0 }
        #expect(called.map(\.name) == ["fact.get", "fact.today", "server.info"])
        #expect(called.map { $0.requests.count } == [4, 1, 1])
        #expect(called.map(answered) == [4, 1, 1])
        #expect(registry.counters.unknownRequests.count == 2)
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

    @Test func everyTimeFallsIntoTheFirstBucketThatHoldsIt() {
        let meter = RequestMeter(name: "fact.get")
        #expect(meter.counts == Array(repeating: 0, count: 11) && meter.nanoseconds.count == 0)
        for nanoseconds in [0, 10_000, 10_001, 1_000_000, 2_500_000_000, 2_500_000_001, Int(Int32.max) * 1_000] {
            meter.record(count: 1, nanoseconds: nanoseconds)
        }
        // Requests that are measured together count as equally long.
        meter.record(count: 10, nanoseconds: 120_000)
        #expect(meter.counts == [2, 11, 0, 1, 0, 0, 0, 0, 0, 1, 2])
        #expect(meter.nanoseconds.count == 1_140_001 + 5_000_000_001 + Int(Int32.max) * 1_000)
    }
}
