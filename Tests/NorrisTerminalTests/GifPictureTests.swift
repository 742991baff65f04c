import NorrisProtocol
import NorrisTerminal
import Testing

struct GifPictureTests {
    private func gif(_ renditions: [String: Gif.Rendition]) -> Gif {
        Gif(id: "x", title: "", rating: "", pageURL: "", renditions: renditions)
    }

    private func url(_ name: String) -> Gif.Rendition { Gif.Rendition(url: "https://e.org/\(name)") }

    @Test func takesTheBestThatThereIs() {
        var renditions: [String: Gif.Rendition] = [
            "preview": Gif.Rendition(webp: "https://e.org/webp"), "hd": Gif.Rendition(mp4: "https://e.org/mp4"),
        ]
        // Each of these is better than those before it.
        #expect(gif(renditions).picture()?.address == "https://e.org/mp4")
        for name in ["480w_still", "preview_gif", "fixed_width", "fixed_height", "original"] {
            renditions[name] = url(name)
            #expect(gif(renditions).picture()?.address == "https://e.org/\(name)")
        }
        #expect(gif(["preview": Gif.Rendition(webp: "https://e.org/webp")]).picture()?.address == "https://e.org/webp")
        #expect(gif([:]).picture() == nil)
        #expect(gif(["looping": Gif.Rendition(width: 1)]).picture() == nil)
    }

    @Test func takesNoOtherThanTheOneThatWasNamed() {
        let gif = gif(["original": url("o"), "hd": Gif.Rendition(mp4: "https://e.org/hd", webp: "https://e.org/w")])
        #expect(gif.picture("hd")?.address == "https://e.org/hd")
        #expect(gif.picture("original")?.address == "https://e.org/o")
        #expect(gif.picture("fixed_width") == nil)
    }

    @Test(arguments: [
        "javascript:alert(1)", "ftp://e.org/", "//e.org/", "https://e.org/a b", "https://exämple.org/",
        "https://e.org/\n", "https://e.org/\u{1B}[31m", "",
    ])
    func passesOverWhatCannotBePrinted(address: String) {
        let gif = gif(["original": Gif.Rendition(url: address), "downsized": url("d")])
        #expect(gif.picture("original") == nil)
        #expect(gif.picture()?.address == "https://e.org/d")
    }

    @Test func takesAddressesOfAnyLength() {
        let address = "HTTPS://e.org/" + String(repeating: "x", count: 5_000)
        #expect(gif(["original": Gif.Rendition(url: address)]).picture()?.address == address)
    }
}
