import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// What `fact.search` notes for `recent.list`, through a real socket.
@Suite(.timeLimit(.minutes(20)))
struct RecentHandlersTests {
    /// Sends requests, given as a method and parameters, and returns their results; nil for an error.
    private static func results(_ requests: [(method: String, params: String)]) async throws -> [JSON?] {
        try await ServedHandlers.serve { served in
            let client = try LineClient(path: served.socketPath(.user))
            return try requests.map { method, params in
                try client.send(line: #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
                let line = try #require(try client.receiveLine())
                return try? Response(json: JSON.parse(line)).outcome.get()
            }
        }
    }

    private static func queries(_ result: JSON??) throws -> [String] {
        try RecentList.Result(json: #require(result ?? nil)).items.map(\.query)
    }

    @Test("A search is noted whether or not it finds something, and the last comes first")
    func searchesAreNoted() async throws {
        let results = try await Self.results([
            ("fact.search", #"{"query":"Chuck"}"#), ("fact.search", #"{"query":"no such text"}"#),
            ("fact.search", #"{"query":"kick","offline":true,"category":"sport"}"#), ("recent.list", "{}"),
        ])
        #expect(try Self.queries(results.last) == ["kick", "no such text", "chuck"])
    }

    @Test func aLaterPageIsNotNotedAgain() async throws {
        try await ServedHandlers.serve { served in
            let client = try LineClient(path: served.socketPath(.user))
            func call(_ method: String, _ params: String) throws -> JSON {
                try client.send(line: #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
                return try Response(json: JSON.parse(#require(try client.receiveLine()))).outcome.get()
            }
            let page = try FactSearch.Result(json: try call("fact.search", #"{"query":"chuck","limit":1}"#))
            let cursor = try #require(page.next)
            _ = try call("fact.search", #"{"query":"kick"}"#)
            _ = try call("fact.search", #"{"query":"chuck","limit":1,"cursor":"\#(cursor)"}"#)
            #expect(try Self.queries(try call("recent.list", "{}")) == ["kick", "chuck"])
        }
    }

    @Test("A search that is refused leaves no trace", arguments: [
        #"{"query":"a\u0000b"}"#, #"{"query":"kick","category":"devs"}"#, #"{"query":"kick","limit":0}"#,
        #"{"query":"kick","category":"explicit"}"#,
    ])
    func refusedSearches(_ params: String) async throws {
        let results = try await Self.results([("fact.search", params), ("recent.list", "{}")])
        #expect(results[0] == nil)
        #expect(try Self.queries(results[1]) == [])
    }
}
