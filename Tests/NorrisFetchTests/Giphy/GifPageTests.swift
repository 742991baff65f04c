import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

struct GifPageTests {
    private func fetched(
        _ body: String, as kind: FetchRequest.Kind, _ query: String? = nil, offset: Int = 0, limit: Int = 25
    ) -> Fetched {
        decoded(body, as: kind) { request in
            (request.query, request.offset, request.limit) = (query, offset, limit)
            (request.rating, request.key) = ("g", Fixture.key)
        }
    }

    private func search(_ body: String, offset: Int = 0, limit: Int = 25) -> Fetched {
        fetched(body, as: .gifSearch, "x", offset: offset, limit: limit)
    }

    private static let two = #"[{"id":"a"},{"id":"b"}]"#

    // MARK: Data

    @Test func aPage() {
        let page = search(
            Fixture.envelope("[\(RecordedGif.json)]", pagination: #"{"total_count":4287,"count":1,"offset":0}"#))
        #expect(page.gifs.map(\.id) == [RecordedGif.id])
        #expect(page.gifs.first?.renditions.count == 3)
        #expect(page.head == head { ($0.totalCount, $0.nextOffset) = (4287, 1) })
    }

    @Test("GIFs beyond 100 and renditions beyond 64 are left out")
    func countsAreBounded() {
        let images = (0..<80).map { #""r\#($0)":{"url":"https://m"}"# }.joined(separator: ",")
        let items = (0..<150).map { #"{"id":"a\#($0)","images":{\#($0 == 0 ? images : "")}}"# }.joined(separator: ",")
        let page = search(Fixture.envelope("[\(items)]"))
        #expect(page.gifs.map(\.id) == (0..<100).map { "a\($0)" })
        #expect(page.gifs.first?.renditions.count == 64)
    }

    @Test("Data may be an array, an object, empty in two ways, or null", arguments: ["[]", "{}", "null", "[ ]", "{ }"])
    func nothing(data: String) {
        let body = Fixture.envelope(data)
        #expect(fetched(body, as: .gifRandom, "x").isEmpty)
        #expect(fetched(body, as: .gifs, "x").isEmpty)
        #expect(search(body, limit: 5).isEmpty)
    }

    @Test(arguments: [#"{"id":"a"}"#, #"[{"id":"a"}]"#]) func oneGifMayComeInAnArray(data: String) {
        let body = Fixture.envelope(data)
        #expect(fetched(body, as: .gifRandom).gifs.map(\.id) == ["a"])
        #expect(fetched(body, as: .gifs, "a").gifs.map(\.id) == ["a"])
        #expect(fetched(body, as: .gifTrending, limit: 5).gifs.map(\.id) == ["a"])
    }

    @Test(arguments: [
        Fixture.envelope("5"), "{}", "[]", #"{"meta":{"status":200,"msg":"OK","response_id":"x"}}"#,
        #"{"data":[{"id":"a"}"#, Fixture.envelope(#"[5,{"id":""}]"#), Fixture.envelope(#"{"title":"x"}"#),
    ]) func unusableBodiesAreErrors(body: String) {
        let error = search(body).failure
        #expect(error?.kind == .decode)
        #expect(error?.message.hasPrefix("api.example/v1/gifs/search answered with ") == true)
        #expect(error?.isRetryable == false)
    }

    @Test func badItemsAreSkippedAndCounted() {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let page = search(
            Fixture.envelope(
                """
                [{"id":"a","title":"A"},5,null,{"id":""},{"id":"b","x":\(deep)},{"id":"c","id":"c"},\
                {"id":"d","title":"\\ud800"},{"id":"e" "title":"E"},\
                {"id":"a","title":"again"},{"id":7}]
                """, pagination: #"{"total_count":10,"count":10,"offset":0}"#))
        #expect(page.gifs.map(\.id) == ["a", "b", "c", "d", "7"])
        #expect(page.gifs.first?.title == "A")
        #expect((page.skipped, page.head.totalCount, page.head.nextOffset) == (4, 10, nil))
    }

    @Test(
        "Where the next page begins",
        arguments: [
            (#"{"total_count":10,"count":2,"offset":4}"#, 4, 2, 6),
            (#"{"total_count":10,"count":2,"offset":8}"#, 8, 2, nil),
            // An empty page is the last page, despite the estimated total.
            (#"{"total_count":10,"count":0,"offset":2}"#, 2, 2, nil),
            // A page may be shorter than the limit.
            (#"{"total_count":10,"count":2,"offset":0}"#, 0, 25, 2),
            // Some endpoints omit the total. Without pagination, a short page is the last page.
            (#"{"count":2,"offset":0}"#, 0, 2, 2), ("null", 0, 2, 2), ("null", 0, 3, nil),
            (#"{"total_count":"10","count":"2"}"#, 0, 2, 2), (#"{"total_count":null,"count":-1}"#, 0, 3, nil),
            // The next offset is based on the request, because the offset in the reply may not advance.
            (#"{"total_count":10,"count":2,"offset":0}"#, 6, 2, 8),
            (#"{"total_count":90000,"count":2,"offset":4998}"#, 4997, 2, 4999),
            (#"{"total_count":90000,"count":2,"offset":4998}"#, 4998, 2, nil),
        ] as [(String, Int, Int, Int?)]
    )
    func nextPages(pagination: String, offset: Int, limit: Int, next: Int?) {
        let body = Fixture.envelope(Self.two, pagination: pagination)
        #expect(search(body, offset: offset, limit: limit).head.nextOffset == next)
    }

    // MARK: Errors in a good status

    @Test(
        "An empty response without an id is an error of Giphy",
        arguments: [
            #"{"data":[],"meta":{"msg":"OK","response_id":"","status":200}}"#,
            #"{"data":null,"meta":{"msg":"OK","status":200}}"#, #"{"data":[]}"#,
            #"{"data":[],"pagination":{"total_count":0,"count":0,"offset":0},"meta":{"status":200,"response_id":""}}"#,
        ]
    )
    func synthetic(body: String) {
        let error = search(body).failure
        #expect((error?.kind, error?.status) == (.http, 200))
        #expect(error?.isRetryable == true)
        #expect(error?.message == "api.example/v1/gifs/search answered without a result; Giphy has a problem.")
        #expect(fetched(body, as: .gifRandom, "x").failure?.status == 200)
        #expect(fetched(body, as: .gifs, "x").failure?.status == 200)
    }

    @Test func anEmptyResponseWithAnIDIsNone() {
        let body = Fixture.envelope("[]", pagination: #"{"total_count":0,"count":0,"offset":0}"#)
        let page = search(body)
        #expect(page.items.isEmpty && page.head == head { $0.totalCount = 0 })
    }

    @Test func contentWithoutTheIDOfAResponseIsContent() {
        #expect(search(#"{"data":\#(Self.two)}"#).gifs.count == 2)
        #expect(search(#"{"data":\#(Self.two),"meta":{"response_id":"","status":"200"}}"#).gifs.count == 2)
    }

    @Test(
        "A status in the body counts",
        arguments: [
            (
                #"{"data":\#(two),"meta":{"status":401,"msg":"Unauthorized","response_id":""}}"#, .credentials, nil,
                false
            ),
            (#"{"data":[],"meta":{"status":429,"msg":"API rate limit exceeded","response_id":""}}"#, .quota, nil, true),
            (#"{"meta":{"status":403,"msg":"Forbidden"}}"#, .credentials, nil, false),
            (#"{"data":[],"meta":{"status":"503","msg":"x"}}"#, .http, 503, true),
            (#"{"data":[],"meta":{"status":400}}"#, .http, 400, true),
            (#"{"data":[],"meta":{"status":7,"response_id":"x"}}"#, .http, 502, true),
        ] as [(String, SourceFailure.Kind, Int?, Bool)]
    )
    func statusInTheBody(body: String, kind: SourceFailure.Kind, status: Int?, isRetryable: Bool) {
        let error = search(body).failure
        #expect((error?.kind, error?.status) == (kind, status))
        #expect(error?.isRetryable == isRetryable)
    }

    @Test func anUnknownIDInTheBodyIsNoGif() {
        let body = #"{"meta":{"status":404,"msg":"Not Found!"}}"#
        #expect(fetched(body, as: .gifs, "x").isEmpty)
        #expect(search(body).failure?.status == 404)
    }
}
