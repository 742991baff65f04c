import NorrisProtocol
import Testing

struct GifCodingTests {
    @Test func hasAllItsMembers() {
        // A rendition of an unknown name is kept, so no further member is put in.
        checkCoding(
            Gif(
                id: "bq2Nk0o7bQhhseGATA",
                title: "Full House Angel GIF",
                rating: "pg-13",
                pageURL: "https://giphy.com/gifs/bq2Nk0o7bQhhseGATA",
                username: "KellyClarksonShow",
                altText: "An angel",
                isSticker: true,
                renditions: [
                    "original": Gif.Rendition(
                        url: "https://media3.giphy.com/media/ID/giphy.gif?cid=1&rid=giphy.gif", mp4: "https://m/4",
                        webp: "https://m/w", width: 480, height: 229, bytes: 976_265, frames: 20
                    ),
                    "looping": Gif.Rendition(mp4: "https://m/loop"),
                ],
                importedAt: Timestamp(seconds: 0),
                trendingAt: Timestamp(seconds: 1)
            ),
            json: #"{"id":"bq2Nk0o7bQhhseGATA","title":"Full House Angel GIF","rating":"pg-13","#
                + #""page_url":"https://giphy.com/gifs/bq2Nk0o7bQhhseGATA","username":"KellyClarksonShow","#
                + #""alt_text":"An angel","sticker":true,"renditions":{"looping":{"mp4":"https://m/loop"},"#
                + #""original":{"url":"https://media3.giphy.com/media/ID/giphy.gif?cid=1&rid=giphy.gif","#
                + #""mp4":"https://m/4","webp":"https://m/w","width":480,"height":229,"bytes":976265,"frames":20}},"#
                + #""imported_at":"1970-01-01T00:00:00Z","trending_at":"1970-01-01T00:00:01Z","#
                + #""attribution":"Powered by GIPHY"}"#,
            ignoresUnknown: false
        )
    }

    @Test func leavesOutWhatIsUnknown() {
        checkCoding(
            Gif(id: "a", title: "", rating: "g", pageURL: "https://giphy.com/gifs/a"),
            json: #"{"id":"a","title":"","rating":"g","page_url":"https://giphy.com/gifs/a","sticker":false,"#
                + #""renditions":{},"attribution":"Powered by GIPHY"}"#,
            ignoresUnknown: false
        )
    }

    @Test func aRenditionIgnoresWhatItDoesNotKnow() {
        checkCoding(Gif.Rendition(url: "https://m"), json: #"{"url":"https://m"}"#)
    }

    @Test(arguments: ["id", "title", "rating", "page_url", "sticker", "renditions"])
    func refusesToBeWithout(_ key: String) throws {
        var object: JSONObject = [
            "id": "a", "title": "t", "rating": "g", "page_url": "https://g", "sticker": false, "renditions": [:],
        ]
        object[key] = nil
        #expect(throws: JSONDecodingError(path: key, message: "is missing")) { try Gif(json: .object(object)) }
    }
}
