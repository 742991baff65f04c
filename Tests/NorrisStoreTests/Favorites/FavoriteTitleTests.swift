import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisStore

/// The lines by which favourites are known again.
struct FavoriteTitleTests {
    private func title(_ text: String) -> String {
        Favorite(fact: .upstream("f", text)).title
    }

    @Test func factsByTheirFirstLine() {
        #expect(title("Chuck Norris counts.") == "Chuck Norris counts.")
        #expect(title("\n \nOne,\ttwo\nthree") == "One, two")
        #expect(title("\u{1B}[1mBold\u{1B}[0m\u{202E}") == "Bold")
        #expect(title("\n") == "f")
    }

    @Test func longTitlesAreCutToTheWidthOfATerminal() {
        let wide = title(String(repeating: "功", count: 50))
        #expect(displayWidth(of: wide) <= 80)
        #expect(wide.hasSuffix("…") && wide.count == 40)
        #expect(title(String(repeating: "x", count: 80)).count == 80)
        // Marks that take no column.
        #expect(title("e" + String(repeating: "\u{301}", count: 1_000)).unicodeScalars.count == 200)
        // A title is its own title.
        #expect(Favorite.titleLine(wide) == wide)
    }

    @Test func gifsByTitleOrUser() {
        var gif = Gif(id: "g1", title: "A kick", rating: "g", pageURL: "", username: "walker")
        #expect(Favorite(gif: gif).title == "A kick")
        gif.title = " "
        #expect(Favorite(gif: gif).title == "GIF by walker")
        gif.username = "\n"
        #expect(Favorite(gif: gif).title == "g1")
        gif.username = nil
        #expect(Favorite(gif: gif).title == "g1")
    }

    @Test func postsByTitleTextOrPictures() {
        var post = Post.sample("a:1", "First.\nSecond.")
        post.title = "Title"
        #expect(Favorite(post: post).title == "Title")
        post.title = ""
        #expect(Favorite(post: post).title == "First.")
        // What is to be hidden at first is no title.
        post.isSensitive = true
        #expect(Favorite(post: post).title == "Post by ann")
        post.isSensitive = false
        post.text = nil
        #expect(Favorite(post: post).title == "Post by ann")
        post.images = [.init(url: "https://a.example/1")]
        #expect(Favorite(post: post).title == "1 image by ann")
        post.images.append(.init(url: "https://a.example/2"))
        #expect(Favorite(post: post).title == "2 images by ann")
    }
}
