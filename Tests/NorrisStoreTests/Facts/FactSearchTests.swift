import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisStore

struct FactSearchTests {
    /// Facts that a test replaces.
    private final class Facts {
        private(set) var catalogue = FactCatalogue.of([])
        /// The key of the cursors.
        private let key: UInt64

        init(key: UInt64 = 7) { self.key = key }

        func replace(_ facts: [Fact]) { catalogue = .of(facts) }

        func search(_ query: FactQuery, cursor: String? = nil, limit: Int) throws -> Page<Fact> {
            try #require(try catalogue.page(query, PageRequest(limit: limit, cursor: cursor), key: key))
        }
    }

    private let store = Facts()

    private func stored(_ texts: [String]) {
        store.replace(texts.enumerated().map { .upstream("\($0.offset)", $0.element) })
    }

    private func found(_ query: String, categories: [String] = []) throws -> Set<String> {
        let page = try store.search(FactQuery(text: query, categories: categories), limit: 100)
        #expect(page.total == page.items.count)
        return Set(page.items.map(\.text))
    }

    /// No character of a word has a special meaning, except a pair of double quotes.
    @Test(arguments: ["%", "_", "\"", "*", "'", "\\", "50%", "a_b", "\"ab", "ab*", "\"\"\"", "a\"b", "a OR b", "a\nb"])
    func queryIsLiteral(query: String) throws {
        let text = "before \(query) after"
        stored([text, "50 x", "axb", "ab", "abc abd its", "and or not near", "x", "beforeafter"])
        #expect(try found(query).contains(text))
        let words = query == "\"\"\"" ? ["\""] : query.lowercased().split(whereSeparator: \.isWhitespace)
        #expect(try found(query).allSatisfy { text in words.allSatisfy { text.lowercased().contains($0) } })
    }

