import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct ChucknorrisTests {
    private func batch(_ fetched: Fetched<FactBatch>) throws -> FactBatch {
        guard case .changed(let batch, _) = fetched else { throw UpstreamError(.decode, "Nothing has changed.") }
        return batch
    }

    /// What is made of an answer's body.
    private func search(_ body: String, type: String? = "application/json") async -> Result<FactBatch, UpstreamError> {
        let headers = HTTPHeaderFields(type.map { [(name: "Content-Type", value: $0)] } ?? [])
        let api = Chucknorris(
            baseURL: "https://api.example", transport: FixedTransport(body, headers: headers), timeout: .seconds(1)
        )
        do throws(UpstreamError) {
            guard case .changed(let batch, _) = try await api.search("chuck") else {
                return .failure(UpstreamError(.decode, "Nothing has changed."))
            }
            return .success(batch)
        } catch {
            return .failure(error)
        }
    }

    // MARK: Against an upstream

    @Test func aSearchFindsFacts() async throws {
        let jokes = FakeUpstream.jokes(count: 100)
        try await Asking.run(FakeUpstream.start(jokes: jokes)) { asking in
            let batch = try batch(try await asking.chucknorris().search("norris"))
            #expect(batch.facts.map(\.id) == jokes.map(\.id))
            #expect(batch.facts.map(\.text) == jokes.map(\.value))
            #expect(batch.facts.map(\.categories) == jokes.map(\.categories))
            #expect(batch.facts.allSatisfy { $0.createdAt == Timestamp("2020-01-05T13:42:19Z") && $0.url != nil })
            #expect((batch.skipped, batch.total) == (0, 100))
            #expect(asking.upstream.requests.first?.header("Accept") == "application/json")
        }
    }

    @Test(arguments: ["to 7 ", "a&b=c", "100%", "tööt☃", "a+b", "x/../y?#"])
    func queriesArriveAsTheyAre(query: String) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            _ = try await asking.chucknorris().search(query)
            #expect(asking.upstream.requests.first?.query == query)
        }
    }

    @Test func aBaseURLMayHaveAPath() async throws {
        try await Asking.run(FakeUpstream.start(prefix: "/x/y")) { asking in
            let api = Chucknorris(
                baseURL: asking.upstream.baseURL + "/", transport: asking.transport, timeout: Asking.longEnough
            )
            _ = try await api.search("chuck")
            #expect(asking.upstream.requests.first?.target == "/x/y/jokes/search?query=chuck")
        }
    }

    @Test func whatHasNotChangedIsNotSentAgain() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setHeaders([("Cache-Control", "max-age=600, private")])
            let api = asking.chucknorris()
            let first = try await api.search("chuck")
            #expect(first.info.validators.etag?.hasPrefix("W/\"") == true)
            #expect(first.info.validators.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(first.info.notBefore == .seconds(600))
            let second = try await api.search("chuck", validators: first.info.validators)
            #expect(second == .unchanged(first.info))
            let request = try #require(asking.upstream.requests.last)
            #expect(request.header("If-None-Match") == first.info.validators.etag)
            #expect(request.header("If-Modified-Since") == first.info.validators.lastModified)
            asking.upstream.setFault(.changing)
            let third = try batch(try await api.search("chuck", validators: first.info.validators))
            #expect(third.facts.last?.text == "Chuck Norris is number 3.")
        }
    }

    @Test func categoriesAreNames() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            let api = asking.chucknorris()
            let fetched = try await api.categories()
            #expect(fetched == .changed(FakeUpstream.categories, fetched.info))
            #expect(try await api.categories(validators: fetched.info.validators) == .unchanged(fetched.info))
            asking.upstream.setFault(.json(#"["dev","D V",5,null,"dev","x"]"#))
            #expect(try await api.categories() == .changed(["dev", "x"], FetchInfo()))
        }
    }

    @Test func itsOwnTimeoutWins() async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(.hang)
            let error = await #expect(throws: UpstreamError.self) {
                try await asking.chucknorris().search("chuck", timeout: .milliseconds(100))
            }
            #expect(error?.kind == .timeout)
        }
    }

    @Test("Fifty thousand facts, more than any upstream has")
    func many() async throws {
        try await Asking.run(
            FakeUpstream.start(jokes: FakeUpstream.jokes(count: 50_000)), configure: { $0.maximumBody = 64 << 20 }
        ) { asking in
            // A debug build needs longer than a document may take.
            let batch = try FactBatch(searchResult: try await asking.send().body, .untimed)
            #expect(batch.facts.count == 50_000)
            #expect((batch.skipped, batch.total) == (0, 50_000))
        }
    }

    // MARK: Answers

    @Test(
        arguments: [
            FakeUpstream.Fault.html, .wrongTypes, .garbage, .json(""), .json(#"{"total":1,"result":[{"id":"x""#),
            .json(#"{"total":0,"result":[]}garbage"#), .json(#"{"total":1,"result":[{"id":5}]}"#),
        ]
    )
    func whatCannotBeUsedIsSaid(fault: FakeUpstream.Fault) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(fault)
            let error = await #expect(throws: UpstreamError.self) { try await asking.chucknorris().search("chuck") }
            #expect(error?.kind == .decode)
            #expect(error?.message.contains("127.0.0.1") == true)
            #expect(error?.isRetryable == false)
        }
    }

    @Test func aPageIsNoJSON() async {
        let error = await search("<html>", type: "text/html; charset=utf-8")
        guard case .failure(let error) = error else {
            Issue.record("It was decoded")
            return
        }
        #expect(
            error.message
                == "api.example/jokes/search answered with text/html instead of JSON; is the configured address right?"
        )
    }

    @Test(
        "JSON by any name is read",
        arguments: [nil, "application/json", "Application/JSON; charset=utf-8", "text/json", "application/hal+json"]
    )
    func types(type: String?) async throws {
        #expect(try await search(#"{"result":[{"id":"x","value":"y"}]}"#, type: type).get().facts.count == 1)
    }

    @Test func nothingFoundIsNoError() async throws {
        #expect(try await search(#"{"total":0,"result":[]}"#).get() == FactBatch(facts: [], skipped: 0, total: 0))
    }

    @Test func badItemsAreSkippedAndCounted() async throws {
        let huge = String(repeating: "1,", count: 200_000)
        let batch = try await search(
            """
            {"total":7,"result":[{"id":"a","value":"A"},5,{"id":"b"},{"id":"c","value":"\\ud800"},
            {"id":"d" "value":"D"},{"id":"e","value":"E","x":[\(huge)1]},{"id":"a","value":"again"},
            {"id":"z","value":"Z"}]}
            """
        ).get()
        #expect(batch.facts.map(\.text) == ["A", "Z"])
        #expect((batch.skipped, batch.total) == (5, 8))
    }

    @Test func invalidBytesInAnItemAreItsOwn() throws {
        let body = Array(#"{"result":[{"id":"a","value":""#.utf8) + [0xFF] + Array(#""},{"id":"b","value":"B"}]}"#.utf8)
        let batch = try FactBatch(searchResult: body, .untimed)
        #expect(batch.facts.map(\.id) == ["b"])
        #expect(batch.skipped == 1)
    }

    @Test func onlyBadItemsAreAnError() async {
        let result = await search(#"{"total":2,"result":[5,{"id":"b"}]}"#)
        #expect(throws: UpstreamError.self) { try result.get() }
    }

    @Test func decodingStopsWhenNobodyWantsIt() async throws {
        let items = repeatElement("{}", count: 5000).joined(separator: ",")
        let body = Array("{\"result\":[\(items)]}".utf8)
        let isCancelled = await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask {
                do throws(UnusableBody) {
                    _ = try FactBatch(searchResult: body, .untimed)
                    return false
                } catch {
                    return if case .cancelled = error { true } else { false }
                }
            }
            return await group.next()
        }
        #expect(isCancelled == true)
    }
}
