import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisStore

/// After random fetches, searches, clearings and imports, the store equals a simple model.
struct UpstreamModelTests {
    @Test(arguments: 1...12) func storeIsWhatTheModelSays(seed: Int) async throws {
        var world = try World(seed: UInt64(seed))
        for step in 0..<120 {
            try await world.step()
            try await world.check("seed \(seed), step \(step)")
        }
    }
}

/// The expected contents of the store, by simple and slow rules.
private struct World {
    struct Known: Equatable {
        var fact: Fact
        var isFound: Bool

        func hasSameFact(as other: Known) -> Bool { fact == other.fact && fact.text.hasSameBytes(as: other.fact.text) }

        static func == (left: Known, right: Known) -> Bool {
            left.hasSameFact(as: right) && left.isFound == right.isFound
        }
    }

    private let folder = TemporaryFolder()
    private var store: FactStore
    private var generator: SeededRandom
    private var upstream: [String: Known] = [:]
    private var builtin: [String] = []
    private var fortunes: [String] = []
    /// Whether an import of the fortune files followed the last change.
    private var isSettled = true

    /// Includes texts of equal length and texts with a common prefix.
    private static let texts = ["a", "b", "aa", "ab", "aaa", "aab", "bbb", "aaaa", "é", "e\u{301}"]

    init(seed: UInt64) throws {
        store = try FactStore.inMemory()
        generator = SeededRandom(seed: seed)
    }

    private mutating func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &generator) < one }

    private mutating func someTexts(_ count: ClosedRange<Int>) -> [String] {
        Array(World.texts.shuffled(using: &generator).prefix(Int.random(in: count, using: &generator)))
    }

    private mutating func someFacts() -> [Fact] {
        (0..<Int.random(in: 0...9, using: &generator)).map { _ in
            let categories = ["x", "y", "explicit"].shuffled(using: &generator)
            return .upstream(
                "\(Int.random(in: 0..<12, using: &generator))", World.texts.randomElement(using: &generator),
                categories: Array(categories.prefix(Int.random(in: 0...2, using: &generator))))
        }
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4:
            let facts = someFacts()
            let isComplete = chance(2, in: 3)
            let before = upstream
            take(facts) { $0.isFound || !isComplete }
            let changes = try await store.replaceUpstream(facts, isComplete: isComplete)
            #expect(changes.added == upstream.keys.count { before[$0] == nil })
            #expect(changes.removed == before.keys.count { upstream[$0] == nil })
            #expect(changes.changed == upstream.count { before[$0.key]?.hasSameFact(as: $0.value) == false })
            #expect(changes.total == upstream.count)
        case 4..<6:
            let facts = someFacts()
            let before = upstream
            take(facts, isSearch: true) { _ in true }
            #expect(try await store.addFound(facts) == upstream.keys.count { before[$0] == nil })
        case 6:
            #expect(try await store.clearUpstream() == upstream.count)
            upstream = [:]
        case 7:
            builtin = someTexts(0...3)
            let facts = builtin.map { text in
                Fact(id: "builtin-\(Array(text.utf8))", text: text, categories: ["b"], source: "builtin")
            }
            try store.replaceBuiltin(facts)
            upstream = upstream.filter { known in !builtin.contains { $0.hasSameBytes(as: known.value.fact.text) } }
        case 8:
            fortunes = someTexts(1...6)
            try folder.write("jokes", fortunes.joined(separator: "\n%\n"))
            isSettled = false
            importFortunes()
            return
        default:
            store = FactStore(databases: store.databases)
            return
        }
        isSettled = false
        if chance(2, in: 3) { importFortunes() }
    }

    private mutating func importFortunes() {
        if !fortunes.isEmpty { #expect(store.importFortunes([folder("jokes")]) == []) }
        isSettled = true
    }

    private mutating func take(_ facts: [Fact], isSearch: Bool = false, stays: (Known) -> Bool) {
        var first: [Fact] = []
        for fact in facts where !first.contains(where: { $0.id == fact.id }) { first.append(fact) }
        let before = upstream
        upstream = upstream.filter { known in stays(known.value) && !first.contains { $0.id == known.key } }
        for text in World.texts {
            let same = first.filter { $0.text.hasSameBytes(as: text) }
            guard !same.isEmpty, !builtin.contains(where: { $0.hasSameBytes(as: text) }) else { continue }
            let categories = same.flatMap(\.categories)
            let holder = upstream.values.first { $0.fact.text.hasSameBytes(as: text) }
            let stored = same.filter { before[$0.id] != nil }
            let kept = (stored.isEmpty ? same : stored).min { $0.id < $1.id }!  // SAFETY: `same` is not empty.
            var known = holder ?? Known(fact: kept, isFound: isSearch && before[kept.id]?.isFound ?? true)
            if holder == nil { known.fact.categories = [] }
            for category in categories where !known.fact.categories.contains(category) {
                known.fact.categories.append(category)
            }
            upstream[known.fact.id] = known
        }
    }

    func check(_ comment: Comment) async throws {
        var rows: [String: Known] = [:]
        var texts: [[UInt8]] = []
        let stored = try await store.databases.cache(.facts).writer.read { database in
            try database.expectWholeFacts(comment)
            return try database.map("SELECT \(FactTable.columns), found FROM facts") {
                (FactTable.fact($0), $0[8] as Bool)
            }
        }
        for (fact, isFound) in stored {
            if !fact.isLocal { rows[fact.id] = Known(fact: fact, isFound: isFound) }
            texts.append(Array(fact.text.utf8))
            var served: String?
            _ = store.serveFactInMemory(id: fact.id, uid: 1) { served = String(decoding: $0.json, as: UTF8.self) }
            #expect(served == (fact.isExplicit ? nil : fact.jsonText), comment)
        }
        #expect(rows == upstream, comment)
        #expect(store.count == texts.count, comment)
        #expect(Set(texts).count == texts.count, comment)
        let filter = ShuffleFilter(allowsExplicit: true)
        #expect(await Set(store.nextIDs(50, uid: .random(in: 1 ... .max), filter)).count == texts.count, comment)
        guard isSettled else { return }
        let others = upstream.values.map(\.fact.text) + builtin
        let expected = Set((others + fortunes).map { Array($0.utf8) })
        #expect(Set(texts) == expected, comment)
    }
}

