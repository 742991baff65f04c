import NorrisProtocol
import NorrisTerminal
import Testing

/// Tests of images in a post without text: a line in a feed, and boxes in the full view.
struct ImageLayoutTests {
    private func boxes(_ count: Int, _ width: Int) -> String {
        let lines = cards([post(nil, images: count)], width, showsAll: true).split(separator: "\n")
        return lines.filter { "┌│└".contains($0.first!) }.map { "\($0)\n" }.joined()  // No line is empty.
    }

    private func lines(_ count: Int, _ width: Int) -> [Substring] {
        cards([post(nil, images: count)], width).split(separator: "\n").filter { $0.hasPrefix("▣") }
    }

    @Test func aFeedHasOneLineForAllImages() {
        #expect(boxes(0, 80) == "")
        #expect(lines(0, 80) == [])
        #expect(lines(1, 80) == ["▣ A cat on a mat, looking at the camera  640×480"])
        #expect(lines(1, 30) == ["▣ A cat on a mat, looking at…"])
        #expect(lines(3, 80) == ["▣ A cat on a mat, looking at the came… · ▣ pic2.jpg · ▣ pic3.jpg"])
        #expect(lines(1_006, 80) == ["▣ A cat on a mat, looking at the came… · ▣ pic2.jpg · +1,004 more"])
        #expect(lines(2, 20) == ["▣ A cat on a mat,…", "▣ pic2.jpg"])
    }

    @Test func putsOneAboveARowOfMore() {
        #expect(
            boxes(4, 80) == boxes(1, 80) + """
                ┌────────────────────────┐ ┌────────────────────────┐ ┌────────────────────────┐
                │ pic2.jpg       640×480 │ │ pic3.jpg       640×480 │ │ pic4.jpg       640×480 │
                └────────────────────────┘ └────────────────────────┘ └────────────────────────┘

                """)
        #expect(
            boxes(7, 50) == boxes(3, 50) + """
                ┌───────────────────────┐ ┌──────────────────────┐
                │ pic4.jpg      640×480 │ │ pic5.jpg     640×480 │
                └───────────────────────┘ └──────────────────────┘
                ┌───────────────────────┐ ┌──────────────────────┐
                │ pic6.jpg      640×480 │ │ pic7.jpg     640×480 │
                └───────────────────────┘ └──────────────────────┘

                """)
    }

    @Test func putsThemBelowEachOtherWhereItIsNarrow() {
        #expect(
            boxes(2, 20) == boxes(1, 20) + """
                ┌──────────────────┐
                │ pic2.jpg         │
                └──────────────────┘

                """)
        #expect(
            boxes(3, 20) == boxes(2, 20) + """
                ┌──────────────────┐
                │ pic3.jpg         │
                └──────────────────┘

                """)
        // Two boxes of 18 columns and the gap between them.
        #expect(boxes(2, 36).split(separator: "\n").count == 7)
        #expect(boxes(2, 37).split(separator: "\n").count == 5)
    }

    @Test(
        arguments: [
            ("https://example.org/a/b.png?x=/y#z/", nil, "b.png"), ("https://example.org/", nil, "example.org"),
            ("https://", nil, "image"), ("", nil, "image"), ("b.png", nil, "b.png"),
            ("https://example.org/b.png", " \n", "b.png"), ("https://example.org/b.png", "Two\n lines", "Two lines"),
        ] as [(String, String?, String)])
    func namesAnImage(url: String, alt: String?, label: String) {
        var post = post(nil)
        post.images = [Post.Image(url: url, alt: alt)]
        #expect(cards([post], 40).contains("\n▣ \(label)\n"))
    }

    @Test(arguments: [(640, nil), (0, 480), (-1, 480), (nil, nil)] as [(Int?, Int?)])
    func tellsNoSizeThatIsNotKnown(width: Int?, height: Int?) {
        var post = post(nil)
        post.images = [Post.Image(url: "https://example.org/b.png", width: width, height: height)]
        #expect(!cards([post], 80).contains("×"))
    }

    @Test func linksEachToItsImage() {
        let text = visible(cards([post(nil, images: 9)], 80, escapes: true))
        for index in 1...2 { #expect(text.contains("<link https://files.example/pic\(index).jpg?size=large>")) }
        #expect(text.contains("<link https://town.example/@ada/109><2m+7 more<0m<link >"))
        #expect(!text.contains("pic3"))
    }
}