    @Test(arguments: [
        ("ÉCL", "éclair"), ("straße", "STRASSE"), ("STRASSE", "straße"), ("İst", "İSTANBUL"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("привет", "ПРИВЕТ"), ("ﬁne", "FINE"), ("CHUCK", "chuck"),
    ]) func caseDoesNotMatterButAccentsDo(query: String, text: String) throws {
        stored(["<\(text)>", "other", "ecl", "sigma"])
        #expect(try found(query) == ["<\(text)>"])
    }

    @Test(arguments: [1_000, 1_001]) func totalIsExactUpToAThousandAndAbsentAbove(count: Int) throws {
        store.replace(upstreamFacts(0..<count) + [.upstream("x", "nothing of the kind")])
        let page = try store.search(FactQuery(text: "text of"), limit: 1)
        #expect(page.total == (count > 1_000 ? nil : count))
    }

    /// Facts that remain stored are found exactly once, although other facts change between the pages.
    @Test func cursorsStayTrueWhileFactsComeAndGo() throws {
        let query = try FactQuery(text: "text of")
        var generator = SeededRandom(seed: 4)
        let steady = upstreamFacts(0..<60)
        var passing = upstreamFacts(100..<160)
        var born = 1_000
        store.replace(steady + passing)
        var ids: [String] = []
        var cursor: String?
        repeat {
            let page = try store.search(query, cursor: cursor, limit: 7)
            ids += page.items.map(\.id)
            cursor = page.next
            passing.shuffle(using: &generator)
            // Sometimes the fact at the cursor is removed too.
            passing.removeAll { $0.id == page.items.last?.id && Bool.random(using: &generator) }
            passing = passing.dropLast(2) + upstreamFacts(born..<born + 3)
            born += 3
            store.replace(steady + passing)
        } while cursor != nil
        #expect(Set(ids).count == ids.count)
        #expect(ids.filter(Set(steady.map(\.id)).contains) == steady.map(\.id))
    }

    @Test func foreignCursorsAreRefused() throws {
        store.replace(upstreamFacts(0..<50, categories: ["x", "y"]))
        let query = try FactQuery(text: "text", categories: ["x"])
        let cursor = try #require(try store.search(query, limit: 10).next)
        #expect(try store.search(query, cursor: cursor, limit: 5).items.count == 5)
        let same = try FactQuery(text: "TEXT", categories: ["x", "x"])
        #expect(try store.search(same, cursor: cursor, limit: 5).items.count == 5)

        let others = [
            try FactQuery(text: "text"), try FactQuery(text: "texx", categories: ["x"]),
            try FactQuery(text: "text", categories: ["y"]), try FactQuery(text: "text", source: .norris),
        ]
        for other in others {
            #expect(throws: ResponseError.foreignCursor) { try store.search(other, cursor: cursor, limit: 5) }
        }
        let elsewhere = Facts(key: 8)
        elsewhere.replace(upstreamFacts(0..<50, categories: ["x", "y"]))
        #expect(throws: ResponseError.foreignCursor) { try elsewhere.search(query, cursor: cursor, limit: 5) }
    }

    @Test func cursorSurvivesARestart() async throws {
        let fixture = StoreFixture()
        let query = try FactQuery(text: "text of fact-")
        let cursor = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<20))
            return try store.search(query, limit: 15).next
        }
        try await fixture.run { store async throws in
            #expect(try store.search(query, cursor: cursor, limit: 15).items.count == 5)
        }
    }

    // MARK: Words

    @Test(arguments: [
        ("chuck kick", ["1", "2", "4"]), ("kick   chuck", ["1", "2", "4"]), ("\"chuck kick\"", ["2", "4"]),
        ("\"chuck \t\n kick\"", ["2", "4"]), ("chuck\"kick\"", ["1", "2", "4"]), ("\"CHUCK kick", ["3"]),
        ("\"chuck\" \"far\"", ["4"]), ("kick chuck kick", ["1", "2", "4"]), ("\"\" chuck far", ["4"]),
        ("ick uck", ["1", "2", "4"]), ("chuck walker", []), ("\" \" far", ["4"]),
    ]) func everyWordMustOccur(query: String, expected: [String]) throws {
        store.replace([
            .upstream("1", "A kick by Chuck."), .upstream("2", "chuck\n\tkicks"), .upstream("3", "Say \"Chuck kick\"."),
            .upstream("4", "Chuck  kicks far."), .upstream("5", "Chuck."), .upstream("6", "A kick."),
        ])
        let ids = try store.search(FactQuery(text: query), limit: 9).items.map(\.id)
        #expect(Set(ids).subtracting(["3"]) == Set(expected).subtracting(["3"]))
        if query.hasPrefix("\"CHUCK") { #expect(ids == ["3"]) }
    }

    @Test func wordsAreCounted() throws {
        let words = (1...16).map { "w\($0)" }.joined(separator: " ")
        #expect(try FactQuery(text: words).words.count == 16)
        for text in [words + " x", "", " ", "\"\"", "a\u{0}b"] {
            let error = #expect(throws: ResponseError.self) { try FactQuery(text: text) }
            #expect(error?.code == .invalidParams && error?.details["parameter"] == "query")
        }
        #expect(try FactQuery(text: "\"\(words) x\"").words.count == 1)
        #expect(try FactQuery(text: String(repeating: "é", count: 1_000)).words.count == 1)
    }

    @Test func onlyFactsOfTheSourceAndCategoryAreFound() throws {
        store.replace([
            .upstream("a", "word", categories: ["x"]), .upstream("b", "a word", source: "fortune:x"),
            .upstream("c", "my word", source: "builtin"), .upstream("d", "a bad word", categories: ["explicit", "x"]),
        ])
        for (source, expected) in [(FactScope.all, ["a", "b", "c"]), (.norris, ["a", "c"]), (.fortune, ["b"])] {
            let page = try store.search(FactQuery(text: "word", source: source), limit: 9)
            #expect(page.items.map(\.id).sorted() == expected && page.total == expected.count)
        }
        #expect(try found("word", categories: ["x"]) == ["word"])
    }

    @Test func pageHasNoMoreThanFitsIntoAReply() throws {
        store.replace((0..<300).map { .upstream("\($0)", "\($0) " + String(repeating: "x", count: 9_000)) })
        let page = try store.search(FactQuery(text: "x"), limit: 300)
        #expect(page.items.count < 300 && page.items.count > 200 && page.next != nil && page.total == 300)
    }

    @Test func searchThatWouldTakeLongIsNotDoneOnTheEventLoop() throws {
        store.replace((0..<1_000).map { .upstream("\($0)", "a b c \($0)") })
        let (rare, common) = (try FactQuery(text: "999"), try FactQuery(text: "a b c z"))
        let bytes = 1_000 * 12
        #expect(try store.catalogue.page(rare, PageRequest(limit: 9), key: 7, effort: bytes) != nil)
        #expect(try store.catalogue.page(common, PageRequest(limit: 9), key: 7, effort: bytes) == nil)
        #expect(try store.catalogue.page(rare, PageRequest(limit: 9), key: 7, effort: 100) == nil)
        #expect(try store.search(common, limit: 9).items.isEmpty)
    }
}
