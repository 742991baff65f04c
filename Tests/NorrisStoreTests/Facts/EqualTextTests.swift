import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

/// Equal texts of the starting collection, the upstream and fortune files are served once.
struct EqualTextTests {
    private let folder = TemporaryFolder()
    private let store: FactStore
    private let builtin = StartingCollection.facts()[3]

    init() throws { store = try FactStore.inMemory() }

    private func ids(_ text: String) async -> Set<String> {
        let facts = await store.nextFacts(store.count, uid: .random(in: 1 ... .max))
        return Set(facts.filter { $0.text.hasSameBytes(as: text) }.map(\.id))
    }

    private func importFortunes(_ texts: String...) throws {
        let path = try folder.write("jokes", texts.joined(separator: "\n%\n"))
        #expect(store.importFortunes([path]) == [])
    }

    /// Imports the unchanged file again, as the daemon does at a start or after a change.
    private func importFortunesAgain() { store.importFortunes([folder("jokes")]) }

    enum Going: CaseIterable { case replaced, cleared, changed, becomesDouble }

    /// The fortune is either left out, because its text exists already, or removed when the upstream stores its text.
    @Test(arguments: Going.allCases, [false, true])
    func fortuneComesBackWhenItsTextIsFree(going: Going, isFortuneFirst: Bool) async throws {
        if isFortuneFirst { try importFortunes("Same.", "Own.") }
        try await store.replaceUpstream([.upstream("a", "Same."), .upstream("b", "Other.")])
        if isFortuneFirst { importFortunesAgain() } else { try importFortunes("Same.", "Own.") }
        #expect(await ids("Same.") == ["a"])
        switch going {
        case .replaced: try await store.replaceUpstream([.upstream("b", "Other.")])
        case .cleared: try await store.clearUpstream()
        case .changed: try await store.addFound([.upstream("a", "New.")])
        case .becomesDouble: try await store.addFound([.upstream("a", "Other.")])
        }
        importFortunesAgain()
        let same = await ids("Same.")
        #expect(same.count == 1 && same != ["a"])
        #expect(await ids("Own.").count == 1)
    }

    @Test func filesAreNotReadAgainForTextsTheyDoNotHave() async throws {
        try importFortunes("Own.")
        let mark = { try store.databases.cache(.facts).value(forKey: LeftOutTexts.fortunesMark) }
        let read = try mark()
        try await store.replaceUpstream([.upstream("a"), .upstream("b")])
        try await store.replaceUpstream([.upstream("a")])
        try await store.clearUpstream()
        #expect(try mark() == read)
        #expect(read != nil)
        // After a complete import, changes to other texts do not remove the mark again.
        try await store.replaceUpstream([.upstream("a", "Own.")])
        try await store.clearUpstream()
        #expect(try mark() == nil)
        importFortunesAgain()
        try await store.replaceUpstream([.upstream("a")])
        try await store.clearUpstream()
        #expect(try mark() == read)
    }

    /// Another version of norrisd may contain other built-in facts.
    @Test func whatABuiltInFactKeptOutComesBackWhenItGoes() async throws {
        let fact = Fact(id: "builtin-x", text: "Same.", categories: [], source: "builtin")
        try store.replaceBuiltin([fact])
        try importFortunes("Same.")
        let part = PartRecord(etag: "\"1\"", checkedAt: Timestamp(seconds: 1))
        let fetch = FetchRecord(settings: "", fetchedAt: Timestamp(seconds: 1), parts: ["q": part])
        try await store.replaceUpstream([.upstream("a", "Same.")], isComplete: true, fetch: fetch)
        #expect(await ids("Same.") == ["builtin-x"])
        try store.replaceBuiltin([])
        importFortunesAgain()
        #expect(await store.nextIDs(5).count == 1)
        // The next fetch must be unconditional, but its scheduled time stays.
        let record = await FetchRecords(databases: store.databases).record(of: "facts")
        #expect(record == FetchRecord(settings: "", fetchedAt: Timestamp(seconds: 1)))
        try await store.replaceUpstream([.upstream("a", "Same.")])
        #expect(await ids("Same.") == ["a"])
    }

    @Test func groupsAreTheSameInTheDatabase() async throws {
        let sources = [
            "builtin", "builtin2", "Builtin", "chucknorris", "fortuna", "fortune", "fortune:", "fortune:é",
            "fortune;", "fortune:~", "g", "a",
        ]
        try await store.replaceUpstream(sources.map { .upstream("id of \($0)", source: $0) })
        try await store.databases.cache(.facts).writer.read { database in
            for group in FactGroup.allCases {
                let found = Set(try StoredFact.some(of: group, after: 0, limit: 100, database).map(\.source))
                #expect(found == Set(sources.filter { FactGroup(source: $0) == group }))
                #expect(try StoredFact.count(of: group, database) == found.count)
            }
        }
    }
}
