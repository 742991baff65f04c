import NorrisProtocol
import Testing

@testable import NorrisStore

struct RecentSearchesTests {
    private let fixture = StoreFixture()

    private func withRecents(_ body: (RecentSearches, Databases) async throws -> Void) async throws {
        let databases = try await fixture.databases()
        try await body(RecentSearches(databases: databases), databases)
        await databases.close()
    }

    private func check(
        _ recents: RecentSearches, uid: UInt32 = 1, _ queries: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await recents.list(uid: uid).map(\.query) == queries, sourceLocation: sourceLocation)
    }

    @Test func theLastSixAreKeptNewestFirst() async throws {
        try await withRecents { recents, _ async throws in
            try await check(recents, [])
            for number: Int64 in 1...8 {
                recents.record(uid: 1, kind: .fact, query: "q\(number)", at: Timestamp(seconds: number))
            }
            try await check(recents, ["q8", "q7", "q6", "q5", "q4", "q3"])
            let newest = try await recents.list(uid: 1).first
            #expect(newest == RecentList.Search(kind: .fact, query: "q8", at: Timestamp(seconds: 8)))
            // A repeated search moves to the front, and no other loses its place.
            recents.record(uid: 1, kind: .fact, query: "q3", at: Timestamp(seconds: 9))
            try await check(recents, ["q3", "q8", "q7", "q6", "q5", "q4"])
            #expect(try await recents.list(uid: 1).first?.at == Timestamp(seconds: 9))
        }
    }

    @Test("Case and the space around a text make no other search; the kind does, and so do accents")
    func doubles() async throws {
        try await withRecents { recents, _ async throws in
            for query in [" Round  House\t", "round  house", "ROUND  HOUSE\n"] {
                recents.record(uid: 1, kind: .fact, query: query)
            }
            try await check(recents, ["round  house"])
            recents.record(uid: 1, kind: .gif, query: "round  house")
            #expect(try await recents.list(uid: 1).map(\.kind) == [.gif, .fact])
            for query in ["STRASSE", "straße", "ÉTÉ", "été"] { recents.record(uid: 1, kind: .fact, query: query) }
            try await check(recents, ["été", "straße", "strasse", "round  house", "round  house"])
        }
    }

    @Test func textsAreMadeHarmlessAndBlankOnesLeftOut() async throws {
        try await withRecents { recents, _ async throws in
            for query in ["", " ", "\t\n", "\u{1B}[31m", "\u{202E}"] {
                recents.record(uid: 1, kind: .fact, query: query)
            }
            try await check(recents, [])
            recents.record(uid: 1, kind: .fact, query: "a\u{1B}[31mB\nC\u{7F}")
            try await check(recents, ["ab c"])
            recents.record(uid: 1, kind: .gif, query: String(repeating: "é", count: 2_000))
            #expect(try await recents.list(uid: 1).first?.query.unicodeScalars.count == SearchQuery.maximumLength)
        }
    }

    @Test func usersHaveTheirOwn() async throws {
        try await withRecents { recents, _ async throws in
            recents.record(uid: 1, kind: .fact, query: "one")
            recents.record(uid: .max, kind: .fact, query: "one")
            recents.record(uid: .max, kind: .fact, query: "two")
            try await check(recents, ["one"])
            try await check(recents, uid: .max, ["two", "one"])
            #expect(try await recents.clear(uid: .max) == 2)
            #expect(try await recents.clear(uid: .max) == 0)
            try await check(recents, ["one"])
            try await check(recents, uid: .max, [])
        }
    }

    @Test func searchesAreThereAfterARestart() async throws {
        try await withRecents { recents, _ async throws in
            for number in 1...4 { recents.record(uid: 1, kind: .fact, query: "q\(number)") }
            #expect(await recents.write())
            for number in 4...8 { recents.record(uid: 1, kind: .fact, query: "q\(number)") }
            // From memory and from the disk.
            try await check(recents, ["q8", "q7", "q6", "q5", "q4", "q3"])
            #expect(await recents.write())
            try await check(recents, ["q8", "q7", "q6", "q5", "q4", "q3"])
        }
        try await withRecents { recents, _ async throws in
            try await check(recents, ["q8", "q7", "q6", "q5", "q4", "q3"])
            recents.record(uid: 1, kind: .fact, query: "q9")
            #expect(try await recents.clear(uid: 1) == 6)
            #expect(await recents.write())
            try await check(recents, [])
        }
    }
}
