import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

struct GiphyAnswerTests {
    private func search(_ body: String, offset: Int = 0, limit: Int = 25) async throws -> GifPage {
        try await Asking.giphy(answering: body).search("x", offset: offset, limit: limit)
    }

    private func failure(_ body: String) async -> UpstreamError? {
        await NorrisUpstreamTests.failure {
            _ = try await Asking.giphy(answering: body).search("x", offset: 0, limit: 25)
        }
    }

    private static let two = #"[{"id":"a"},{"id":"b"}]"#

    // MARK: Data

    @Test func aPage() async throws {
        let page = try await search(
            Asking.envelope("[\(RecordedGif.json)]", pagination: #"{"total_count":4287,"count":1,"offset":0}"#)
        )
        #expect(page.gifs.map(\.id) == [RecordedGif.id])
        #expect(page.gifs.first?.renditions.count == 6)
        #expect(page == GifPage(gifs: page.gifs, skipped: 0, totalCount: 4287, nextOffset: 1))
    }

    @Test("Data may be an array, an object, empty in two ways, or null", arguments: ["[]", "{}", "null", "[ ]", "{ }"])
    func nothing(data: String) async throws {
        let giphy = Asking.giphy(answering: Asking.envelope(data))
        #expect(try await giphy.random(tag: "x") == nil)
        #expect(try await giphy.gif(id: "x") == nil)
        #expect(try await giphy.gifs(ids: ["x"]) == GifPage())
        #expect(try await giphy.search("x", offset: 0, limit: 5) == GifPage())
    }

    @Test(arguments: [#"{"id":"a"}"#, #"[{"id":"a"}]"#])
    func oneGifMayComeInAnArray(data: String) async throws {
        let giphy = Asking.giphy(answering: Asking.envelope(data))
        #expect(try await giphy.random()?.id == "a")
        #expect(try await giphy.gif(id: "a")?.id == "a")
        #expect(try await giphy.trending(offset: 0, limit: 5).gifs.map(\.id) == ["a"])
    }

    @Test(
        arguments: [
            Asking.envelope("5"), Asking.envelope(#""x""#), Asking.envelope("true"), "{}", "[]", "null",
            #"{"result":[]}"#, #"{"meta":{"status":200,"msg":"OK","response_id":"x"}}"#, #"{"data":[],"data":[]}"#,
            #"{"data":[{"id":"a"}"#, #"{"data":[{"id":"a"}]} x"#, #"{"data":[],"meta":{"status":200,}}"#,
            #"{"data":[{"id":"a"}],"pagination":tru}"#, "", Asking.envelope(#"[5,{"id":""}]"#),
            Asking.envelope(#"{"title":"x"}"#),
        ]
    )
    func whatCannotBeUsedIsSaid(body: String) async {
        let error = await failure(body)
        #expect(error?.kind == .decode)
        #expect(error?.message.hasPrefix("api.example/v1/gifs/search answered with ") == true)
        #expect(error?.isRetryable == false)
    }

    @Test func badItemsAreSkippedAndCounted() async throws {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let huge = String(repeating: "1,", count: 200_000)
        let page = try await search(
            Asking.envelope(
                """
                [{"id":"a","title":"A"},5,null,{"id":""},{"id":"b","x":\(deep)},{"id":"c","id":"c"},\
                {"id":"d","title":"\\ud800"},{"id":"e" "title":"E"},{"id":"f","x":[\(huge)1]},\
                {"id":"a","title":"again"},{"id":7}]
                """,
                pagination: #"{"total_count":11,"count":11,"offset":0}"#
            )
        )
        #expect(page.gifs.map(\.id) == ["a", "7"])
        #expect(page.gifs.first?.title == "A")
        #expect((page.skipped, page.totalCount, page.nextOffset) == (8, 11, nil))
    }

    @Test func noMoreAreTakenThanWereAskedFor() async throws {
        let body = Asking.envelope(#"[{"id":"a"},5,{"id":"b"},{"id" 1},6]"#)
        let giphy = Asking.giphy(answering: body)
        let page = try await giphy.search("x", offset: 0, limit: 3)
        #expect(page.gifs.map(\.id) == ["a", "b"])
        #expect((page.skipped, page.nextOffset) == (1, 3))
        #expect(try await giphy.trending(offset: 0, limit: 1).gifs.map(\.id) == ["a"])
        #expect(try await giphy.random()?.id == "a")
        let many = Asking.envelope("[\((0..<101).map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]")
        #expect(try await Asking.giphy(answering: many).gifs(ids: ["1"]).gifs.count == 100)
    }

    @Test func onlyTheGifThatWasAskedForIsOne() async throws {
        let giphy = Asking.giphy(answering: Asking.envelope(#"{"id":"a"}"#))
        #expect(try await giphy.gif(id: "a")?.id == "a")
        #expect(try await giphy.gif(id: "b") == nil)
    }

    @Test func idsOfWhichNoneCanBeUsedAreAnEmptyPage() async throws {
        let giphy = Asking.giphy(answering: Asking.envelope(#"[5,{"id":""}]"#))
        #expect(try await giphy.gifs(ids: ["a"]) == GifPage(skipped: 2))
    }

    @Test func whatIsTooLongIsNotLookedAt() async throws {
        let long = String(repeating: " ", count: JSONItems.maximumItem)
        // The status would make it a failure.
        let meta = #"{"data":\#(Self.two),"meta":{"status":401\#(long)},"#
            + #""pagination":{"total_count":9,"count":2\#(long)}}"#
        #expect(try await search(meta, limit: 2) == GifPage(gifs: try await search(meta).gifs, nextOffset: 2))
        #expect(await failure(Asking.envelope("{\(long)}"))?.kind == .decode)
    }

    @Test func invalidBytesInAnItemAreItsOwn() async throws {
        let body = Array(#"{"data":[{"id":"a","title":""#.utf8) + [0xFF] + Array(#""},{"id":"b"}],"meta":{}}"#.utf8)
        let answer = try GiphyAnswer.read(
            body, of: .trending(offset: 0, limit: 5), from: "https://h", hiding: APIKey("k3y"), now: Asking.now,
            .untimed
        ).get()
        #expect(answer.gifs.map(\.id) == ["b"])
        #expect((answer.skipped, answer.items) == (1, 2))
    }

    // MARK: Pagination

    @Test(
        "Where the next page begins",
        arguments: [
            (#"{"total_count":10,"count":2,"offset":0}"#, 0, 2, 2),
            (#"{"total_count":10,"count":2,"offset":4}"#, 4, 2, 6),
            (#"{"total_count":10,"count":2,"offset":8}"#, 8, 2, nil),
            (#"{"total_count":9,"count":2,"offset":8}"#, 8, 2, nil),
            // The estimate says otherwise, but there is nothing.
            (#"{"total_count":10,"count":0,"offset":2}"#, 2, 2, nil),
            // A page may come short.
            (#"{"total_count":10,"count":2,"offset":0}"#, 0, 25, 2), (#"{"count":2,"offset":0}"#, 0, 25, 2),
            // Not every endpoint says how many there are; one that says nothing is at its end when a page is short.
            (#"{"count":2,"offset":0}"#, 0, 2, 2), ("null", 0, 2, 2), ("null", 0, 3, nil), ("null", 6, 2, 8),
            (#"{"total_count":"10","count":"2"}"#, 0, 2, 2), (#"{"total_count":null,"count":-1}"#, 0, 3, nil),
            ("[]", 0, 3, nil), (#"{"total_count":10}"#, 0, 25, 2),
            // An offset that stands still leads nowhere.
            (#"{"total_count":10,"count":2,"offset":0}"#, 6, 2, 8),
            (#"{"total_count":90000,"count":2,"offset":4998}"#, 4997, 2, 4999),
            (#"{"total_count":90000,"count":2,"offset":4998}"#, 4998, 2, nil),
        ] as [(String, Int, Int, Int?)]
    )
    func nextPages(pagination: String, offset: Int, limit: Int, next: Int?) async throws {
        let body = Asking.envelope(Self.two, pagination: pagination)
        #expect(try await search(body, offset: offset, limit: limit).nextOffset == next)
    }

    @Test func trendingEndsSooner() async throws {
        let body = Asking.envelope(Self.two, pagination: #"{"total_count":90000,"count":2,"offset":0}"#)
        let giphy = Asking.giphy(answering: body)
        #expect(try await giphy.trending(offset: 497, limit: 2).nextOffset == 499)
        #expect(try await giphy.trending(offset: 498, limit: 2).nextOffset == nil)
    }

    @Test func whatIsAskedForByIDHasNoNextPage() async throws {
        let body = Asking.envelope(Self.two, pagination: #"{"total_count":90000,"count":2,"offset":0}"#)
        #expect(try await Asking.giphy(answering: body).gifs(ids: ["a", "b"]).nextOffset == nil)
    }

    @Test func aWholePageOfDuplicatesGoesOn() async throws {
        let page = try await search(
            Asking.envelope(#"[{"id":"a"},{"id":"a"}]"#, pagination: #"{"total_count":9,"count":2}"#), limit: 2
        )
        #expect(page.gifs.count == 1)
        #expect((page.skipped, page.nextOffset) == (0, 2))
    }

    // MARK: Synthetic answers

    @Test(
        "An empty answer without the id of a response is trouble at Giphy's",
        arguments: [
            #"{"data":[],"meta":{"msg":"OK","response_id":"","status":200}}"#,
            #"{"data":{},"meta":{"msg":"OK","response_id":"","status":200}}"#,
            #"{"data":null,"meta":{"msg":"OK","status":200}}"#, #"{"data":[],"meta":{}}"#, #"{"data":[]}"#,
            #"{"meta":{"msg":"OK","response_id":"","status":200}}"#,
            #"{"data":[],"pagination":{"total_count":0,"count":0,"offset":0},"meta":{"status":200,"response_id":""}}"#,
        ]
    )
    func synthetic(body: String) async {
        let error = await failure(body)
        #expect(error?.kind == .http(status: 200))
        #expect(error?.isRetryable == true)
        #expect(
            error?.message == "api.example/v1/gifs/search answered without a result; Giphy has trouble of its own."
        )
        await #expect(throws: UpstreamError.self) { try await Asking.giphy(answering: body).random(tag: "x") }
        await #expect(throws: UpstreamError.self) { try await Asking.giphy(answering: body).gif(id: "x") }
    }

    @Test func anEmptyAnswerWithTheIDOfAResponseIsNone() async throws {
        let body = Asking.envelope("[]", pagination: #"{"total_count":0,"count":0,"offset":0}"#)
        #expect(try await search(body) == GifPage(totalCount: 0))
    }

    @Test func contentWithoutTheIDOfAResponseIsContent() async throws {
        #expect(try await search(#"{"data":\#(Self.two)}"#).gifs.count == 2)
        #expect(try await search(#"{"data":\#(Self.two),"meta":{"response_id":"","status":"200"}}"#).gifs.count == 2)
    }

    // MARK: Errors in a good status

    @Test(
        "A status in the body counts",
        arguments: [
            (#"{"data":\#(two),"meta":{"status":401,"msg":"Unauthorized","response_id":""}}"#, .credentials, false),
            (#"{"data":[],"meta":{"status":429,"msg":"API rate limit exceeded","response_id":""}}"#, .quota, true),
            (#"{"meta":{"status":403,"msg":"Forbidden"}}"#, .credentials, false),
            (#"{"data":[],"meta":{"status":"503","msg":"x"}}"#, .http(status: 503), true),
            (#"{"data":[],"meta":{"status":400}}"#, .http(status: 400), true),
            (#"{"data":[],"meta":{"status":7,"response_id":"x"}}"#, .http(status: 502), true),
        ] as [(String, UpstreamError.Kind, Bool)]
    )
    func statusInTheBody(body: String, kind: UpstreamError.Kind, isRetryable: Bool) async {
        let error = await failure(body)
        #expect(error?.kind == kind)
        #expect(error?.isRetryable == isRetryable)
    }

    @Test func anUnknownIDInTheBodyIsNoGif() async throws {
        let body = #"{"meta":{"status":404,"msg":"Not Found!"}}"#
        #expect(try await Asking.giphy(answering: body).gif(id: "x") == nil)
        #expect(await failure(body)?.kind == .http(status: 404))
    }
}
