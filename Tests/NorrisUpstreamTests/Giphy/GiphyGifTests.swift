import NorrisProtocol
import Testing

@testable import NorrisUpstream

struct GiphyGifTests {
    private func gif(_ json: String) -> Gif? {
        (try? JSON.parse(json)).flatMap { Gif(giphy: $0, .untimed) }
    }

    /// An item with these members besides an id.
    private func gif(with members: String) -> Gif? {
        gif(#"{"id":"x",\#(members)}"#)
    }

    /// The rendition `r` with these members.
    private func rendition(_ members: String) -> Gif.Rendition? {
        gif(with: #""images":{"r":\#(members)}"#)?.renditions["r"]
    }

    @Test func aWholeGif() throws {
        let media = RecordedGif.media
        let gif = try #require(self.gif(RecordedGif.json))
        #expect(
            gif == Gif(
                id: "bq2Nk0o7bQhhseGATA",
                title: "Full House Angel GIF by The Kelly Clarkson Show",
                rating: "g",
                pageURL: "https://giphy.com/gifs/kelly-clarkson-show-bq2Nk0o7bQhhseGATA",
                username: "KellyClarksonShow",
                altText: "A boy says he is an angel.",
                renditions: [
                    "original": Gif.Rendition(
                        url: media("giphy.gif"), mp4: media("giphy.mp4"), webp: media("giphy.webp"), width: 480,
                        height: 229, bytes: 976_265, frames: 20
                    ),
                    "fixed_width": Gif.Rendition(
                        url: media("200w.gif"), mp4: media("200w.mp4"), webp: media("200w.webp"), width: 200,
                        height: 95, bytes: 151_294
                    ),
                    "fixed_width_downsampled": Gif.Rendition(
                        url: media("200w_d.gif"), webp: media("200w_d.webp"), width: 200, height: 95, bytes: 45_000
                    ),
                    "480w_still": Gif.Rendition(url: media("480w_s.jpg"), width: 480, height: 229),
                    "preview": Gif.Rendition(mp4: media("giphy-preview.mp4"), width: 314, height: 150),
                    "looping": Gif.Rendition(mp4: media("giphy-loop.mp4")),
                ],
                importedAt: Timestamp("2020-09-22T01:31:35Z"),
                trendingAt: Timestamp("2022-01-10T04:00:11Z")
            )
        )
    }

    @Test func anIDIsEnough() {
        #expect(gif(#"{"id":"x"}"#) == Gif(id: "x", title: "", rating: "", pageURL: "https://giphy.com/gifs/x"))
    }

    @Test(
        "An id is a text or a number",
        arguments: [
            (#""-_aZ09""#, "-_aZ09"), ("12345", "12345"), ("0", "0"), ("null", nil), (#""""#, nil), (#""a b""#, nil),
            (#""a/../b""#, nil), (#""a,b""#, nil), (#""é""#, nil), ("1.5", nil), ("true", nil), ("[]", nil),
            (#""a\u0000""#, nil), ("\"\(String(repeating: "i", count: 65))\"", nil),
            ("\"\(String(repeating: "i", count: 64))\"", String(repeating: "i", count: 64)),
            (#""random""#, nil), (#""randoms""#, "randoms"),
        ] as [(String, String?)]
    )
    func ids(json: String, id: String?) {
        #expect(gif(#"{"id":\#(json)}"#)?.id == id)
    }

    @Test(arguments: ["5", "[]", "null", "\"x\"", "{}", #"{"title":"x"}"#])
    func theseAreNone(json: String) {
        #expect(gif(json) == nil)
    }

    // MARK: Texts

    @Test(
        "A title may be empty, a space, or not there",
        arguments: [
            (#""""#, ""), (#"" ""#, ""), ("null", ""), ("7", ""), (#""  a  b ""#, "a  b"), (#""a\r\n\tb""#, "a b"),
            (#""a\u001b[31mb\u202ec""#, "abc"), (#""\u200b""#, ""), (#""5 &lt; 6""#, "5 < 6"),
            (#""a <b>b</b><br>c &amp; d""#, "a b c & d"), (#""<3 x < y""#, "<3 x < y"),
        ]
    )
    func titles(json: String, title: String) {
        #expect(gif(with: #""title":\#(json)"#)?.title == title)
    }

    @Test(
        "A username or alternative text that is empty is none",
        arguments: [
            (#""""#, nil), (#"" ""#, nil), ("null", nil), ("7", nil), ("{}", nil), (#"" Some one ""#, "Some one"),
            (#""<i>Some</i> &eacute;""#, "Some é"), (#""<p></p>""#, nil),
        ] as [(String, String?)]
    )
    func optionalTexts(json: String, text: String?) throws {
        let gif = try #require(self.gif(with: #""username":\#(json),"alt_text":\#(json)"#))
        #expect(gif.username == text)
        #expect(gif.altText == text)
    }

    @Test func textsAreBounded() throws {
        let long = String(repeating: "☃ ", count: 1000)
        let gif = try #require(self.gif(with: #""title":"\#(long)","username":"\#(long)","alt_text":"\#(long)""#))
        #expect(gif.title == String(long.prefix(299)))
        #expect(gif.username == String(long.prefix(99)))
        #expect(gif.altText == String(long.prefix(999)))
    }

    @Test(
        arguments: [
            (#""g""#, "g"), (#""pg-13""#, "pg-13"), (#""y""#, "y"), (#""nsfw2""#, "nsfw2"), (#""""#, ""),
            ("null", ""), ("18", ""), (#""PG""#, ""), (#""a b""#, ""), (#""a_b""#, ""), (#""é""#, ""),
            (#""abcdefghij""#, "abcdefghij"), (#""abcdefghijk""#, ""),
        ]
    )
    func ratings(json: String, rating: String) {
        #expect(gif(with: #""rating":\#(json)"#)?.rating == rating)
    }

    @Test(
        "A flag is 0, 1 or a Boolean; without one the type tells",
        arguments: [
            (#""is_sticker":0"#, false), (#""is_sticker":1"#, true), (#""is_sticker":true"#, true),
            (#""is_sticker":false,"type":"sticker""#, false), (#""is_sticker":"1""#, true),
            (#""is_sticker":null,"type":"sticker""#, true), (#""type":"sticker""#, true), (#""type":"gif""#, false),
            (#""is_sticker":"no""#, false), (#""is_sticker":[]"#, false),
        ]
    )
    func stickers(members: String, isSticker: Bool) {
        #expect(gif(with: members)?.isSticker == isSticker)
    }

    @Test(
        "Two dates mean never",
        arguments: [
            (#""2020-09-22 01:31:35""#, "2020-09-22T01:31:35Z"), (#""0000-00-00 00:00:00""#, nil),
            (#""1970-01-01 00:00:00""#, nil), (#""1970-01-01 00:00:01""#, "1970-01-01T00:00:01Z"), (#""""#, nil),
            ("null", nil), ("1600738295", nil), (#""2020-02-30 01:31:35""#, nil), (#""2020-09-22""#, nil),
            (#""2020-09-22  01:31:35""#, nil), (#""yesterday""#, nil),
        ] as [(String, String?)]
    )
    func times(json: String, time: String?) throws {
        let gif = try #require(self.gif(with: #""import_datetime":\#(json),"trending_datetime":\#(json)"#))
        #expect(gif.importedAt?.description == time)
        #expect(gif.trendingAt?.description == time)
    }

    @Test func unknownMembersOfAnyTypeDoNotMatter() {
        let members = #""user":null,"tags":[{"text":"x"}],"analytics":7,"source_post_url":"www.x","new":{"a":[1.5]}"#
        #expect(gif(with: members) == gif(#"{"id":"x"}"#))
    }

    // MARK: Addresses

    @Test(
        "A page's address that has no scheme is made anew",
        arguments: [
            #""www.giphy.com/x""#, #""""#, "null", "5", #""javascript:alert(1)""#, #""ftp://h/x""#, #""https://h/ x""#,
            #""https://h/\u001b""#, #""https://h/é""#,
        ]
    )
    func pages(json: String) {
        #expect(gif(with: #""url":\#(json)"#)?.pageURL == "https://giphy.com/gifs/x")
    }

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

    @Test func anAddressIsBounded() {
        let url = "https://h/" + String(repeating: "x", count: 2073)
        #expect(rendition(#"{"url":"\#(url)","mp4":"\#(url)x"}"#) == Gif.Rendition(url: url))
    }

    // MARK: Renditions

    @Test func picturesAreNotTooLarge() {
        #expect(
            rendition(#"{"url":"https://h/","width":1000001,"height":"1000001","frames":1000001,"size":1000001}"#)
                == Gif.Rendition(url: "https://h/", bytes: 1_000_001)
        )
        #expect(rendition(#"{"url":"https://h/","size":"9007199254740992"}"#)?.bytes == 1 << 53)
        #expect(rendition(#"{"url":"https://h/","size":"9007199254740993"}"#)?.bytes == nil)
    }

    @Test(
        "Numbers are texts, now and then numbers, and without meaning when empty, 0 or no number",
        arguments: [
            (#""480""#, 480), ("480", 480), ("480.0", 480), (#""0480""#, 480), (#""""#, nil), (#""0""#, nil),
            ("0", nil), ("null", nil), (#""-1""#, nil), ("-1", nil), (#""+1""#, nil), (#"" 1""#, nil), (#""1e3""#, nil),
            (#""many""#, nil), ("1.5", nil), ("true", nil), (#""99999999999999999999""#, nil), (#""٣""#, nil),
            (#""1000000""#, 1_000_000),
        ] as [(String, Int?)]
    )
    func numbers(json: String, number: Int?) {
        let rendition = rendition(
            #"{"url":"https://h/","width":\#(json),"height":\#(json),"size":\#(json),"frames":\#(json)}"#
        )
        #expect(
            rendition == Gif.Rendition(
                url: "https://h/", width: number, height: number, bytes: number, frames: number
            )
        )
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

    @Test("Without renditions it is still a GIF", arguments: ["null", "{}", "[]", "5", #""""#])
    func noRenditions(json: String) {
        #expect(gif(with: #""images":\#(json)"#) == gif(#"{"id":"x"}"#))
    }

    @Test func namesOfRenditionsAreHarmlessAndNotTooMany() {
        let one = #"{"url":"https://h/"}"#
        let long = String(repeating: "n", count: 41)
        let odd = gif(with: #""images":{"a b":\#(one),"":\#(one),"\u001b":\#(one),"\#(long)":\#(one),"480w":\#(one)}"#)
        #expect(odd?.renditions.keys.sorted() == ["480w"])
        let many = (0..<100).map { #""r\#($0)":\#(one)"# }.joined(separator: ",")
        #expect(gif(with: #""images":{\#(many)}"#)?.renditions.count == 64)
    }
}
