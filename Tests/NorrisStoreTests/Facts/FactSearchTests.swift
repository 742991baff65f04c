import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FactSearchTests {
    private let store: FactStore

    init() throws { store = try FactStore.inMemory() }

    private func stored(_ texts: [String]) async throws {
        try await store.replaceUpstream(texts.enumerated().map { .upstream("\($0.offset)", $0.element) })
    }

    private func found(_ query: String, categories: [String] = []) async throws -> Set<String> {
        let page = try await store.search(FactQuery(text: query, categories: categories), cursor: nil, limit: 100)
        #expect(page.total == page.items.count)
        return Set(page.items.map(\.text))
    }

    /// No character of a word has a special meaning, except a pair of double quotes.
    @Test(arguments: [
        "%", "_", "\"", "*", "'", "\\", "^", "(", ":", "-", "+", "{", ",", ".", "?", "[", "50%", "a_b", "\"ab", "ab*",
        "it's", "a\\b", "\"\"\"", "a\"b", "AND", "a OR b", "NOT x", "^ab", "NEAR(a b)", "folded:a", "a - b", "(ab)",
        "--x", "'; --", "a\nb",
    ]) func queryIsLiteral(query: String) async throws {
        let text = "before \(query) after"
        try await stored([text, "50 x", "axb", "ab", "abc abd its", "and or not near", "x", "beforeafter"])
        #expect(try await found(query).contains(text))
        let words = query == "\"\"\"" ? ["\""] : query.lowercased().split(whereSeparator: \.isWhitespace)
        #expect(try await found(query).allSatisfy { text in words.allSatisfy { text.lowercased().contains($0) } })
    }

    @Test(arguments: [
        ("éclair", "ÉCLAIR"), ("ÉCL", "éclair"), ("straße", "STRASSE"), ("STRASSE", "straße"), ("ß", "Masse ss"),
        ("İst", "İSTANBUL"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("σίσυφος", "ΣΊΣΥΦΟΣ"), ("ς", "Σ"), ("привет", "ПРИВЕТ"),
        ("ǅ", "ǆ"), ("ﬁne", "FINE"), ("CHUCK", "chuck"), ("k", "K"),
    ]) func caseDoesNotMatter(query: String, text: String) async throws {
        try await stored(["<\(text)>", "other"])
        #expect(try await found(query) == ["<\(text)>"])
    }

    @Test(arguments: [("é", "e"), ("e\u{301}", "é"), ("naïve", "naive")])
    func accentsAndTheirFormMatter(query: String, text: String) async throws {
        try await stored([text])
        #expect(try await found(query) == [])
    }

    @Test(arguments: [999, 1_000, 1_001, 1_002]) func totalIsExactUpToAThousandAndAbsentAbove(count: Int) async throws {
        try await store.replaceUpstream(upstreamFacts(0..<count) + [.upstream("x", "nothing of the kind")])
        for query in ["text of", "fa", "THE TEXT OF FACT-"] {
            let page = try await store.search(FactQuery(text: query), cursor: nil, limit: 1)
            #expect(page.total == (count > 1_000 ? nil : count), "\(query)")
        }
    }

    /// Facts that remain stored are found exactly once, although other facts change between the pages.
    @Test(arguments: ["text of", "fa"]) func cursorsStayTrueWhileFactsComeAndGo(query: String) async throws {
        let query = try FactQuery(text: query)
        var generator = SeededRandom(seed: 4)
        let steady = upstreamFacts(0..<60)
        var passing = upstreamFacts(100..<160)
        var born = 1_000
        try await store.replaceUpstream(steady + passing)
        var ids: [String] = []
        var cursor: String?
        repeat {
            let page = try await store.search(query, cursor: cursor, limit: 7)
            ids += page.items.map(\.id)
            cursor = page.next
            passing.shuffle(using: &generator)
            // Sometimes the fact at the cursor is removed too.
            passing.removeAll { $0.id == page.items.last?.id && Bool.random(using: &generator) }
            passing = passing.dropLast(2) + upstreamFacts(born..<born + 3)
            born += 3
            try await store.replaceUpstream(steady + passing)
        } while cursor != nil
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids).isSuperset(of: steady.map(\.id)))
        #expect(ids.filter(Set(steady.map(\.id)).contains) == steady.map(\.id))
    }

    @Test func foreignCursorsAreRefused() async throws {
        try await store.replaceUpstream(upstreamFacts(0..<50, categories: ["x", "y"]))
        let query = try FactQuery(text: "text", categories: ["x"])
        let cursor = try #require(try await store.search(query, cursor: nil, limit: 10).next)
        #expect(try await store.search(query, cursor: cursor, limit: 5).items.count == 5)
        let same = try FactQuery(text: "TEXT", categories: ["x", "x"])
        #expect(try await store.search(same, cursor: cursor, limit: 5).items.count == 5)

        let others = [
            try FactQuery(text: "text"), try FactQuery(text: "texx", categories: ["x"]),
            try FactQuery(text: "text", categories: ["y"]), try FactQuery(text: "text", categories: ["x", "y"]),
        ]
        for other in others { try await expectRefusal(of: cursor, in: other, store) }

        let elsewhere = try FactStore.inMemory()
        try await elsewhere.replaceUpstream(upstreamFacts(0..<50, categories: ["x", "y"]))
        try await expectRefusal(of: cursor, in: query, elsewhere)
    }

    private func expectRefusal(of cursor: String, in query: FactQuery, _ store: FactStore) async throws {
        let error = await #expect(throws: ResponseError.self, "\(cursor.prefix(30))") {
            try await store.search(query, cursor: cursor, limit: 5)
        }
        #expect(error?.code == .invalidParams)
    }

    @Test func cursorSurvivesARestart() async throws {
        let fixture = StoreFixture()
        let query = try FactQuery(text: "text")
        let cursor = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<20))
            return try await store.search(query, cursor: nil, limit: 15).next
        }
        try await fixture.run { store in
            let page = try await store.search(query, cursor: cursor, limit: 15)
            #expect(page.items.count == 5)
        }
    }

    // MARK: Words

    @Test(arguments: [
        ("chuck kick", ["1", "2", "4"]), ("kick   chuck", ["1", "2", "4"]), ("\"chuck kick\"", ["2", "4"]),
        ("\"chuck \t\n kick\"", ["2", "4"]), ("chuck\"kick\"", ["1", "2", "4"]), ("\"CHUCK kick", ["3"]),
        ("\"chuck\" \"far\"", ["4"]), ("kick chuck kick", ["1", "2", "4"]), ("\"\" chuck far", ["4"]),
        ("ick uck", ["1", "2", "4"]), ("chuck walker", []), ("\" \" far", ["4"]),
    ]) func everyWordMustOccur(query: String, expected: [String]) async throws {
        try await store.replaceUpstream([
            .upstream("1", "A kick by Chuck."), .upstream("2", "chuck\n\tkicks"), .upstream("3", "Say \"Chuck kick\"."),
            .upstream("4", "Chuck  kicks far."), .upstream("5", "Chuck."), .upstream("6", "A kick."),
        ])
        let ids = try await store.search(FactQuery(text: query), cursor: nil, limit: 9).items.map(\.id)
        #expect(Set(ids).subtracting(["3"]) == Set(expected).subtracting(["3"]))
        if query.hasPrefix("\"CHUCK") { #expect(ids == ["3"]) }
    }

    @Test(arguments: ["", " ", "\t\n", "\"\"", "\" \"", "\"\" \"  \"", "a\u{0}b", String(repeating: "a", count: 1_001)])
    func queryWithoutAWordIsRefused(text: String) {
        let error = #expect(throws: ResponseError.self) { try FactQuery(text: text) }
        #expect(error?.code == .invalidParams)
    }

    @Test func wordsAreCounted() throws {
        let words = (1...16).map { "w\($0)" }.joined(separator: " ")
        #expect(try FactQuery(text: words).words.count == 16)
        #expect(throws: ResponseError.self) { try FactQuery(text: words + " x") }
        #expect(try FactQuery(text: "\"\(words) x\"").words.count == 1)
        #expect(try FactQuery(text: String(repeating: "é", count: 1_000)).words.count == 1)
    }

    @Test func onlyFactsOfTheSourceAreFound() async throws {
        try await store.replaceUpstream([
            .upstream("a", "word"), .upstream("b", "a word", source: "fortune:x"),
            .upstream("c", "my word", source: "builtin"),
        ])
        for (source, expected) in [(FactScope.all, ["a", "b", "c"]), (.norris, ["a", "c"]), (.fortune, ["b"])] {
            let page = try await store.search(FactQuery(text: "word", source: source), cursor: nil, limit: 9)
            #expect(page.items.map(\.id).sorted() == expected)
            #expect(page.total == expected.count)
        }
    }

    // MARK: Blocks

    /// Removes facts at the beginning, in the middle and at the end of blocks, and whole blocks.
    @Test func factsThatAreLeftInABlockAreFound() async throws {
        func text(_ number: Int) -> String { "number \(number)x " + String(repeating: "lorem ipsum ", count: 20) }
        let all = (0..<1_000).map { Fact.upstream(String(10_000 + $0), text($0)) }
        try await store.replaceUpstream(all)
        let blocks = { @Sendable [store] in
            try await store.databases.cache(.facts).writer.read {
                try Int.fetchOne($0, "SELECT count(*) FROM fact_texts")
            }
        }
        #expect(try await blocks() ?? 0 > 5)
        var generator = SeededRandom(seed: 3)
        var left = all
        for _ in 0..<6 {
            let cut = Int.random(in: 0..<left.count / 2, using: &generator)
            left.removeSubrange(cut..<cut + left.count / 4)
            left = left.filter { _ in Int.random(in: 0..<5, using: &generator) > 0 }
            try await store.replaceUpstream(left)
            try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
            #expect(try await store.search(FactQuery(text: "LOREM"), cursor: nil, limit: 1).total == left.count)
            for fact in all.shuffled(using: &generator).prefix(40) {
                let query = try FactQuery(text: "\"" + fact.text.prefix { $0 != "x" } + "x\"")
                let page = try await store.search(query, cursor: nil, limit: 9)
                #expect(page.items == left.filter { $0.id == fact.id })
            }
        }
        try await store.replaceUpstream([])
        #expect(try await blocks() == 0)
    }

    // MARK: Model

    /// After random imports and removals, a search finds the same facts as a linear scan.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func searchIsWhatTheModelSays(seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        /// Ordered by age; the newest fact is last.
        var model: [Fact] = []
        let words = ["kick", "Kick", "chuck", "a", "b ", "é", "\n", "ß", "ss", "norris", "x  y"]
        for step in 0..<60 {
            if Bool.random(using: &generator) {
                let new = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                    Fact.upstream(
                        String(1_000 + Int.random(in: 0..<500, using: &generator)),
                        (0..<4).map { _ in words.randomElement(using: &generator)! + " " }.joined()  // Not empty.
                            + "\(Int.random(in: 0..<1_000_000, using: &generator))",
                        categories: ["p", "q", "explicit"].filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
                    )
                }
                var first: [Fact] = []
                for fact in new where !first.contains(where: { $0.id == fact.id }) { first.append(fact) }
                try await store.addFound(new)
                model.removeAll { fact in first.contains { $0.id == fact.id } }
                model += first.sorted { $0.id > $1.id }
            } else if Int.random(in: 0..<4, using: &generator) == 0 {
                try await store.clearUpstream()
                model = []
            }
            let wanted = (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
                words.randomElement(using: &generator)
            }
            guard
                let query = try? FactQuery(
                    text: wanted.joined(separator: " "),
                    categories: ["p", "q"].filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
            else { continue }
            let expected = model.reversed().filter { fact in
                !fact.categories.contains("explicit") && query.matches(fact)
                    && (query.categories.isEmpty || !Set(query.categories).isDisjoint(with: fact.categories))
            }
            var found: [Fact] = []
            var cursor: String?
            repeat {
                let page = try await store.search(
                    query, cursor: cursor, limit: Int.random(in: 1...60, using: &generator))
                #expect(page.total == expected.count, "seed \(seed), step \(step), \(query.text)")
                found += page.items
                cursor = page.next
            } while cursor != nil
            #expect(found == Array(expected), "seed \(seed), step \(step), \(query.text)")
        }
        try await store.databases.cache(.facts).writer.read { try $0.expectWholeFacts() }
    }
}
