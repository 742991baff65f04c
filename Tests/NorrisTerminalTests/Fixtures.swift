import Glibc
import NorrisProtocol
import NorrisTerminal

let now = Timestamp("2026-11-21T12:00:00Z")!

/// Sets the time zone of the process, because some texts have a local time.
func setUTC() { _ = utc }

private let utc: Void = {
    setenv("TZ", "UTC", 1)
    tzset()
}()

func ago(_ seconds: Int64) -> Timestamp { Timestamp(seconds: now.seconds - seconds) }

/// Characters that must never reach a terminal: escape sequences, C0, DEL, C1, bidi controls, separators.
let hostile =
    "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{0}\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj\u{1B}"

func screen(_ width: Int?, escapes: Bool = false, _ show: (inout Screen) -> Void) -> String {
    var screen = Screen(layout: Layout(width: width, usesEscapes: escapes))
    show(&screen)
    return screen.text
}

/// Returns the text with visible escape sequences.
func visible(_ text: String) -> String {
    text.replacing("\u{1B}]8;;", with: "<link ").replacing("\u{1B}\\", with: ">").replacing("\u{1B}[", with: "<")
}

func forbidden(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { scalar in
        switch scalar.value {
        case 0x0A: false
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

let ada = Post.Author(
    id: "town:7", name: "Ada Lovelace", handle: "@ada@town.example", avatarURL: "https://town.example/ada.png",
    email: "ada@town.example")

func post(_ text: String? = "Good morning.", images: Int = 0) -> Post {
    Post(
        id: "town:109", source: "town", author: ada, publishedAt: ago(180), text: text,
        images: (0..<images).map { index in
            Post.Image(
                url: "https://files.example/pic\(index + 1).jpg?size=large", width: 640, height: 480,
                alt: index == 0 ? "A cat on a mat, looking at the camera" : nil)
        }, url: "https://town.example/@ada/109", isRead: true)
}

/// The cards of posts.
///
/// - Parameter command: the command of each card; nil for the command that shows the post.
func cards(
    _ posts: [Post], _ width: Int?, escapes: Bool = false, showsAll: Bool = false, command: String? = nil
) -> String {
    screen(width, escapes: escapes) { screen in
        screen.posts(posts, as: showsAll ? .whole : .excerpt, now: now) { post, _ in
            command ?? "norrisctl post \(post.id)"
        }
    }
}
