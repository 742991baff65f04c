import NorrisProtocol
import NorrisTerminal
import NorrisTestSupport
import NorrisText
import Testing

/// What holds for the card of every post, at every width.
struct PostPropertyTests {
    private static let parts = [
        "a", "word", "supercalifragilistic", " ", " ", "   ", "\n", "\n\n", "\t", "日本", "。", "「", "👩‍👩‍👧‍👦", "👍🏽",
        "e\u{301}", "\u{1B}[31m", "\u{9B}2J", "\u{202E}", "\u{A0}", "│", "…", "🇨🇭", "กำ",
    ]

    private func text(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...30, using: &generator)).map { _ in
            Self.parts.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private func post(_ generator: inout SeededGenerator) -> Post {
        Post(
            id: "p",
            source: text(&generator),
            author: Post.Author(id: "a", name: text(&generator), handle: text(&generator)),
            publishedAt: Bool.random(using: &generator) ? now : nil,
            title: Bool.random(using: &generator) ? text(&generator) : nil,
            text: Bool.random(using: &generator) ? text(&generator) : nil,
            isSensitive: Int.random(in: 0..<5, using: &generator) == 0,
            tags: (0..<Int.random(in: 0...3, using: &generator)).map { _ in text(&generator) },
            images: (0..<Int.random(in: 0...7, using: &generator)).map { _ in
                Post.Image(
                    url: "https://example.org/b",
                    width: Int.random(in: 0...5_000, using: &generator),
                    height: 1,
                    alt: text(&generator)
                )
            },
            stats: Post.Stats(likes: Int.random(in: 0...5_000, using: &generator)),
            url: Bool.random(using: &generator) ? "https://example.org/a/long/address" : nil,
            isRead: Bool.random(using: &generator)
        )
    }

    @Test(arguments: UInt64(1)...40)
    func noLineIsWiderThanTheTerminalAndNoneIsEmpty(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<25 {
            let post = post(&generator)
            let width = Int.random(in: 2...100, using: &generator)
            let lines = cards([post], width).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            for line in lines where line != "norrisctl post p" {
                #expect(displayWidth(of: String(line)) <= min(width, 80), "\(line) in \(width)")
                #expect(!line.isEmpty, "\(post) in \(width)")
            }
            #expect(lines.last?.hasSuffix("p") == true)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func boxesHaveStraightSides(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<25 {
            var post = post(&generator)
            post.isSensitive = false
            let width = Int.random(in: 8...80, using: &generator)
            for line in cards([post], width).split(separator: "\n") where line.hasPrefix("┌") || line.hasPrefix("│ ") {
                guard line.hasSuffix("┐") || line.hasSuffix(" │") else { continue }
                #expect(displayWidth(of: String(line)) == width, "\(line) in \(width)")
            }
        }
    }

    @Test(arguments: UInt64(1)...10)
    func nothingCrashesAtOneColumn(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for showsAll in [true, false] {
            let posts = (0..<25).map { _ in post(&generator) }
            #expect(forbidden(in: cards(posts, 1, showsAll: showsAll)) == [])
            #expect(forbidden(in: cards(posts, 0, showsAll: showsAll)) == [])
        }
    }
}
