import NorrisProtocol
import Testing

/// Parameters are written by clients only; that the daemon takes what is written here is checked with them.
struct FactMethodCodingTests {
    private let fact = Fact(id: "a", text: "t", categories: ["dev"], source: "builtin")
    private let factJSON = #"{"id":"a","text":"t","categories":["dev"],"source":"builtin"}"#
    private let freshness = Freshness(origin: .builtin, state: .stale)
    private let freshnessJSON = #"{"origin":"builtin","state":"stale","error":null}"#

    @Test func factRandom() throws {
        let parameters = FactRandom.Parameters(
            categories: ["dev", "music"], count: 100, maxLength: 10_000, name: "Ada", allowExplicit: true
        )
        let arguments = try check(
            parameters,
            of: FactRandom.self,
            json: #"{"category":["dev","music"],"count":100,"max_length":10000,"name":"Ada","allow_explicit":true}"#
        )
        let read = FactRandom.Parameters(arguments)
        #expect(read.categories == ["dev", "music"])
        #expect(read.count == 100)
        #expect(read.maxLength == 10_000)
        #expect(read.name == "Ada")
        #expect(read.allowExplicit)
    }

    @Test func factRandomWithoutWishes() throws {
        let arguments = try check(FactRandom.Parameters(), of: FactRandom.self, json: "{}")
        let read = FactRandom.Parameters(arguments)
        #expect(read.categories.isEmpty)
        #expect(read.count == nil && read.maxLength == nil && read.name == nil)
        #expect(!read.allowExplicit)
    }

    @Test func factRandomTakesOneCategoryAsAString() throws {
        let arguments = try FactRandom.self.arguments(from: ["category": "dev", "allow_explicit": false])
        #expect(FactRandom.Parameters(arguments).categories == ["dev"])
        #expect(!FactRandom.Parameters(arguments).allowExplicit)
    }

    @Test func factRandomResult() {
        checkCoding(
            FactRandom.Result(items: [fact], freshness: freshness),
            json: #"{"items":["# + factJSON + #"],"freshness":"# + freshnessJSON + "}"
        )
    }

    @Test func factToday() throws {
        let day = try #require(CivilDate("2026-02-28"))
        let arguments = try check(
            FactToday.Parameters(date: day), of: FactToday.self, json: #"{"date":"2026-02-28"}"#
        )
        #expect(FactToday.Parameters(arguments).date == day)
        let none = try check(FactToday.Parameters(), of: FactToday.self, json: "{}")
        #expect(FactToday.Parameters(none).date == nil)
        checkCoding(
            FactToday.Result(fact: fact, freshness: freshness),
            json: #"{"fact":"# + factJSON + #","freshness":"# + freshnessJSON + "}"
        )
    }

    @Test func factGet() throws {
        let arguments = try check(IDParameters(id: "-a"), of: FactGet.self, json: #"{"id":"-a"}"#)
        #expect(arguments.string("id") == "-a")
        checkCoding(FactGet.Result(fact: fact), json: #"{"fact":"# + factJSON + "}")
    }

    @Test func factSearch() throws {
        let parameters = FactSearch.Parameters(
            query: "100%", categories: ["dev"], limit: 1, cursor: "b.x", offline: true
        )
        let arguments = try check(
            parameters,
            of: FactSearch.self,
            json: #"{"query":"100%","category":["dev"],"limit":1,"cursor":"b.x","offline":true}"#
        )
        #expect(arguments.string("query") == "100%")
        #expect(arguments.strings("category") == ["dev"])
        #expect(arguments.integer("limit") == 1)
        #expect(arguments.string("cursor") == "b.x")
        #expect(arguments.flag("offline"))
        try check(FactSearch.Parameters(query: "a"), of: FactSearch.self, json: #"{"query":"a"}"#)
        checkCoding(
            FactSearch.Result(items: [], total: 0, freshness: freshness),
            json: #"{"items":[],"total":0,"freshness":"# + freshnessJSON + "}"
        )
    }

    @Test func factCategories() {
        checkCoding(
            FactCategories.Result(
                items: [.init(name: "dev", count: 12), .init(name: "music", count: 1)], freshness: freshness
            ),
            json: #"{"items":[{"name":"dev","count":12},{"name":"music","count":1}],"freshness":"# + freshnessJSON + "}"
        )
    }
}
