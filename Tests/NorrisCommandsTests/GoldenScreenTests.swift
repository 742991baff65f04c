@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

/// The feed on terminals of 40, 80 and 132 columns, with and without color, and in a pipe. Compared byte for byte with
/// a file below `Golden/`, in which `␛` represents ESC. The transcripts have one screen of every command.
struct GoldenScreenTests {
    private static func post(_ id: String, _ text: String, images: Int = 0, isRead: Bool = false) -> Post {
        let alts = ["A cat on a mat, looking at the camera", nil, "The mat"]
        return Post(
            id: id, source: "town",
            author: Post.Author(id: "town:7", name: "Ada Lovelace", handle: "@ada@town.example"),
            publishedAt: Timestamp("2026-11-21T11:57:00Z"), text: text, tags: ["maths", "engines"],
            images: (0..<images).map { index in
                Post.Image(
                    url: "https://files.example/pic\(index + 1).jpg", width: 640, height: 480,
                    alt: index < alts.count ? alts[index] : nil)
            }, stats: Post.Stats(likes: 12, comments: 1), url: "https://town.example/@ada/\(id)", isRead: isRead)
    }

    private static let essay = """
        The analytical engine has no pretensions whatever to originate anything. It can do whatever we know how to \
        order it to perform. It can follow analysis; but it has no power of anticipating any truths.

        Its province is to assist us in making available what we are already acquainted with.
        """

    @Test func showsAFeedInAllLayouts() throws {
        var arabic = Self.post("town:6", "صباح الخير أيها العالم.", images: 2)
        arabic.author = Post.Author(id: "town:8", name: "شهرزاد", handle: "@shahrazad")
        arabic.images[0].alt = "قطة"
        let posts = [
            Self.post("town:1", "Good morning.", images: 1), Self.post("town:2", Self.essay, images: 2),
            Self.post("town:3", "Three.", images: 3, isRead: true), Self.post("town:5", "Many.", images: 9), arabic,
        ]
        let isFresh = Freshness(origin: .cache, state: .fresh, fetchedAt: Machine.now, ageSeconds: 0)
        let page = PostList.Result(items: posts, total: 366, next: "c", freshness: isFresh)
        let layouts = [40, 80, 132].flatMap { [($0, "dumb"), ($0, "xterm")] } + [(nil, "dumb")] as [(Int?, String)]
        let sections = layouts.map { columns, terminal in
            let machine = Machine(results: page.jsonText)
            machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns)
            machine.environment = ["TERM": terminal]
            let outcome = machine.run("feed", "--limit", "5")
            let title = columns.map { "\($0) columns, \(terminal)" } ?? "a pipe"
            return "=== \(title)\n\(outcome.output)\(outcome.errors)".replacing("\u{1B}", with: "␛")
        }
        try checkGolden("feed.txt", sections.joined(separator: "\n"))
    }
}
