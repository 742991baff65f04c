import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct ChucknorrisTests {
    private func search(_ body: String) -> Fetched { decoded(body, as: .facts) { $0.query = "chuck" } }

    @Test func categoriesAreNames() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let fetched = await fixture.fetch(.categories)
            #expect(fetched.head.categories == FakeUpstream.categories)
            #expect(fetched.items.isEmpty && fetched.failure == nil)
            fixture.upstream.setFault(.json(#"["dev","D V",5,null,"dev","x"]"#))
            #expect(await fixture.fetch(.categories).head.categories == ["dev", "x"])
        }
    }

    // MARK: Caches

    @Test(
        arguments: [
            .truncated(chunked: false), .truncated(chunked: true), .json("[[]]"),
            .answer(status: 200, headers: [("Content-Type", "text/html")], body: Array("<html>Log in".utf8)),
        ] as [FakeUpstream.Fault])
    func aDamagedCopyIsFetchedPastTheCache(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setCachedFault(fault)
            let search = { (request: inout FetchRequest) in
                request.query = "chuck"
                request.asksPastCaches = true
            }
            let fetched = await fixture.fetch(.facts, search)
            #expect(fetched.failure == nil && fetched.head.etag != nil)
            #expect(fixture.upstream.requests.map { $0.header("Cache-Control") } == [nil, "no-cache"])
            // A damaged answer of the upstream is not requested a third time.
            fixture.upstream.setFault(fault)
            let error = await fixture.fetch(.facts, search).failure
            let isTruncated = if case .truncated = fault { true } else { false }
            #expect(error?.kind == (isTruncated ? .offline : .decode))
            #expect(fixture.upstream.requests.count == 4)
            // The search of a user is one request.
            #expect(await fixture.fetch(.facts) { $0.query = "chuck" }.failure != nil)
            #expect(fixture.upstream.requests.count == 5)
        }
    }

    // MARK: Bodies

    @Test func nothingFoundIsNoError() {
        #expect(search(#"{"total":0,"result":[]}"#).isEmpty)
        let error = search(#"{"total":1,"result":[{"id":5}]}"#).failure
        #expect(error?.kind == .decode && error?.message.contains("1 jokes, none of them usable") == true)
    }

    @Test func badItemsAreSkippedAndCounted() {
        let batch = search(
            """
            {"total":6,"result":[{"id":"a","value":"A"},5,{"id":"b"},{"id":"c","value":"\\ud800"},
            {"id":"d" "value":"D"},{"id":"a","value":"again"},
            {"id":"z","value":"Z"}]}
            """)
        #expect(batch.facts.map(\.text) == ["A", "Z"])
        #expect(batch.skipped == 4)
    }

    @Test func invalidBytesInAnItemAreItsOwn() {
        let body = Array(#"{"result":[{"id":"a","value":""#.utf8) + [0xFF] + Array(#""},{"id":"b","value":"B"}]}"#.utf8)
        let batch = decoded(body, as: .facts)
        #expect(batch.facts.map(\.id) == ["b"])
        #expect(batch.skipped == 1)
    }
}

struct JokeTests {
    private func fact(_ json: String) -> Fact? {
        JSONItem(item: Array(json.utf8)[...]).flatMap { Fact(joke: $0) }
    }

    private func fact(with members: String) -> Fact? { fact(#"{"id":"x","value":"y",\#(members)}"#) }

    @Test func aWholeJoke() {
        let fact = fact(
            """
            {"categories":["dev"],"created_at":"2020-01-05 13:42:19.324003",
             "icon_url":"https://api.chucknorris.io/img/avatar/chuck-norris.png","id":"-e0_hnd3rgq68e_pfvsqqg",
             "updated_at":"2020-05-22 06:16:41.133769","url":"https://api.chucknorris.io/jokes/-e0_hnd3rgq68e_pfvsqqg",
             "value":"Chuck Norris can instantiate an abstract class.","new":{"x":[1]}}
            """)
        #expect(
            fact
                == Fact(
                    id: "-e0_hnd3rgq68e_pfvsqqg", text: "Chuck Norris can instantiate an abstract class.",
                    categories: ["dev"], source: "chucknorris",
                    url: "https://api.chucknorris.io/jokes/-e0_hnd3rgq68e_pfvsqqg",
                    createdAt: Timestamp("2020-01-05T13:42:19Z"), updatedAt: Timestamp("2020-05-22T06:16:41Z")))
    }

    @Test(arguments: [
        "[]", "\"x\"", "{}", #"{"id":"x"}"#, #"{"value":"y"}"#, #"{"id":1,"value":"y"}"#, #"{"id":"x","value":1}"#,
        #"{"id":null,"value":"y"}"#, #"{"id":"","value":"y"}"#, #"{"id":"x","value":""}"#,
        #"{"id":"x","value":" \n "}"#, #"{"id":"x","value":"\u0007\u200b"}"#, #"{"id":"x","value":"<b></b>"}"#,
        #"{"id":"a\nb","value":"y"}"#, #"{"id":"a\u0000","value":"y"}"#, #"{"id":" a","value":"y"}"#,
        #"{"id":"a\u202e","value":"y"}"#, #"{"id":"fortune:x","value":"y"}"#, #"{"id":"builtin-x","value":"y"}"#,
        #"{"id":"x","value":"y","categories":"dev"}"#, #"{"id":"x","value":"y","categories":{}}"#,
        #"{"id":"x","value":"y","category":1}"#, #"{"id":"x","value":"\ud800"}"#,
    ]) func theseAreNone(json: String) { #expect(fact(json) == nil) }

    @Test func lengthsAreBounded() {
        let id = String(repeating: "i", count: 200)
        let text = String(repeating: "☃", count: 10_000)
        #expect(fact(#"{"id":"\#(id)","value":"\#(text)"}"#)?.text == text)
        #expect(fact(#"{"id":"\#(id)i","value":"y"}"#) == nil)
        #expect(fact(#"{"id":"x","value":"\#(text)☃"}"#) == nil)
    }

    @Test(
        arguments: [
            (#""categories":["dev","movie"]"#, ["dev", "movie"]), (#""categories":[]"#, []),
            (#""categories":null"#, []), (#""category":["dev"]"#, ["dev"]), (#""category":"dev""#, ["dev"]),
            (#""category":null"#, []), (#""categories":null,"category":["dev"]"#, ["dev"]),
            (#""categories":["movie"],"category":["dev"]"#, ["movie"]),
            (#""categories":["dev","Dev","d v","","dev",1,null,"x-_9"]"#, ["dev", "x-_9"]),
            (#""categories":["\#(String(repeating: "a", count: 41))"]"#, []),
        ] as [(String, [String])]
    )
    func categories(members: String, names: [String]) { #expect(fact(with: members)?.categories == names) }

    /// Without its category `explicit`, the fact would be served to users who did not allow explicit facts.
    @Test func explicitIsReadFromALongListToo() {
        let names = (0..<100).map { "c\($0)" } + ["explicit"]
        let categories = fact(with: #""categories":["\#(names.joined(separator: #"",""#))"]"#)?.categories
        #expect(categories == names[..<63] + ["explicit"])
    }

    @Test(arguments: [
        ("Tom &amp; Jerry &#39;n&#39; <i>Chuck<\\/i>", "Tom & Jerry 'n' Chuck"), ("x < y, <3", "x < y, <3"),
        ("a\\u001b[31mb\\u202ec", "abc"), ("  two  spaces\\nline ", "two  spaces\nline"), ("&#27;[31mred", "red"),
        ("\\u00e9\\ud83e\\udd4b", "é🥋"),
    ]) func textIsMadeHarmless(value: String, text: String) {
        #expect(fact(#"{"id":"x","value":"\#(value)"}"#)?.text == text)
    }
}
