import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct ChucknorrisTests {
    private func search(_ body: String) -> Fetched { decoded(body, as: .facts) { $0.query = "chuck" } }

    // MARK: HTTP

    @Test func aSearchFindsFacts() async throws {
        let jokes = FakeUpstream.jokes(count: 100)
        try await Fixture.run(FakeUpstream.start(jokes: jokes)) { fixture in
            let batch = await fixture.fetch(.facts) { $0.query = "norris" }
            #expect(batch.facts.map(\.id) == jokes.map(\.id))
            #expect(batch.facts.map(\.text) == jokes.map(\.value))
            #expect(batch.facts.map(\.categories) == jokes.map(\.categories))
            #expect(batch.facts.allSatisfy { $0.createdAt == Timestamp("2020-01-05T13:42:19Z") && $0.url != nil })
            #expect(batch.skipped == 0)
            #expect(fixture.upstream.requests.first?.header("Accept") == "application/json")
        }
    }

    @Test func whatHasNotChangedIsNotSentAgain() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setHeaders([("Cache-Control", "max-age=600, private")])
            let first = await fixture.fetch(.facts) { $0.query = "chuck" }.head
            #expect(first.etag?.hasPrefix("W/\"") == true)
            #expect(first.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(first.notBefore == 600)
            let again = { (request: inout FetchRequest) in
                request.query = "chuck"
                (request.etag, request.lastModified) = (first.etag, first.lastModified)
            }
            let second = await fixture.fetch(.facts, again)
            var unchanged = first
            unchanged.isUnchanged = true
            #expect(second.items.isEmpty && second.head == unchanged)
            let request = try #require(fixture.upstream.requests.last)
            #expect(request.header("If-None-Match") == first.etag)
            #expect(request.header("If-Modified-Since") == first.lastModified)
            fixture.upstream.setJokes([FakeJoke(id: "new", value: "Chuck Norris is new.")])
            let third = await fixture.fetch(.facts, again)
            #expect(third.facts.map(\.text) == ["Chuck Norris is new."])
        }
    }

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

    @Test(arguments: [.reset, .answer(status: 500, headers: [], body: [])] as [FakeUpstream.Fault])
    func otherFailuresAreNotRequestedPastTheCache(fault: FakeUpstream.Fault) async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setCachedFault(fault)
            let fetched = await fixture.fetch(.facts) { ($0.query, $0.asksPastCaches) = ("chuck", true) }
            #expect(fetched.failure != nil)
            #expect(fixture.upstream.requests.count == 1)
        }
    }

    @Test func aTimeoutPastTheCacheDoesNotHideTheDamage() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setCachedFault(.json("[[]]"))
            fixture.upstream.setFault(.hang)
            // On a busy machine, the first response may take almost 2 s.
            for seconds in [2, 20, 200] {
                let before = fixture.upstream.requests.count
                let fetched = await fixture.fetch(.facts) { request in
                    request.query = "chuck"
                    request.asksPastCaches = true
                    request.timeout = seconds * 1000
                }
                if fixture.upstream.requests.count == before + 2 {
                    #expect(fetched.failure?.kind == .decode)
                    return
                }
            }
            Issue.record("The second request was never sent.")
        }
    }

    @Test func theAgeOfACopyIsKnown() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setHeaders([("Age", "172800"), ("Cache-Control", "max-age=3600")])
            let first = await fixture.fetch(.facts) { $0.query = "chuck" }.head
            #expect(first.age == 172_800 && first.isStale && first.notBefore == nil)
            let second = await fixture.fetch(.facts) { request in
                request.query = "chuck"
                (request.etag, request.lastModified) = (first.etag, first.lastModified)
            }
            var unchanged = first
            unchanged.isUnchanged = true
            #expect(second.head == unchanged)
        }
    }

    // MARK: Bodies

    @Test func aPageIsNoJSON() async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let headers = [("Content-Type", "text/html; charset=utf-8")]
            fixture.upstream.setFault(.answer(status: 200, headers: headers, body: Array("<html>".utf8)))
            let error = await fixture.fetch(.facts) { $0.query = "chuck" }.failure
            #expect(
                error?.message == "127.0.0.1:\(fixture.upstream.port)/jokes/search answered with text/html instead of "
                    + "JSON; is the configured address right?")
        }
    }

    @Test(
        "JSON by any name is read",
        arguments: [nil, "application/json", "Application/JSON; charset=utf-8", "text/json", "application/hal+json"])
    func types(type: String?) async throws {
        try await Fixture.run(FakeUpstream.start()) { fixture in
            let headers = type.map { [("Content-Type", $0)] } ?? []
            let body = Array(#"{"result":[{"id":"x","value":"y"}]}"#.utf8)
            fixture.upstream.setFault(.answer(status: 200, headers: headers, body: body))
            #expect(await fixture.fetch(.facts) { $0.query = "chuck" }.facts.count == 1)
        }
    }

    @Test func nothingFoundIsNoError() {
        #expect(search(#"{"total":0,"result":[]}"#).isEmpty)
        let error = search(#"{"total":1,"result":[{"id":5}]}"#).failure
        expect(error, .decode, "answered with 1 jokes, none of them usable", isRetryable: false)
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

    @Test(arguments: [#"{"id":"x","value":"y"}"#, #"{"id":"x","value":"y","url":"/x","created_at":5}"#])
    func idAndValueAreEnough(json: String) {
        #expect(fact(json) == Fact(id: "x", text: "y", categories: [], source: "chucknorris"))
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
