import NorrisProtocol
import NorrisTerminal
import Testing

/// The boxes of a post without a text.
struct ImageLayoutTests {
    private func boxes(_ count: Int, _ width: Int, showsAll: Bool = false) -> String {
        let lines = cards([post(nil, images: count)], width, showsAll: showsAll).split(separator: "\n")
        return lines.filter { "┌│└".contains($0.first!) }.map { "\($0)\n" }.joined()  // No line is empty.
    }

    @Test func needsNoBoxWithoutImages() {
        #expect(boxes(0, 80) == "")
    }

    @Test func putsOneAboveARowOfMore() {
        #expect(boxes(4, 80) == boxes(1, 80) + """
            ┌────────────────────────┐ ┌────────────────────────┐ ┌────────────────────────┐
            │ pic2.jpg       640×480 │ │ pic3.jpg       640×480 │ │ pic4.jpg       640×480 │
            └────────────────────────┘ └────────────────────────┘ └────────────────────────┘

            """)
        #expect(boxes(5, 80) == boxes(1, 80) + """
            ┌──────────────────┐ ┌─────────────────┐ ┌─────────────────┐ ┌─────────────────┐
            │ pic2.jpg         │ │ pic3.jpg        │ │ pic4.jpg        │ │ pic5.jpg        │
            └──────────────────┘ └─────────────────┘ └─────────────────┘ └─────────────────┘

            """)
        #expect(boxes(5, 50) == boxes(1, 50) + """
            ┌───────────────────────┐ ┌──────────────────────┐
            │ pic2.jpg      640×480 │ │ +3 more              │
            └───────────────────────┘ └──────────────────────┘

            """)
        #expect(boxes(1_006, 80) == boxes(1, 80) + """
            ┌──────────────────┐ ┌─────────────────┐ ┌─────────────────┐ ┌─────────────────┐
            │ pic2.jpg         │ │ pic3.jpg        │ │ pic4.jpg        │ │ +1,002 more     │
            └──────────────────┘ └─────────────────┘ └─────────────────┘ └─────────────────┘

            """)
    }

    @Test func putsThemBelowEachOtherWhereItIsNarrow() {
        #expect(boxes(2, 20) == boxes(1, 20) + """
            ┌──────────────────┐
            │ pic2.jpg         │
            └──────────────────┘

            """)
        #expect(boxes(3, 20) == boxes(2, 20) + """
            ┌──────────────────┐
            │ pic3.jpg         │
            └──────────────────┘

            """)
        #expect(boxes(5, 20) == boxes(2, 20) + """
            ┌──────────────────┐
            │ +3 more          │
            └──────────────────┘

            """)
        // Two of eighteen columns and the gap between them.
        #expect(boxes(2, 36).split(separator: "\n").count == 6)
        #expect(boxes(2, 37).split(separator: "\n").count == 3)
    }

    @Test func takesMoreRowsWhereAllAreShown() {
        #expect(boxes(7, 50, showsAll: true) == boxes(3, 50) + """
            ┌───────────────────────┐ ┌──────────────────────┐
            │ pic4.jpg      640×480 │ │ pic5.jpg     640×480 │
            └───────────────────────┘ └──────────────────────┘
            ┌───────────────────────┐ ┌──────────────────────┐
            │ pic6.jpg      640×480 │ │ pic7.jpg     640×480 │
            └───────────────────────┘ └──────────────────────┘

            """)
    }

    @Test func leavesTheFrameOutOfVeryNarrowOnes() {
        #expect(cards([post(nil, images: 1)], 8).contains("\n┌──────┐\n│ A c… │\n└──────┘\n"))
        #expect(cards([post(nil, images: 1)], 7).contains("\nA cat…\n"))
    }

    @Test(arguments: [
        ("https://example.org/a/b.png", nil, "b.png"), ("https://example.org/a/b.png?x=/y#z/", nil, "b.png"),
        ("https://example.org/", nil, "example.org"), ("https://example.org", nil, "example.org"),
        ("https://", nil, "image"), ("", nil, "image"), ("b.png", nil, "b.png"), ("/a/b.png", nil, "b.png"),
        ("https://example.org/b.png", " \n", "b.png"), ("https://example.org/b.png", "Two\n lines", "Two lines"),
        ("https://example.org/橋.png", "🌉 橋", "🌉 橋"),
    ] as [(String, String?, String)])
    func namesAnImage(url: String, alt: String?, label: String) {
        var post = post(nil)
        post.images = [Post.Image(url: url, alt: alt)]
        #expect(cards([post], 40).contains("\n│ \(label) "))
    }

    @Test(arguments: [(640, nil), (nil, 480), (0, 480), (640, 0), (-1, 480), (nil, nil)] as [(Int?, Int?)])
    func tellsNoSizeThatIsNotKnown(width: Int?, height: Int?) {
        var post = post(nil)
        post.images = [Post.Image(url: "https://example.org/b.png", width: width, height: height)]
        #expect(!cards([post], 80).contains("×"))
    }

    @Test func linksEachBoxToItsImage() {
        let text = visible(cards([post(nil, images: 9)], 80, escapes: true))
        for index in 1...4 {
            #expect(text.contains("<link https://files.example/pic\(index).jpg?size=large>"))
        }
        #expect(text.contains("<link https://town.example/@ada/109>+5 more<link >"))
        #expect(!text.contains("pic5"))
    }
}
