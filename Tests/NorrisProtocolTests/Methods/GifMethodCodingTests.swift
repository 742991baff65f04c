import NorrisProtocol
import Testing

struct GifMethodCodingTests {
    private let gif = Gif(id: "a", title: "t", rating: "g", pageURL: "https://g")
    private let gifJSON = #"{"id":"a","title":"t","rating":"g","page_url":"https://g","sticker":false,"#
        + #""renditions":{},"attribution":"Powered by GIPHY"}"#

    @Test func gifSearch() throws {
        let arguments = try check(
            GifSearch.Parameters(query: "kick", limit: 50, cursor: "c", rating: "pg-13", lang: "zh-TW", offline: true),
            of: GifSearch.self,
            json: #"{"query":"kick","limit":50,"cursor":"c","rating":"pg-13","lang":"zh-TW","offline":true}"#
        )
        #expect(arguments.string("lang") == "zh-TW")
        try check(GifSearch.Parameters(query: "k"), of: GifSearch.self, json: #"{"query":"k"}"#)
    }

    @Test("What Giphy does not take is refused", arguments: [
        (#"{"query":""}"#, "query"), (#"{"query":"a","limit":51}"#, "limit"), (#"{"query":"a","limit":0}"#, "limit"),
        (#"{"query":"a","rating":"x"}"#, "rating"), (#"{"query":"a","lang":"klingon"}"#, "lang"),
    ])
    func refuses(_ params: String, _ parameter: String) throws {
        let error = #expect(throws: ResponseError.self) {
            try GifSearch.self.arguments(from: JSON.parse(params))
        }
        #expect(error?.details["parameter"] == .string(parameter))
    }

    @Test func gifTrending() throws {
        try check(
            GifTrending.Parameters(limit: 1, cursor: "c"), of: GifTrending.self,
            json: #"{"limit":1,"cursor":"c"}"#
        )
        try check(GifTrending.Parameters(), of: GifTrending.self, json: "{}")
    }

    @Test func gifRandom() throws {
        try check(GifRandom.Parameters(tag: "kick"), of: GifRandom.self, json: #"{"tag":"kick"}"#)
        try check(GifRandom.Parameters(), of: GifRandom.self, json: "{}")
        let freshness = Freshness(origin: .cache, state: .fresh)
        checkEncoding(
            GifRandom.Result(gif: gif, freshness: freshness),
            json: #"{"gif":"# + gifJSON + #","freshness":"# + freshness.jsonText + "}"
        )
        checkDecoding(
            GifRandom.Result(gif: gif, freshness: freshness),
            json: #"{"gif":"# + gifJSON + #","freshness":"# + freshness.jsonText + "}", ignoresUnknown: false
        )
    }

    @Test func gifGet() throws {
        try check(IDParameters(id: "-a"), of: GifGet.self, json: #"{"id":"-a"}"#)
        checkCoding(GifGet.Result(gif: gif), json: #"{"gif":"# + gifJSON + "}", ignoresUnknown: false)
    }
}
