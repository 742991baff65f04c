import NorrisProtocol
import NorrisTerminal
import Testing

/// Tests of images in a post without text: a line in a feed, and a list of descriptions in the full view.
struct ImageLayoutTests {
    private func lines(_ count: Int, _ width: Int) -> [Substring] {
        cards([post(nil, images: count)], width).split(separator: "\n").filter { $0.hasPrefix("▣") }
    }

    @Test func aFeedHasOneLineForAllImages() {
        #expect(lines(0, 80) == [])
        #expect(lines(1, 80) == ["▣ A cat on a mat, looking at the camera  640×480"])
        #expect(lines(1, 30) == ["▣ A cat on a mat, looking at…"])
        #expect(lines(3, 80) == ["▣ A cat on a mat, looking at the came… · ▣ pic2.jpg · ▣ pic3.jpg"])
        #expect(lines(1_006, 80) == ["▣ A cat on a mat, looking at the came… · ▣ pic2.jpg · +1,004 more"])
        #expect(lines(2, 20) == ["▣ A cat on a mat,…", "▣ pic2.jpg"])
    }

    /// The lines of a whole post below its head, without the foot.
    private func whole(_ images: [Post.Image], _ width: Int, command: String = "") -> [Substring] {
        var post = post(nil)
        (post.images, post.url) = (images, nil)
        let lines = cards([post], width, showsAll: true, command: command).split(separator: "\n")
        return Array(lines.drop { !$0.hasPrefix("▣") }.prefix { !$0.hasPrefix("#") && !$0.hasPrefix("town:") })
    }

    @Test func aWholePostHasTheirNumberAndTheirDescriptions() {
        func image(_ alt: String?, _ title: String? = nil) -> Post.Image {
            Post.Image(url: "https://e.org/8f3a.jpg", width: 640, height: 480, alt: alt, title: title)
        }
        #expect(whole([], 80) == [])
        #expect(whole([image(nil)], 80) == ["▣ 1 image"])
        #expect(
            whole([image(nil), image(" ")], 80, command: "norrisctl post 2 --show") == [
                "▣ 2 images: norrisctl post 2 --show"
            ])
        #expect(
            whole([image("A cat"), image(nil), image("A mat", "The joke"), image("A", "A")], 80) == [
                "▣ 4 images", "- A cat", "- A mat", "  The joke", "- A",
            ])
        #expect(
            whole([image("A cat on a mat")], 12, command: "norrisctl post") == [
                "▣ 1 image", "norrisctl post", "- A cat on a", "  mat",
            ])
    }

    /// The text of a post with marks shows the descriptions of its pictures.
    @Test func whatTheTextSaysOfThemIsNotSaidAgain() {
        var post = post(nil)
        let other = "![](https://e.org/2)"
        post.markdown = "![A cat](https://e.org/1)\(other)Text (\(other)) and \(other)"
        func image(_ number: Int) -> Post.Image {
            Post.Image(url: "https://e.org/\(number)", alt: "A cat", title: "The joke of \(number)")
        }
        post.images = [image(1), image(2), image(3)]
        #expect(
            cards([post], 80, showsAll: true, command: "").contains(
                """

                ▣ A cat ▣ image Text (▣ image) and ▣ image
                ▣ 3 images
                - The joke of 1
                - The joke of 2
                - A cat
                  The joke of 3

                """))
        post.images = [image(1)]
        post.images[0].title = nil
        #expect(!cards([post], 80, showsAll: true, command: "").contains("1 image"))
        #expect(cards([post], 80, showsAll: true, command: "norrisctl").contains("\n▣ 1 image: norrisctl\n"))
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
