import Testing

@testable import NorrisProtocol

struct MethodArgumentsTests {
    private static let method = description([
        ("needed", .string), ("flag", .boolean), ("day", .date), ("since", .timestamp), ("small", .integer(-1...100)),
        ("label", .text(1...3)), ("word", .word(["on", "off"])), ("names", .stringOrStrings),
        ("list", .list(.integer(0...1))), ("object", .reference("Fact")),
    ])

    /// A method with these parameters, of which `needed` is required.
    private static func description(_ parameters: [(String, Schema)]) -> MethodDescription {
        MethodDescription(
            name: "test.method", summary: "Takes parameters.", isAdministrative: false,
            parameters: parameters.map { Schema.Member(name: $0, schema: $1, isRequired: $0 == "needed") },
            result: .object([]), needsParameters: true)
    }

    @Test(
        "Invalid parameters are refused, and the message names the parameter",
        arguments: [
            ("{}", "needed", "The parameter needed is missing: a string."),
            (#"{"flag":true}"#, "needed", "The parameter needed is missing: a string."),
            (#"{"needed":null}"#, "needed", "needed must be a string."),
            (#"{"needed":"a","flag":1}"#, "flag", "flag must be true or false."),
            (#"{"needed":"a","flag":null}"#, "flag", "flag must be true or false."),
            (#"{"needed":"a","day":"2023-02-29"}"#, "day", "day must be a day written as YYYY-MM-DD."),
            (#"{"needed":"a","day":20230228}"#, "day", "day must be a day written as YYYY-MM-DD."),
            (#"{"needed":"a","since":"2023-02-28"}"#, "since", "since must be a time written as 2026-11-28T08:00:00Z."),
            (#"{"needed":"a","small":-2}"#, "small", "small must be an integer from -1 to 100."),
            (#"{"needed":"a","small":101}"#, "small", "small must be an integer from -1 to 100."),
            (#"{"needed":"a","small":1.0}"#, "small", "small must be an integer from -1 to 100."),
            (#"{"needed":"a","small":1e0}"#, "small", "small must be an integer from -1 to 100."),
            (#"{"needed":"a","small":"1"}"#, "small", "small must be an integer from -1 to 100."),
            (#"{"needed":"a","label":""}"#, "label", "label must be a string of 1 to 3 characters."),
            (#"{"needed":"a","label":"abcd"}"#, "label", "label must be a string of 1 to 3 characters."),
            (#"{"needed":"a","label":"e\u0301e\u0301"}"#, "label", "label must be a string of 1 to 3 characters."),
            (#"{"needed":"a","word":"On"}"#, "word", "word must be one of on, off."),
            (#"{"needed":"a","names":[]}"#, "names", "names must be a string, or a list of at least one string."),
            (#"{"needed":"a","names":["x",1]}"#, "names", "names must be a string, or a list of at least one string."),
            (#"{"needed":"a","names":[["x"]]}"#, "names", "names must be a string, or a list of at least one string."),
            (#"{"needed":"a","list":[2]}"#, "list", "list must be a list, each item an integer from 0 to 1."),
            (#"{"needed":"a","list":0}"#, "list", "list must be a list, each item an integer from 0 to 1."),
            (#"{"needed":"a","object":[]}"#, "object", "object must be an object."),
            (#"{"needed":"a","Flag":true}"#, "Flag", #"There is no parameter "Flag"."#),
            (#"{"needed":"a","":true}"#, "", #"There is no parameter ""."#),
        ])
    func refuses(_ params: String, _ parameter: String, _ message: String) throws {
        let error = try refusal(of: Self.method, JSON.parse(params))
        #expect(error?.code == .invalidParams)
        #expect(error?.reason == "invalid_params")
        #expect(error?.message == message)
        #expect(error?.details == ["parameter": .string(parameter)])
    }

    @Test("Of several faults the first sent is named, a missing parameter last") func namesTheFirstFault() throws {
        #expect(try refusal(of: Self.method, JSON.parse(#"{"b":1,"a":1}"#))?.details["parameter"] == "b")
        #expect(try refusal(of: Self.method, JSON.parse(#"{"flag":1,"a":1}"#))?.details["parameter"] == "flag")
        #expect(try refusal(of: Self.method, JSON.parse(#"{"a":1}"#))?.details["parameter"] == "a")
    }

    @Test func saysWhatAMethodTakes() {
        let hint = refusal(of: MethodDescription(FactToday.self), ["day": "2026-01-01"])?.hint
        #expect(hint == "It takes date.")
        #expect(refusal(of: MethodDescription(ServerInfo.self), ["x": 1])?.hint == "It takes none.")
    }

    @Test(
        "Parameters by position are refused, an empty array too", arguments: [[], ["a"], [["needed": "a"]]] as [JSON])
    func refusesArrays(_ params: JSON) {
        for method in [Self.method, MethodDescription(ServerInfo.self)] {
            let error = refusal(of: method, params)
            #expect(error?.code == .invalidParams)
            #expect(error?.message == "Parameters are passed by name.")
            #expect(error?.details == [:])
        }
    }

    @Test("A list of objects is read whole, or what is wrong in it is named") func readsObjects() throws {
        let good = #"{"kind":"gif","id":"a","title":"t","added_at":"2026-11-21T12:00:00Z"}"#
        let favorite = Favorite(kind: .gif, id: "a", title: "t", addedAt: Timestamp(seconds: 1_795_262_400))
        #expect(try read(#"{"items":[\#(good)]}"#, of: FavoriteImport.self).items == [favorite])
        let error = #expect(throws: ResponseError.self) {
            try read(#"{"items":[\#(good),{"kind":"gif"}]}"#, of: FavoriteImport.self)
        }
        #expect(error?.code == .invalidParams)
        #expect(error?.details["parameter"] == "items")
        #expect(error?.message == "items.1.id is missing.")
    }

    @Test(
        "Ranges of the table at both ends",
        arguments: [
            ("fact.random", #"{"count":1}"#, true), ("fact.random", #"{"count":100}"#, true),
            ("fact.random", #"{"count":0}"#, false), ("fact.random", #"{"count":101}"#, false),
            ("fact.random", #"{"max_length":1}"#, true), ("fact.random", #"{"max_length":10000}"#, true),
            ("fact.random", #"{"max_length":0}"#, false), ("fact.random", #"{"max_length":10001}"#, false),
            ("fact.random", #"{"name":"x"}"#, true), ("fact.random", #"{"name":""}"#, false),
            ("fact.random", #"{"category":[]}"#, false), ("fact.random", #"{"allow_explicit":"yes"}"#, false),
            ("fact.search", #"{"query":"x","limit":1}"#, true), ("fact.search", #"{"query":"x","limit":100}"#, true),
            ("fact.search", #"{"query":"x","limit":0}"#, false), ("fact.search", #"{"query":"x","limit":101}"#, false),
            ("fact.search", #"{"query":""}"#, false), ("fact.search", "{}", false),
            ("fact.get", #"{"id":""}"#, false), ("fact.get", "{}", false),
            ("fact.today", #"{"date":"2026-1-1"}"#, false), ("fact.today", #"{"date":"9999-12-31"}"#, true),
        ])
    func keepsTheRangesOfTheTable(_ name: String, _ params: String, _ isTaken: Bool) throws {
        let method = try #require(MethodTable.methods.first { $0.name == name })
        #expect(try (refusal(of: method, JSON.parse(params)) == nil) == isTaken)
    }

    @Test("The longest strings are counted in code points") func countsCodePoints() {
        for (length, isTaken) in [(64, true), (65, false)] {
            let name = String(repeating: "\u{1F94B}", count: length)
            #expect((refusal(of: MethodDescription(FactRandom.self), ["name": .string(name)]) == nil) == isTaken)
        }
        for (length, isTaken) in [(SearchQuery.maximumLength, true), (SearchQuery.maximumLength + 1, false)] {
            let query = JSON.string(String(repeating: "\u{1F94B}", count: length))
            for method in [MethodDescription(FactSearch.self), MethodDescription(GifSearch.self)] {
                #expect((refusal(of: method, ["query": query]) == nil) == isTaken)
            }
        }
        for (length, isTaken) in [(200, true), (201, false)] {
            let id = String(repeating: "i", count: length)
            #expect((refusal(of: MethodDescription(FactGet.self), ["id": .string(id)]) == nil) == isTaken)
        }
    }

    private func refusal(of method: MethodDescription, _ params: JSON) -> ResponseError? {
        do throws(ResponseError) {
            _ = try method.arguments(from: params)
            return nil
        } catch {
            return error
        }
    }
}
