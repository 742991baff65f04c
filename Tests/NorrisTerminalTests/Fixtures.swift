import NorrisProtocol
import NorrisTerminal

/// 2026-11-21T12:00:00Z.
let now = Timestamp("2026-11-21T12:00:00Z")!

func ago(_ seconds: Int64) -> Timestamp { Timestamp(seconds: now.seconds - seconds) }

let short = Fact(
    id: "ye0_hnd3rgq68e_pfvsqqg",
    text: "Chuck Norris can instantiate an abstract class.",
    categories: ["dev"],
    source: "chucknorris",
    url: "https://api.chucknorris.io/jokes/ye0_hnd3rgq68e_pfvsqqg"
)

let long = Fact(
    id: "builtin-dev-12",
    text: """
        Chuck Norris once opened a text editor, looked at the screen for a minute and closed it again; the program \
        was finished, tested and documented, and the computer had learned some manners as well.
        """,
    categories: ["dev", "science", "career"],
    source: "builtin"
)

let wide = Fact(
    id: "fortune-1",
    text: "チャック・ノリスは腕立て伏せをしない。地球を押し下げるのだ。👩‍💻 does the rest.",
    categories: [],
    source: "fortune:zh"
)

let verse = Fact(id: "fortune-2", text: "One line,\n\tand another.\n", categories: ["poems"], source: "fortune:poems")

/// What must never reach a terminal: escape sequences, C0, DEL, C1, bidi controls, separators.
let hostile =
    "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{0}\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj\u{1B}"

func screen(_ width: Int?, escapes: Bool = false, _ show: (inout Screen) -> Void) -> String {
    var screen = Screen(layout: Layout(width: width, usesEscapes: escapes))
    show(&screen)
    return screen.text
}

/// The text with escape sequences made visible.
func visible(_ text: String) -> String {
    text.replacing("\u{1B}]8;;", with: "<link ").replacing("\u{1B}\\", with: ">").replacing("\u{1B}[", with: "<")
}

/// The scalars of a text that must not be in any output.
func forbidden(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { scalar in
        switch scalar.value {
        case 0x0A: false
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
