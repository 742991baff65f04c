import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// What `fact.search` notes for `recent.list`, through a real socket.
@Suite(.timeLimit(.minutes(20)))
struct RecentHandlersTests {
    private func queries(_ daemon: FetchingDaemon) throws -> [String] {
        try daemon.client().call(RecentList.self).items.map(\.query)
    }

    @Test("A search is noted whether or not it finds something, its later pages are not, and the last comes first")
    func searchesAreNoted() async throws {
        try await FetchingDaemon.run(facts: ", enabled: false", fetches: false) { (daemon, _) throws in
            let page = try daemon.search(#"{"query":"Chuck","limit":1}"#)
            _ = try daemon.search(text: "no such text")
            _ = try daemon.search(#"{"query":"kick","offline":true,"category":"sport"}"#)
            _ = try daemon.search(#"{"query":"Chuck","limit":1,"cursor":"\#(try #require(page.next))"}"#)
            #expect(try queries(daemon) == ["kick", "no such text", "chuck"])
        }
    }

    @Test func aRefusedSearchIsNotNoted() async throws {
        try await FetchingDaemon.run(facts: ", enabled: false", fetches: false) { (daemon, _) throws in
            for parameters in [
                #"{"query":"a\u0000b"}"#, #"{"query":"kick","category":"devs"}"#, #"{"query":"kick","limit":0}"#,
                #"{"query":"kick","category":"explicit"}"#,
            ] {
                #expect(daemon.refusal(FactSearch.self, parameters) != nil)
            }
            #expect(try queries(daemon) == [])
        }
    }
}
