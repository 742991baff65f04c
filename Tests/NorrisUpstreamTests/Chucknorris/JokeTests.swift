import NorrisProtocol
import Testing

@testable import NorrisUpstream

struct JokeTests {
    private func fact(_ json: String) -> Fact? {
        (try? JSON.parse(json)).flatMap { Fact(joke: $0, .untimed) }
    }

    /// A joke with these members besides an id and a text.
    private func fact(with members: String) -> Fact? {
        fact(#"{"id":"x","value":"y",\#(members)}"#)
    }

    @Test func aWholeJoke() {
        let fact = fact(
            """
            {"categories":["dev"],"created_at":"2020-01-05 13:42:19.324003",
             "icon_url":"https://api.chucknorris.io/img/avatar/chuck-norris.png","id":"-e0_hnd3rgq68e_pfvsqqg",
             "updated_at":"2020-05-22 06:16:41.133769","url":"https://api.chucknorris.io/jokes/-e0_hnd3rgq68e_pfvsqqg",
             "value":"Chuck Norris can instantiate an abstract class.","new":{"x":[1]}}
            """
        )
        #expect(
            fact == Fact(
                id: "-e0_hnd3rgq68e_pfvsqqg", text: "Chuck Norris can instantiate an abstract class.",
                categories: ["dev"], source: "chucknorris",
                url: "https://api.chucknorris.io/jokes/-e0_hnd3rgq68e_pfvsqqg",
                createdAt: Timestamp("2020-01-05T13:42:19Z"), updatedAt: Timestamp("2020-05-22T06:16:41Z")
            )
        )
    }

    /// A fact without its category `explicit` would be served to everybody.
    @Test func explicitIsReadFromALongListToo() {
        let names = (0..<100).map { "c\($0)" } + ["explicit"]
        let kept = fact(with: #""categories":["\#(names.joined(separator: #"",""#))"]"#)?.categories
        #expect(kept == names[..<63] + ["explicit"])
    }

    @Test func idAndValueAreEnough() {
        #expect(fact(#"{"id":"x","value":"y"}"#) == Fact(id: "x", text: "y", categories: [], source: "chucknorris"))
    }

    @Test(
        arguments: [
            "[]", "\"x\"", "{}", #"{"id":"x"}"#, #"{"value":"y"}"#, #"{"id":1,"value":"y"}"#, #"{"id":"x","value":1}"#,
            #"{"id":null,"value":"y"}"#, #"{"id":"","value":"y"}"#, #"{"id":"x","value":""}"#,
            #"{"id":"x","value":" \n "}"#, #"{"id":"x","value":"\u0007\u200b"}"#, #"{"id":"x","value":"<b></b>"}"#,
            #"{"id":"a\nb","value":"y"}"#, #"{"id":"a\u0000","value":"y"}"#, #"{"id":" a","value":"y"}"#,
            #"{"id":"a\u202e","value":"y"}"#, #"{"id":"fortune:x","value":"y"}"#, #"{"id":"builtin-x","value":"y"}"#,
            #"{"id":"x","value":"y","categories":"dev"}"#, #"{"id":"x","value":"y","categories":{}}"#,
            #"{"id":"x","value":"y","category":1}"#, #"{"id":"x","value":"\ud800"}"#,
        ]
    )
    func theseAreNone(json: String) {
        #expect(fact(json) == nil)
    }

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
            (#""categories":null"#, []),
            (#""category":["dev"]"#, ["dev"]), (#""category":"dev""#, ["dev"]), (#""category":null"#, []),
            (#""categories":null,"category":["dev"]"#, ["dev"]),
            (#""categories":["movie"],"category":["dev"]"#, ["movie"]),
            (#""categories":["dev","Dev","d v","","dev",1,null,"x-_9"]"#, ["dev", "x-_9"]),
            (#""categories":["\#(String(repeating: "a", count: 41))"]"#, []),
        ] as [(String, [String])]
    )
    func categories(members: String, names: [String]) {
        #expect(fact(with: members)?.categories == names)
    }

    @Test(
        arguments: [
            ("2020-01-05 13:42:19.43184", "2020-01-05T13:42:19Z"), ("2020-01-05 13:42:19", "2020-01-05T13:42:19Z"),
            ("2020-01-05 13:42:19.3240031234", "2020-01-05T13:42:19Z"),
            ("2020-01-05T13:42:19.5Z", "2020-01-05T13:42:19Z"), ("2020-01-05T13:42:19+01:00", "2020-01-05T12:42:19Z"),
            ("2020-02-30 13:42:19", nil), ("yesterday", nil), ("", nil), ("2020-01-05  13:42:19", nil),
        ] as [(String, String?)]
    )
    func times(text: String, expected: String?) throws {
        let fact = try #require(self.fact(with: #""created_at":"\#(text)","updated_at":"\#(text)""#))
        #expect(fact.createdAt?.description == expected)
        #expect(fact.updatedAt?.description == expected)
    }

    @Test(arguments: ["5", "null", "[]", #""javascript:alert(1)""#, #""ftp://h/""#, #""https://h/\u001b""#, #""/x""#])
    func whatIsNoURLIsLeftOut(json: String) throws {
        let fact = try #require(self.fact(with: #""url":\#(json),"created_at":5"#))
        #expect(fact.url == nil)
        #expect(fact.createdAt == nil)
    }

    @Test func aURLIsBounded() {
        let url = "https://h/" + String(repeating: "x", count: 2038)
        #expect(fact(with: #""url":"\#(url)""#)?.url == url)
        #expect(fact(with: #""url":"\#(url)x""#)?.url == nil)
    }

    @Test(
        arguments: [
            ("Tom &amp; Jerry &#39;n&#39; <i>Chuck<\\/i>", "Tom & Jerry 'n' Chuck"), ("x < y, <3", "x < y, <3"),
            ("a\\u001b[31mb\\u202ec", "abc"), ("  two  spaces\\nline ", "two  spaces\nline"), ("&#27;[31mred", "red"),
            ("\\u00e9\\ud83e\\udd4b", "é🥋"),
        ]
    )
    func textIsMadeHarmless(value: String, text: String) {
        #expect(fact(#"{"id":"x","value":"\#(value)"}"#)?.text == text)
    }
}
