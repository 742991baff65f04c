import NorrisProtocol
import Testing

@testable import NorrisFetch

struct GifTests {
    private func gif(_ json: String) -> Gif? {
        JSONItem(item: Array(json.utf8)[...]).flatMap { Gif(giphy: $0) }
    }

    private func gif(with members: String) -> Gif? { gif(#"{"id":"x",\#(members)}"#) }

    private func rendition(_ members: String) -> Gif.Rendition? {
        gif(with: #""images":{"r":\#(members)}"#)?.renditions["r"]
    }

    @Test func aWholeGif() throws {
        let media = RecordedGif.media
        let gif = try #require(self.gif(RecordedGif.json))
        #expect(
            gif
                == Gif(
                    id: "bq2Nk0o7bQhhseGATA", title: "Full House Angel GIF by The Kelly Clarkson Show", rating: "g",
                    pageURL: "https://giphy.com/gifs/kelly-clarkson-show-bq2Nk0o7bQhhseGATA",
                    username: "KellyClarksonShow", altText: "A boy says he is an angel.",
                    renditions: [
                        "original": Gif.Rendition(
                            url: media("giphy.gif"), mp4: media("giphy.mp4"), webp: media("giphy.webp"), width: 480,
                            height: 229, bytes: 976_265, frames: 20),
                        "480w_still": Gif.Rendition(url: media("480w_s.jpg"), width: 480, height: 229),
                        "preview": Gif.Rendition(mp4: media("giphy-preview.mp4"), width: 314, height: 150),
                    ], importedAt: Timestamp("2020-09-22T01:31:35Z"), trendingAt: Timestamp("2022-01-10T04:00:11Z")))
    }

    @Test func anIDIsEnough() {
        let bare = Gif(id: "x", title: "", rating: "", pageURL: "https://giphy.com/gifs/x")
        #expect(gif(#"{"id":"x"}"#) == bare)
        #expect(gif(with: #""username":" ","alt_text":"<p></p>","url":"javascript:alert(1)","new":[1.5]"#) == bare)
    }

    @Test(arguments: [#""is_sticker":1"#, #""is_sticker":null,"type":"sticker""#]) func stickers(members: String) {
        #expect(gif(with: members)?.isSticker == true)
    }

    @Test(
        "An id is a text or a number",
        arguments: [
            (#""-_aZ09""#, "-_aZ09"), ("12345", "12345"), ("null", nil), (#""a b""#, nil), (#""a/../b""#, nil),
            (#""a,b""#, nil), ("1.5", nil), ("[]", nil), ("\"\(String(repeating: "i", count: 65))\"", nil),
            (#""random""#, nil), (#""randoms""#, "randoms"),
        ] as [(String, String?)]
    )
    func ids(json: String, id: String?) { #expect(gif(#"{"id":\#(json)}"#)?.id == id) }

    // MARK: Texts

    @Test(
        "A title may be empty, a space, or not there",
        arguments: [
            (#""""#, ""), (#"" ""#, ""), ("null", ""), ("7", ""), (#""  a  b ""#, "a  b"), (#""a\r\n\tb""#, "a b"),
            (#""a\u001b[31mb\u202ec""#, "abc"), (#""\u200b""#, ""), (#""5 &lt; 6""#, "5 < 6"),
            (#""a <b>b</b><br>c &amp; d""#, "a b c & d"), (#""<3 x < y""#, "<3 x < y"),
        ]
    )
    func titles(json: String, title: String) { #expect(gif(with: #""title":\#(json)"#)?.title == title) }

    @Test func textsAreBounded() throws {
        let long = String(repeating: "☃ ", count: 1000)
        let gif = try #require(self.gif(with: #""title":"\#(long)","username":"\#(long)","alt_text":"\#(long)""#))
        #expect(gif.title == String(long.prefix(299)))
        #expect(gif.username == String(long.prefix(99)))
        #expect(gif.altText == String(long.prefix(999)))
    }

    @Test(arguments: [
        (#""pg-13""#, "pg-13"), ("null", ""), ("18", ""), (#""PG""#, ""), (#""a b""#, ""), (#""abcdefghijk""#, ""),
    ]) func ratings(json: String, rating: String) { #expect(gif(with: #""rating":\#(json)"#)?.rating == rating) }

    @Test(
        "Two dates mean never",
        arguments: [
            (#""2020-09-22 01:31:35""#, "2020-09-22T01:31:35Z"), (#""0000-00-00 00:00:00""#, nil),
            (#""1970-01-01 00:00:00""#, nil), ("null", nil), ("1600738295", "2020-09-22T01:31:35Z"),
        ] as [(String, String?)]
    )
    func times(json: String, time: String?) throws {
        let gif = try #require(self.gif(with: #""import_datetime":\#(json),"trending_datetime":\#(json)"#))
        #expect(gif.importedAt?.description == time)
        #expect(gif.trendingAt?.description == time)
    }

    // MARK: Addresses

    @Test(
        "Addresses of media stay byte for byte",
        arguments: [
            RecordedGif.media("giphy.gif"), RecordedGif.pathMedia, "http://h/?a=%7e%7E&&b=;c='(1)*,!",
            "https://H.example:443/./a/../b?x#y",
        ]
    )
    func media(url: String) {
        let rendition = rendition(#"{"url":"\#(url)","mp4":"\#(url)","webp":"\#(url)"}"#)
        #expect(rendition == Gif.Rendition(url: url, mp4: url, webp: url))
    }

    // MARK: Renditions

    @Test(
        "No picture has more than a million pixels or frames, and 0 means unknown",
        arguments: [
            (#""480""#, 480, 480), ("480", 480, 480), (#""0""#, nil, nil), ("1000001", nil, 1_000_001),
        ] as [(String, Int?, Int?)]
    )
    func numbers(json: String, number: Int?, bytes: Int?) {
        let members = #""width":\#(json),"height":\#(json),"size":\#(json),"frames":\#(json)"#
        let expected = Gif.Rendition(url: "https://h/", width: number, height: number, bytes: bytes, frames: number)
        #expect(rendition(#"{"url":"https://h/",\#(members)}"#) == expected)
    }

    @Test(
        "A rendition without any address is left out",
        arguments: [
            "null", "{}", "[]", "5", #""https://h/""#, #"{"width":"1","height":"1","url":""}"#,
            #"{"url":null,"mp4":5,"webp":"//h/x"}"#,
        ]
    )
    func emptyRenditions(json: String) {
        #expect(gif(with: #""images":{"r":\#(json),"s":{"mp4":"https://h/"}}"#)?.renditions.keys.sorted() == ["s"])
    }

    @Test func namesOfRenditionsAreHarmless() {
        let one = #"{"url":"https://h/"}"#
        let long = String(repeating: "n", count: 41)
        let odd = gif(with: #""images":{"a b":\#(one),"":\#(one),"\u001b":\#(one),"\#(long)":\#(one),"480w":\#(one)}"#)
        #expect(odd?.renditions.keys.sorted() == ["480w"])
    }
}

/// A GIF recorded from api.giphy.com, with some of its members.
enum RecordedGif {
    static let id = "bq2Nk0o7bQhhseGATA"

    /// The media URLs until 2024, with the request in the query.
    static func media(_ file: String) -> String {
        "https://media3.giphy.com/media/\(id)/\(file)?cid=790b7611s2&ep=v1_gifs_search&rid=\(file)&ct=g"
    }

    /// The media URLs since 2024, with the request in the path.
    static let pathMedia = "https://media1.giphy.com/media/v1.Y2lkPTc5MGI3NjExc2VhcmNo+/=/\(id)/giphy.gif"

    static let json = """
        {"type":"gif","id":"\(id)",
        "url":"https://giphy.com/gifs/kelly-clarkson-show-\(id)","slug":"kelly-clarkson-show-\(id)",
        "bitly_url":"https://gph.is/g/Z2rkjmv","embed_url":"https://giphy.com/embed/\(id)",
        "username":"KellyClarksonShow","source":"www.youtube.com/kellyclarksonshow",
        "title":"Full House Angel GIF by The Kelly Clarkson Show","rating":"g","content_url":"","source_tld":"",
        "is_sticker":0,"is_hidden":false,"is_indexable":1,"import_datetime":"2020-09-22 01:31:35",
        "trending_datetime":"2022-01-10 04:00:11","tags":[{"text":"full house"},"angel"],
        "alt_text":"A boy says he is an angel.","is_low_contrast":false,
        "images":{
        "original":{"height":"229","width":"480","size":"976265","url":"\(media("giphy.gif"))","mp4_size":"92050",
        "mp4":"\(media("giphy.mp4"))","webp_size":"343756","webp":"\(media("giphy.webp"))","frames":"20",
        "hash":"a7269ff7c540c5b300f733b964dc6e44"},
        "480w_still":{"height":"229","width":"480","size":"","url":"\(media("480w_s.jpg"))"},
        "preview":{"height":"150","width":"314","mp4_size":"47000","mp4":"\(media("giphy-preview.mp4"))"}},
        "user":{"avatar_url":"https://media1.giphy.com/avatars/k/a.png","banner_image":"",
        "profile_url":"https://giphy.com/KellyClarksonShow/","is_verified":false},
        "analytics":{"onload":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=SEEN"}}}
        """
}
