import NorrisProtocol
import Testing

@testable import NorrisStore

struct FactCatalogueTests {
    private func fact(
        _ id: String, _ text: String? = nil, _ categories: [String] = [], source: String = "chucknorris",
        at seconds: Int64? = nil
    ) -> Fact {
        Fact(
            id: id, text: text ?? "The text of \(id).", categories: categories, source: source,
            createdAt: seconds.map(Timestamp.init(seconds:)))
    }

    private func facts(_ catalogue: FactCatalogue) -> [Fact] { catalogue.numbers(FactFilter()).map(catalogue.fact) }

    @Test func aFactIsServedAsItIs() throws {
        let full = Fact(
            id: "a\"\\b", text: "Über \u{202E} \"x\"\n\ty", categories: ["dev", "a-b"], source: "chucknorris",
            url: "https://example.org", createdAt: Timestamp(seconds: 5), updatedAt: Timestamp(seconds: 9))
        let catalogue = FactCatalogue.of([fact("x"), full])
        let number = try #require(catalogue.number(ofID: full.id))
        #expect(catalogue.fact(number) == full)
        #expect(catalogue.withFact(number) { Array($0) } == full.jsonBytes)
        #expect(catalogue.number(ofID: "none") == nil)
    }

    @Test func newestComesFirstThenByTheBytesOfTheID() {
        let catalogue = FactCatalogue.of([
            fact("b"), fact("é"), fact("z", at: 3), fact("a"), fact("ab"), fact("y", at: 9), fact("x", at: 3),
            fact("B"), fact("old", at: -7), fact("builtin-x", source: "builtin"),
        ])
        #expect(facts(catalogue).map(\.id) == ["y", "x", "z", "old", "B", "a", "ab", "b", "builtin-x", "é"])
    }

    @Test func ofEqualIDsAndTextsTheFirstIsKept() {
        let catalogue = FactCatalogue.of([
            fact("builtin-1", "Same.", ["x"], source: "builtin"), fact("a", "One.", ["p"]), fact("a", "Two."),
            fact("b", "One.", ["q"]), fact("c", "Same.", ["r"]), fact("fortune:1", "One.", ["s"], source: "fortune:s"),
            fact("builtin-1", "Not yours."),
        ])
        #expect(Set(facts(catalogue).map(\.id)) == ["builtin-1", "a"])
        #expect(catalogue.upstreamCount == 1)
        // Of facts of one group with equal texts, the categories are joined.
        #expect(catalogue.number(ofID: "a").map(catalogue.fact)?.categories == ["p", "q"])
        #expect(catalogue.number(ofID: "builtin-1").map(catalogue.fact)?.categories == ["x"])
        #expect(catalogue.categories(of: .all).map(\.name) == ["p", "q", "x"])
    }

    @Test func joinedCategoriesNeverHideAnExplicitFact() throws {
        let many = (0..<16).map { "c\($0)" }
        let catalogue = FactCatalogue.of([fact("a", "One.", many), fact("b", "One.", ["further", "explicit"])])
        #expect(catalogue.fact(0).categories == many + ["explicit"])
        #expect(catalogue.kind(0).isExplicit)
        #expect(catalogue.numbers(FactFilter()).isEmpty)
    }

    /// Filters are tested by the shuffles.
    @Test func categoriesAreCountedWithoutExplicitFacts() {
        let catalogue = FactCatalogue.of([
            fact("a", nil, ["x", "y"]), fact("b", nil, ["y"]), fact("c", nil, ["explicit", "x"]),
            fact("d", nil, ["f"], source: "fortune:f"),
        ])
        // The code points of e and an accent.
        let accent = FactCatalogue.of([fact("e", "e\u{301}")])
        #expect((1...2).map { accent.numbers(FactFilter(maxLength: $0)).count } == [0, 1])
        #expect(catalogue.categories(of: .all).map(\.count) == [1, 1, 2])
        #expect(catalogue.categories(of: .fortune).map(\.name) == ["f"])
        // Known, so that a request for it is no error.
        #expect(catalogue.hasCategory("explicit") && !catalogue.hasCategory("") && !catalogue.hasCategory("z"))
    }

    @Test func factsAndTextsBeyondTheLimitsAreLeftOut() {
        var builder = FactCatalogue.Builder(leftOut: 2)
        for number in 0..<FactCatalogue.maximumCount + 3 { builder.add(fact("\(number)", "\(number)")) }
        let catalogue = builder.finish()
        #expect(catalogue.count == 200_000 && catalogue.leftOut == 5)
        #expect(catalogue.number(ofID: "199999") != nil && catalogue.number(ofID: "200000") == nil)

        var texts = FactCatalogue.Builder()
        let text = String(repeating: "x", count: 1 << 20)
        for number in 0..<64 { texts.add(fact("\(number)", "\(100 + number)" + text.dropFirst(3))) }
        texts.add(fact("short", "x"))
        let limited = texts.finish()
        #expect(limited.count == 64 && limited.leftOut == 1)
    }
}
