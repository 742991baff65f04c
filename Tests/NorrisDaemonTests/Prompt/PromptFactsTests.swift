import Logging
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// Which facts shells show.
struct PromptFactsTests {
    private func lines(_ facts: [Fact], seed: UInt64 = 1) throws -> [String] {
        let store = try FactStore.inMemory()
        try store.put(facts)
        var generator = SeededGenerator(state: seed)
        return PromptFacts.lines(from: store, .all, using: &generator)
    }

    private func facts(_ texts: [String], categories: [String] = []) -> [Fact] {
        texts.enumerated().map { Fact(id: "\($0)", text: $1, categories: categories, source: "chucknorris") }
    }

    @Test func theStartingCollectionFillsTheFile() throws {
        let store = try FactStore.inMemory()
        store.importStartingCollection()
        var generator = SeededGenerator(state: 1)
        let first = PromptFacts.lines(from: store, .all, using: &generator)
        let second = PromptFacts.lines(from: store, .norris, using: &generator)
        #expect(first.count == 64)
        #expect(Set(first).count == 64)
        #expect(second.count == 64)
        #expect(Set(first) != Set(second))
    }

    @Test func whereFewFitAllOfThemAreThere() throws {
        let fitting = (0..<20).map { "Chuck Norris fits, number \($0)." }
        let long = (0..<400).map { "Chuck Norris \($0) " + String(repeating: "never ends ", count: 10) }
        #expect(Set(try lines(facts(long + fitting))) == Set(fitting))
        #expect(try lines(facts(long)) == [])
        #expect(try lines([]) == [])
    }

    @Test func whatShellsExpandAndWhatIsExplicitIsLeftOut() throws {
        let hostile = [
            "$(touch X)", "`touch X`", "100 %n", "a\\nb", "Wow!", "\u{1B}]0;X\u{7}", "a\u{202E}b", "\u{9B}2Jc",
        ]
        #expect(Set(try lines(facts(hostile))) == ["ab", "c"])
        #expect(try lines(facts(["Chuck Norris."], categories: ["explicit"])) == [])
    }

    @Test func severalLinesAreJoinedAndEqualOnesComeOnce() throws {
        let texts = ["Why?\n\tBecause.", "Why? Because.", " ", "\n", String(repeating: "x\n", count: 51)]
        #expect(try lines(facts(texts)) == ["Why? Because."])
    }

    @Test func onlyFactsOfTheSourceAreThere() throws {
        let store = try FactStore.inMemory()
        try store.put([Fact(id: "a", text: "A fortune.", categories: [], source: "fortune:x")])
        var generator = SeededGenerator(state: 1)
        #expect(PromptFacts.lines(from: store, .norris, using: &generator) == [])
        #expect(PromptFacts.lines(from: store, .fortune, using: &generator) == ["A fortune."])
    }

    /// Text with many invisible characters is longer than it looks.
    @Test func columnsDecideAndNotCharacters() throws {
        let accented = String(repeating: "e\u{301}", count: 100)
        #expect(try lines(facts([accented, String(repeating: "日", count: 51)])) == [accented])
    }
}

extension FactStore {
    /// A store that is nowhere on a disk.
    static func inMemory() throws -> FactStore {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return FactStore(
            databases: try Databases(cacheFolder: nil, stateFolder: nil, logger: logger), logger: logger
        )
    }

    /// Stores facts as those of the upstream, in place of the ones before.
    func put(_ facts: [Fact]) throws {
        let now = Timestamp(seconds: 0)
        _ = try replaceUpstream(
            facts, isComplete: true, fetch: FetchRecord(settings: "test", fetchedAt: now),
            isCancelled: { false }
        )
    }
}
