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

let short = Fact(
    id: "ye0_hnd3rgq68e_pfvsqqg", text: "Chuck Norris can instantiate an abstract class.", categories: ["dev"],
    source: "chucknorris", url: "https://api.chucknorris.io/jokes/ye0_hnd3rgq68e_pfvsqqg")

let long = Fact(
    id: "builtin-dev-12",
    text: """
        Chuck Norris once opened a text editor, looked at the screen for a minute and closed it again; the program \
        was finished, tested and documented, and the computer had learned some manners as well.
        """, categories: ["dev", "science", "career"], source: "builtin")

let wide = Fact(
    id: "fortune-1", text: "チャック・ノリスは腕立て伏せをしない。地球を押し下げるのだ。👩‍💻 does the rest.", categories: [], source: "fortune:zh")

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

let angel = Gif(
    id: "bq2Nk0o7bQhhseGATA", title: "Full House Angel GIF by The Kelly Clarkson Show", rating: "g",
    pageURL: "https://giphy.com/gifs/kelly-clarkson-show-bq2Nk0o7bQhhseGATA", username: "KellyClarksonShow",
    altText: "A man in a white suit looks up, spreads two large wings and leaves through the ceiling.",
    renditions: [
        "original": Gif.Rendition(
            url: "https://media2.giphy.com/media/v1.Y2lk/bq2Nk0o7bQhhseGATA/giphy.gif?cid=1&rid=giphy.gif&ct=g",
            mp4: "https://media2.giphy.com/angel.mp4", width: 480, height: 229, bytes: 954_321, frames: 20),
        "fixed_height": Gif.Rendition(url: "https://media2.giphy.com/angel-200.gif", width: 419, height: 200),
        "original_still": Gif.Rendition(url: "https://media2.giphy.com/angel.jpg", width: 480, height: 229),
        "preview": Gif.Rendition(mp4: "https://media2.giphy.com/preview.mp4", width: 200, height: 96, bytes: 50_000),
    ])

let bare = Gif(id: "x", title: " ", rating: "", pageURL: "")

let nameless = Gif(
    id: "3o7", title: "", rating: "pg-13", pageURL: "https://giphy.com/gifs/3o7", username: "studio", altText: " ",
    isSticker: true, renditions: ["downsized": Gif.Rendition(url: "http://media.example/d.gif", frames: 1)])

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

let essay = """
    The analytical engine has no pretensions whatever to originate anything. It can do whatever we know how to order \
    it to perform. It can follow analysis; but it has no power of anticipating any truths.

    Its province is to assist us in making available what we are already acquainted with.
    """

func cards(_ posts: [Post], _ width: Int?, escapes: Bool = false, showsAll: Bool = false) -> String {
    screen(width, escapes: escapes) { screen in
        screen.posts(posts, now: now, showsAll: showsAll) { "norrisctl post \($0)" }
    }
}
