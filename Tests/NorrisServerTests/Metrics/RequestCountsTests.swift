import NorrisProtocol
import Testing

@testable import NorrisServer

/// What is counted of the lines that come.
@Suite(.timeLimit(.minutes(20)))
struct RequestCountsTests {
    private func errors(_ registry: MethodRegistry) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: registry.counts.errors.filter { $0.count > 0 }.map { ($0.reason, $0.count) })
    }

    private func answered(_ method: RequestCounts.Method) -> Int {
        method.latency.counts.reduce(0, +)
    }

    @Test func everyRequestIsCountedAndTimedWithItsMethod() async throws {
        let registry = TestMethods.registry([
            "fact.get": TestMethods.deferredEcho, "fact.today": TestMethods.throwing(.internalError()),
        ])
        for line in [
            request(1, "fact.get", #"{"id":"a"}"#), notification("fact.get", #"{"id":"a"}"#), request(2, "fact.get"),
            request(3, "fact.today"), request(4, "nope"), notification(#"x\"} 1\n# EOF"#),
            "[\(request(5, "server.info")),\(request(6, "fact.get", #"{"id":"b"}"#)),1]",
        ] {
            _ = try await registry.reply(to: line)
        }
        let called = registry.counts.methods.filter { $0.requests > 0 }
        #expect(called.map(\.name) == ["fact.get", "fact.today", "server.info"])
        #expect(called.map(\.requests) == [4, 1, 1])
        #expect(called.map(answered) == [4, 1, 1])
        #expect(registry.counts.unknown == 2)
        #expect(registry.requestsTotal == 8)
    }

    @Test func theMethodsAreThoseOfTheTableWhateverIsSent() {
        let names = TestMethods.registry().counts.methods.map(\.name)
        #expect(names == MethodTable.methods.map(\.name))
    }

    @Test("Every failure counts once, in a reply or not", arguments: [
        ("x", "parse_error"), ("[]", "invalid_request"), ("[1]", "invalid_request"), ("{}", "invalid_request"),
        (request(1, "nope"), "unknown_method"), (notification("nope"), "unknown_method"),
        (request(1, "fact.get"), "invalid_params"), (request(1, "cache.clear"), "permission_denied"),
        (request(1, "fact.today"), "storage"), (notification("fact.today"), "storage"),
        (request(1, "fact.categories"), "not_found"), (notification("fact.categories"), "not_found"),
        (request(1, "fact.random", #"{"count":65}"#), "busy"), (request(1, "fact.search", #"{"query":"a"}"#), "other"),
    ])
    func failures(_ line: String, _ reason: String) async throws {
        let registry = TestMethods.registry(
            [
                "fact.today": TestMethods.throwing(.storage("no")),
                "fact.categories": { _, _ throws(ResponseError) in
                    .disk { () async throws(ResponseError) -> [UInt8] in throw .notFound("no") }
                },
                "fact.random": TestMethods.large,
                "fact.search": TestMethods.throwing(ResponseError(.busy, reason: "\n", message: "of no known reason")),
            ],
            isAdministrator: { _ in false }
        )
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
        let registry = TestMethods.registry(["fact.random": TestMethods.large])
        let one = request(1, "fact.random", #"{"count":40}"#)
        _ = try await registry.reply(to: "[\(one),\(one),\(one)]")
        #expect(errors(registry) == ["busy": 2])
        #expect(registry.requestsTotal == 2, "The third was never performed")
    }

    @Test("An entry that fails after a result that just fits counts once", arguments: ["fact.get", "fact.today"], 0...1)
    func anErrorAtTheLimit(_ method: String, excess: Int) async throws {
        let entry = request(2, method, method == "fact.get" ? #"{"id":"a"}"# : nil)
        let line = "[\(request(1, "fact.random")),\(entry)]"
        let envelope = #"[{"jsonrpc":"2.0","id":1,"result":""}"#.utf8.count
        let length = Exchange.batchBudget(line: line.utf8.count) - envelope + excess
        let registry = TestMethods.registry([
            "fact.random": { _, json throws(ResponseError) in
                json.string(String(repeating: "x", count: length))
                return nil
            },
            "fact.get": TestMethods.throwing(.notFound("no")),
            "fact.today": { _, _ throws(ResponseError) in
                .disk { () async throws(ResponseError) -> [UInt8] in throw .notFound("no") }
            },
        ])
        let reply = try await registry.reply(to: line)
        #expect(errors(registry) == (excess == 0 ? ["not_found": 1] : ["busy": 2]))
        #expect(reply.hasPrefix(#"[{"jsonrpc":"2.0","id":1,"result":"xxx"#) == (excess == 0))
    }

    @Test func aRequestThatWaitsIsNotTimedUntilItIsAnswered() async throws {
        let gate = Gate()
        try await withServer(["fact.today": TestMethods.waiting(for: gate)]) { live in
            let client = try live.connect()
            try client.send(request(1, "fact.today") + "\n")
            try live.roundTrip()
            func today() throws -> RequestCounts.Method {
                try #require(live.registry.counts.methods.first { $0.name == "fact.today" })
            }
            #expect(try today().requests == 1)
            #expect(try answered(today()) == 0)
            gate.open()
            #expect(try client.receiveOutline() == "1 {}")
            #expect(try answered(today()) == 1)
            #expect(try today().latency.nanoseconds > 0)
        }
    }

    @Test("The reasons are those of the protocol", arguments: [
        ResponseError.invalidRequest(""), .lineTooLong(maximum: 1), .unknownMethod(""), .invalidParams(""),
        .internalError(), .notFound(""), .nothingCached("", source: "", lastError: nil),
        .permissionDenied(method: ""), .busy(""), .storage(""), .shuttingDown,
    ])
    func reasons(_ error: ResponseError) {
        #expect(ErrorCounts.reasons.dropLast().contains(error.reason))
    }
}
