import Foundation
import NorrisProtocol
import Testing

@testable import NorrisCards

/// Cards compared with files below `Golden/`, drawn with fonts-inter, fonts-noto-core, fonts-noto-cjk and
/// fonts-noto-color-emoji of Debian 12. `NORRIS_UPDATE_DOCUMENTS=1` writes the files; look at them.
struct GoldenCardTests {
    /// Another version of a library may move an edge by part of a pixel. An added, missing or moved letter (by a pixel
    /// or two) exceeds these limits, as do the fonts of Debian 13.
    private static let largestMean: Float = 0.008
    private static let largestWorst: Float = 0.2

    private static let facts: [String: Fact] = [
        "emoji": fact("👨‍👩‍👧‍👦 🇩🇪 👍🏽", id: "emoji", categories: ["music"], source: "text"),
        "japanese": fact("チャック・ノリスは無限まで数えた。しかも二回も数えた。", id: "japanese-21", categories: ["travel"]),
        "poster": fact(
            "'Tis not he who does push-ups -- he pushes the Earth down. 🌍\n\t\t-- Chuck Norris", id: "poster",
            categories: ["sport"]),
        "short": fact("Chuck Norris counted to infinity. Twice.", id: "short-32", categories: ["dev"]),
    ]

    private static var isDebian12: Bool {
        let release = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)
        return release?.contains("VERSION_CODENAME=bookworm\n") ?? false
    }

    @Test(
        "Cards look as they did; NORRIS_UPDATE_DOCUMENTS=1 writes the files",
        .enabled(if: isDebian12, "Other fonts draw other letters."), arguments: facts.keys.sorted())
    func looksAsItDid(name: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).png")
        let words = ["--size", "256", "--style", name == "poster" ? "poster" : "scenic"]
        let png = try Card(fact: #require(GoldenCardTests.facts[name]), options(words)).png()
        if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" {
            try Data(png).write(to: file)
            return
        }
        let shown = try #require(Picture(png: png))
        let golden = try #require(Picture(png: Array(Data(contentsOf: file))))
        let distance = PictureDistance(golden, shown)
        #expect(
            distance.map { $0.mean <= Self.largestMean && $0.worst <= Self.largestWorst } == true,
            """
            \(name) is at a distance of \(distance.map { "\($0)" } ?? "another size").
            NORRIS_UPDATE_DOCUMENTS=1 swift test --filter GoldenCardTests brings Golden/\(name).png up to date.
            """)
    }
}
