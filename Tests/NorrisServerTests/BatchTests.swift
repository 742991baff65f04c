import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

/// Tests of batches beyond the examples of the specification: limits, and entries that wait.
struct BatchTests {
    @Test func sixtyFourEntriesAreServed() async throws {
        let registry = TestMethods.registry()
        let entries = (1...64).map { request($0, "server.info") }
        let reply = try outline(try await registry.reply(to: batch(entries)))
        #expect(reply == "[" + (1...64).map { "\($0) {}" }.joined(separator: ", ") + "]")
    }

    @Test("One entry more refuses the batch whole", arguments: [request(1, "fact.get"), notification("fact.get"), "1"])
    func sixtyFiveEntriesAreRefused(_ entry: String) async throws {
        let calls = Counter()
        let registry = TestMethods.registry(["fact.get": TestMethods.counted(calls, TestMethods.echo)])
        let line = batch(Array(repeating: entry, count: 65))
        #expect(try outline(try await registry.reply(to: line)) == "null -32600 invalid_request")
        #expect(calls.value == 0)
    }

    @Test(
        "Entries that wait keep their places among those that do not",
        arguments: ["w", "i", "wi", "iw", "iwi", "wiw", "wwi", "iiwwii", "nw", "wn", "nwn", "inwin", "ew", "wew"])
    func order(_ kinds: String) async throws {
        let registry = TestMethods.registry(["fact.get": TestMethods.deferredEcho])
        var entries: [String] = []
        var expected: [String] = []
        for (id, kind) in kinds.enumerated() {
            switch kind {
            case "w":
                entries.append(request(id, "fact.get", #"{"id":"w"}"#))
                expected.append(#"\#(id) "w""#)
            case "i":
                entries.append(request(id, "server.info"))
                expected.append("\(id) {}")
            case "n": entries.append(notification("fact.get", #"{"id":"n"}"#))
            default:
                entries.append("7")
                expected.append("null -32600 invalid_request")
            }
        }
        let reply = try outline(try await registry.reply(to: batch(entries)))
        #expect(reply == "[" + expected.joined(separator: ", ") + "]")
    }

    // MARK: Long replies

    /// Returns the ids of the results, and the ids of the replies with error -32004.
    private func served(_ line: String) throws -> (results: [RequestID], refused: [RequestID]) {
        guard case .array(let entries) = try JSON.parse(Array(line.utf8)) else { return ([], []) }
        let responses = try entries.map { try Response(json: $0) }
        let refused = responses.filter { response in
            guard case .failure(let error) = response.outcome else { return false }
            return error.code == .busy
        }
        return (responses.filter { !refused.contains($0) }.map(\.id), refused.map(\.id))
    }

    @Test(
        "Entries past four mebibytes are refused, and the line stays below",
        arguments: [TestMethods.large, TestMethods.deferredLarge])
    func longBatch(_ body: @escaping Handler.Body) async throws {
        let registry = TestMethods.registry(["fact.random": body])
        let entries = (0..<64).map { request($0, "fact.random", #"{"count":15}"#) }
        let line = try await registry.reply(to: batch(entries))
        #expect(line.utf8.count < Limit.reply)
        let (results, refused) = try served(line)
        #expect(results == (0..<4).map { .integer($0) })
        #expect(refused == (4..<64).map { .integer($0) })
    }

    @Test(
        "Entries after an entry that did not fit are refused and not performed; a notification needs no space",
        arguments: [TestMethods.large, TestMethods.deferredLarge]
    )
    func afterTheLimit(_ body: @escaping Handler.Body) async throws {
        let calls = Counter()
        let registry = TestMethods.registry([
            "fact.random": body, "fact.get": TestMethods.counted(calls, TestMethods.echo),
            "fact.search": TestMethods.counted(calls, TestMethods.deferredEcho),
        ])
        let line = batch([
            request(1, "fact.random", #"{"count":40}"#), request(2, "fact.random", #"{"count":40}"#),
            request(3, "fact.get", #"{"id":"a"}"#), request(4, "fact.search", #"{"query":"a"}"#), "5",
            notification("fact.get", #"{"id":"a"}"#), notification("fact.search", #"{"query":"a"}"#),
            request(6, "fact.get", #"{"id":"a"}"#),
        ])
        let (results, refused) = try served(try await registry.reply(to: line))
        #expect(results == [.integer(1), .null])
        #expect(refused == [.integer(2), .integer(3), .integer(4), .integer(6)])
        #expect(calls.value == 2)
    }

    @Test(
        "A single reply that is too long is refused as well", arguments: [TestMethods.large, TestMethods.deferredLarge])
    func longSingle(_ body: @escaping Handler.Body) async throws {
        let registry = TestMethods.registry(["fact.random": body])
        let refused = try await registry.reply(to: request(1, "fact.random", #"{"count":64}"#))
        #expect(try outline(refused) == "1 -32004 busy")
        let served = try await registry.reply(to: request(2, "fact.random", #"{"count":63}"#))
        #expect(served.utf8.count > 63 * 65_536)
    }
}
