import NorrisProtocol
import NorrisTerminal
import Testing

struct GifScreenTests {
    @Test func wrapsTo80Columns() {
        #expect(screen(80) { $0.gifs([angel, bare]) } == """
            Full House Angel GIF by The Kelly Clarkson Show
            480×229 · 20 frames · 932 KiB · g · by KellyClarksonShow
            A man in a white suit looks up, spreads two large wings and leaves through the
            ceiling.
            https://media2.giphy.com/media/v1.Y2lk/bq2Nk0o7bQhhseGATA/giphy.gif?cid=1&rid=giphy.gif&ct=g
            bq2Nk0o7bQhhseGATA

            untitled
            x

            Powered by GIPHY

            """)
    }

    @Test func wrapsTo40Columns() {
        #expect(screen(40) { $0.gifs([angel, nameless, cats], rendition: nil) } == """
            Full House Angel GIF by The Kelly
            Clarkson Show
            480×229 · 20 frames · 932 KiB · g
            by KellyClarksonShow
            A man in a white suit looks up, spreads
            two large wings and leaves through the
            ceiling.
            https://media2.giphy.com/media/v1.Y2lk/bq2Nk0o7bQhhseGATA/giphy.gif?cid=1&rid=giphy.gif&ct=g
            bq2Nk0o7bQhhseGATA

            GIF by studio
            1 frame · pg-13 · sticker
            http://media.example/d.gif
            3o7

            猫がキーボードの上を歩いている、とても長
            い題名のジフ
            100×80 · g
            https://media.example/cat.gif
            猫

            Powered by GIPHY

            """)
    }

    @Test func showsTheRenditionThatIsAskedFor() {
        let lines = screen(80) { $0.gifs([angel], rendition: "preview") }.split(separator: "\n")
        // The size in bytes is that of a picture, and this is a film.
        #expect(lines[1] == "200×96 · g · by KellyClarksonShow")
        #expect(lines[4] == "https://media2.giphy.com/preview.mp4")
    }

    @Test func linksTheTitleAndTheId() {
        var gif = nameless
        gif.pageURL = "javascript:alert(1)"
        #expect(visible(screen(80, escapes: true) { $0.gifs([nameless, gif]) }) == """
            <link http://media.example/d.gif><1mGIF by studio<0m<link >
            <2m1 frame<0m<2m · <0m<2mpg-13<0m<2m · <0m<2msticker<0m
            http://media.example/d.gif
            <link https://giphy.com/gifs/3o7><2m3o7<0m<link >

            <link http://media.example/d.gif><1mGIF by studio<0m<link >
            <2m1 frame<0m<2m · <0m<2mpg-13<0m<2m · <0m<2msticker<0m
            http://media.example/d.gif
            <2m3o7<0m

            <2mPowered by GIPHY<0m

            """)
    }

    @Test func printsOneLineAGifToAPipe() {
        #expect(screen(nil) { $0.gifs([nameless, bare]) } == """
            3o7\tGIF by studio\thttp://media.example/d.gif\tPowered by GIPHY
            x\tuntitled\t-\tPowered by GIPHY

            """)
        #expect(screen(nil) { $0.gifs([]) } == "")
        #expect(screen(80) { $0.gifs([]) } == "")
    }

    @Test func printsAddressesByteForByte() {
        #expect(screen(nil) { $0.addresses(of: [angel, bare, nameless]) } == """
            https://media2.giphy.com/media/v1.Y2lk/bq2Nk0o7bQhhseGATA/giphy.gif?cid=1&rid=giphy.gif&ct=g
            http://media.example/d.gif

            """)
        #expect(screen(nil, escapes: true) { $0.addresses(of: [nameless]) } == "http://media.example/d.gif\n")
    }

    @Test(arguments: [
        ("Cat GIF", "https://e.org/a.gif?b=c&d=e", "![Cat GIF](https://e.org/a.gif?b=c&d=e)"),
        ("a](http://evil) ![b", "https://e.org/", #"![a\](http://evil) !\[b](https://e.org/)"#),
        (#"\ ` * _ < > & ~ | $"#, "https://e.org/", #"![\\ \` \* \_ \< \> \& \~ \| \$](https://e.org/)"#),
        ("t", "https://e.org/a(b)c", "![t](https://e.org/a%28b%29c)"),
        ("t", "https://e.org/a)<b>\\`|&copy;", "![t](https://e.org/a%29%3Cb%3E%5C%60%7C&copy%3B)"),
        ("two\nlines\tand a tab", "https://e.org/", "![two lines and a tab](https://e.org/)"),
        ("", "https://e.org/", "![untitled](https://e.org/)"),
    ])
    func escapesMarkdown(title: String, url: String, line: String) {
        let gif = Gif(
            id: "x", title: title, rating: "", pageURL: "", renditions: ["original": Gif.Rendition(url: url)]
        )
        #expect(screen(nil) { $0.markdown(of: [gif, bare]) } == line + "\n")
    }

    @Test(arguments: [1, 7, 40, 80, nil])
    func letsNoControlCharacterThrough(width: Int?) {
        let rendition = Gif.Rendition(
            url: hostile, mp4: "https://e.org/\(hostile)", webp: hostile, width: -1, bytes: -1
        )
        let gif = Gif(
            id: hostile, title: hostile, rating: hostile, pageURL: hostile, username: hostile, altText: hostile + "!",
            renditions: ["original": rendition, hostile: Gif.Rendition(url: "https://e.org/")]
        )
        let text = screen(width) { $0.gifs([gif, gif]) }
        #expect(forbidden(in: text.replacing("\t", with: "")) == [])
        #expect(forbidden(in: screen(width) { $0.markdown(of: [gif]) }) == [])
        #expect(screen(width) { $0.addresses(of: [gif]) } == "https://e.org/\n")
        #expect(screen(width) { $0.gifs([gif], rendition: "original") }.contains("e.org") == false)
    }
}