extension Database {
    /// Expects that lists and texts match the facts exactly.
    func expectWholeFacts(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var expected: [String: Set<UInt32>] = [:]
        var texts: [UInt32: String] = [:]
        let facts = try map("SELECT \(FactTable.columns), ordinal FROM facts") {
            (FactTable.fact($0), ($0[8] as Ordinal).number)
        }
        for (fact, ordinal) in facts {
            for category in [""] + fact.categories {
                expected[
                    "\(category) \(FactKind(FactGroup(source: fact.source), categories: fact.categories).rawValue)",
                    default: []
                ].insert(ordinal)
            }
            if !fact.isExplicit { texts[ordinal] = searchable(fact.text) }
        }
        var found: [String: Set<UInt32>] = [:]
        let list = try rows("SELECT number, category, kind, entries, live FROM fact_lists")
        while try list.next() {
            let entries = try map("SELECT fact, length FROM fact_entries WHERE list = ?", [list[0] as Int]) {
                (fact: $0[0] as Ordinal, entry: $0[1] as EntryLength)
            }
            let live = entries.filter { !$0.entry.isRemoved }.map(\.fact.number)
            #expect((entries.count, live.count) == (list[3], list[4]), comment, sourceLocation: sourceLocation)
            found["\(list[1] as String) \(list[2] as Int)"] = Set(live)
        }
        #expect(found == expected, comment, sourceLocation: sourceLocation)
        var searched: [UInt32: String] = [:]
        let block = try rows("SELECT last, texts FROM fact_texts")
        while try block.next() {
            let bytes: [UInt8] = block[1]
            var last: UInt32 = 0
            try bytes.withUnsafeBytes { bytes in
                try FactTexts.forEach(in: bytes) { entry in
                    #expect(
                        entry.ordinal > last && Int(entry.ordinal) <= block[0] as Int, comment,
                        sourceLocation: sourceLocation)
                    last = entry.ordinal
                    searched[entry.ordinal] = String(decoding: entry.text, as: UTF8.self)
                }
            }
            #expect(last > 0, "a block is empty", sourceLocation: sourceLocation)
        }
        #expect(searched == texts, comment, sourceLocation: sourceLocation)
        let lost = try Int.fetchOne(
            self, "SELECT count(*) FROM fact_entries WHERE list NOT IN (SELECT number FROM fact_lists)")
        #expect(lost == 0, comment, sourceLocation: sourceLocation)
    }
}
