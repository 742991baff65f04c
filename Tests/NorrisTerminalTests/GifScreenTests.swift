import NorrisProtocol
import NorrisTerminal
import Testing

struct GifScreenTests {
    private let bare = Gif(id: "x", title: " ", rating: "", pageURL: "")

    @Test func printsAddressesByteForByte() {
        let url = "https://media.example/v1.Y2lk/giphy.gif?cid=1&rid=giphy.gif&ct=g"
        let gif = Gif(id: "x", title: "", rating: "", pageURL: "", renditions: ["downsized": Gif.Rendition(url: url)])
        for escapes in [true, false] {
            #expect(screen(nil, escapes: escapes) { $0.addresses(of: [gif, bare]) } == url + "\n")
        }
    }

    @Test(arguments: [
        ("Cat GIF", "https://e.org/a.gif?b=c&d=e", "![Cat GIF](https://e.org/a.gif?b=c&d=e)"),
        ("a](http://evil) ![b", "https://e.org/", #"![a\](http://evil) !\[b](https://e.org/)"#),
        (#"\ ` * _ < > & ~ | $"#, "https://e.org/", #"![\\ \` \* \_ \< \> \& \~ \| \$](https://e.org/)"#),
        ("t", "https://e.org/a(b)c", "![t](https://e.org/a%28b%29c)"),
        ("t", "https://e.org/a)<b>\\`|&copy;", "![t](https://e.org/a%29%3Cb%3E%5C%60%7C&copy%3B)"),
        ("two\nlines\tand a tab", "https://e.org/", "![two lines and a tab](https://e.org/)"),
        ("", "https://e.org/", "![untitled](https://e.org/)"),
    ]) func escapesMarkdown(title: String, url: String, line: String) {
        let gif = Gif(id: "x", title: title, rating: "", pageURL: "", renditions: ["original": Gif.Rendition(url: url)])
        #expect(screen(nil) { $0.markdown(of: [gif, bare]) } == line + "\n")
    }
}

struct GifPictureTests {
    private func gif(_ renditions: [String: Gif.Rendition]) -> Gif {
        Gif(id: "x", title: "", rating: "", pageURL: "", renditions: renditions)
    }

    private func url(_ name: String) -> Gif.Rendition { Gif.Rendition(url: "https://e.org/\(name)") }

    @Test func takesTheBestThatThereIs() {
        var renditions: [String: Gif.Rendition] = [
            "preview": Gif.Rendition(webp: "https://e.org/webp"), "hd": Gif.Rendition(mp4: "https://e.org/mp4"),
        ]
        // Each rendition is preferred to the renditions before.
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
        "javascript:alert(1)", "//e.org/", "https://e.org/a b", "https://exämple.org/", "https://e.org/\u{1B}[31m", "",
    ]) func passesOverWhatCannotBePrinted(address: String) {
        let gif = gif(["original": Gif.Rendition(url: address), "downsized": url("d")])
        #expect(gif.picture("original") == nil)
        #expect(gif.picture()?.address == "https://e.org/d")
    }
}
