import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
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
        #expect(FactCatalogue.of([]).number(ofID: "x") == nil)
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

    @Test func filtersAreThoseOfTheFacts() {
        let catalogue = FactCatalogue.of([
            fact("a", "12345", ["x", "y"]), fact("b", "e\u{301}", ["y"]), fact("c", "1", ["explicit", "x"]),
            fact("d", "12", ["f"], source: "fortune:f"), fact("e", "123", source: "builtin"),
        ])
        func ids(_ filter: FactFilter) -> Set<String> { Set(catalogue.numbers(filter).map { catalogue.fact($0).id }) }
        #expect(ids(FactFilter()) == ["a", "b", "d", "e"])
        #expect(ids(FactFilter(source: .norris)) == ["a", "b", "e"])
        #expect(ids(FactFilter(source: .fortune)) == ["d"])
        #expect(ids(FactFilter(categories: ["x"])) == ["a"])
        #expect(ids(FactFilter(categories: ["x", "y"], allowsExplicit: true)) == ["a", "b", "c"])
        #expect(ids(FactFilter(maxLength: 2)) == ["b", "d"])
        #expect(ids(FactFilter(maxLength: 1)) == [])
        #expect(ids(FactFilter(allowsExplicit: true, maxLength: 1)) == ["c"])
        #expect(ids(FactFilter(categories: ["nobody"])) == [])
        for filter in [FactFilter(), FactFilter(categories: ["x", "y"]), FactFilter(source: .fortune, maxLength: 2)] {
            let matching = (0..<UInt32(catalogue.count)).filter { catalogue.matches($0, filter) }
            #expect(Set(matching) == Set(catalogue.numbers(filter)))
        }
        #expect(catalogue.categories(of: .all).map(\.count) == [1, 1, 2])
        #expect(catalogue.categories(of: .fortune).map(\.name) == ["f"])
        // Known, so that a request for it is no error.
        #expect(catalogue.hasCategory("explicit") && !catalogue.hasCategory("") && !catalogue.hasCategory("z"))
    }

    @Test func factsBeyondTheLimitsAreLeftOut() {
        var builder = FactCatalogue.Builder(leftOut: 2)
        for number in 0..<FactCatalogue.maximumCount + 3 { builder.add(fact("\(number)", "\(number)")) }
        // A known id is no further fact.
        builder.add(fact("7", "7"))
        let catalogue = builder.finish()
        #expect(catalogue.count == FactCatalogue.maximumCount)
        #expect(catalogue.leftOut == 5)
        #expect(catalogue.number(ofID: "199999") != nil && catalogue.number(ofID: "200000") == nil)
    }

    @Test func textsBeyondTheLimitAreLeftOut() {
        var builder = FactCatalogue.Builder()
        let text = String(repeating: "x", count: 1 << 20)
        for number in 0..<64 { builder.add(fact("\(number)", "\(100 + number)" + text.dropFirst(3))) }
        builder.add(fact("short", "x"))
        let catalogue = builder.finish()
        #expect(catalogue.count == 64 && catalogue.leftOut == 1)
    }
}
