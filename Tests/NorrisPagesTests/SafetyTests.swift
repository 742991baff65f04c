import Foundation
import NorrisPages
import NorrisProtocol
import NorrisTestSupport
import Testing

struct SafetyTests {
    /// A page of each kind in which every text is the given text, and every address the given address.
    private func pages(_ text: String, address: String) -> [String] {
        let failure = SourceFailure(kind: .http, message: text, since: .ofTests)
        let freshness = Freshness(origin: .cache, state: .stale, fetchedAt: .ofTests, error: failure)
        let position = WebPage.Position(summary: text, command: text, nothing: text)
        let page = WebPage(title: text, now: .ofTests, freshness: freshness, next: position)
        let author = Post.Author(id: text, name: text, handle: text, avatarURL: address, email: text)
        let images = (0..<6).map { _ in Post.Image(url: address, width: -1, height: .max, alt: text, title: text) }
        let attachments = ["audio/", "video/", ""].map { type in
            Post.Attachment(url: address, type: type + text, bytes: .max, seconds: .min)
        }
        var post = Post(
            id: text, source: text, author: author, publishedAt: .last, title: text,
            text: ["", "    ", "> ", "- ", "1. ", "x | "].map { "\($0)\(text) [1]\n\($0)y | z" }.joined(
                separator: "\n\n"),
            tags: [text], images: images, attachments: attachments, links: [address],
            stats: Post.Stats(likes: .min, comments: .max), url: address)
        var marked = post
        marked.markdown = ["", "# ", "> ", "- ", "1. ", "```", "![", "[", "| a |\n|---|\n| "].map { start in
            "\(start)\(text)](\(address)) *\(text)*\n```\n\(text)\n```\n\n[\(text)](<\(address)>) `\(text)`"
        }.joined(separator: "\n\n")
        var sensitive = post
        sensitive.isSensitive = true
        post.isTruncated = true
        let rendition = Gif.Rendition(url: address, mp4: address, webp: address, width: 0, height: -1)
        let gif = Gif(
            id: text, title: text, rating: text, pageURL: address, username: text, altText: text,
            renditions: [text: rendition, "\(text)_still": rendition])
        let fact = Fact(id: text, text: text, categories: [text], source: text, url: address)
        let favorites = [Favorite(kind: .init(rawValue: text), id: text, title: text, addedAt: .last)]
        return [
            page.posts([post, marked, sensitive]), WebPage.post(post, now: .last), page.gifs([gif]), page.facts([fact]),
            page.favorites(favorites + [Favorite(kind: .gif, id: text, title: text, addedAt: .ofTests, gif: gif)]),
        ]
    }

    @Test func contentNeverBecomesMarkup() throws {
        for html in pages(hostile, address: web) {
            let page = try ReadPage(html)
            #expect(page.all("script").isEmpty && page.all("style").count == 1)
            for name in page.elements.flatMap({ $0.attributes.keys }) {
                #expect(name != "style" && name != "srcdoc" && !name.hasPrefix("on"))
            }
            // The page shows the whole text.
            #expect(page.all("title")[0].text.hasPrefix("</style></title></script><script>alert(1)</script>"))
        }
    }

    @Test(
        "Only http and https are addresses",
        arguments: [
            "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
            "file:///etc",
            "data:text/html,<script>alert(1)</script>", "//example.org", "http:alert(1)", "http://", "https://@/", "",
        ])
    func writesNoOtherAddress(address: String) throws {
        #expect(try addresses(address).isEmpty)
    }

    @Test func encodesAddresses() throws {
        for (name, address) in try addresses("HTTPS://example.org/\"><b>?ä|,") {
            // A comma at the end would not belong to an address of a srcset.
            #expect(address == "HTTPS://example.org/%22%3E%3Cb%3E?%C3%A4%7C\(name == "srcset" ? "%2C" : ",")")
        }
    }

    /// The attributes with addresses on pages whose items have only this address.
    private func addresses(_ address: String) throws -> [(name: String, address: String)] {
        try pages("text", address: address).flatMap { try ReadPage($0).elements }.flatMap { element in
            element.attributes.filter { ["href", "src", "srcset"].contains($0.key) }.map { ($0.key, $0.value) }
        }
    }

    @Test func allowsOnlyItsOwnStyle() throws {
        let page = try ReadPage(page().posts([]))
        let sum = try run("sha256sum", input: page.style).output.prefix(64)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(sum.dropFirst($0).prefix(2), radix: 16) }
        let policy = "style-src 'sha256-\(Data(bytes).base64EncodedString())';"
        let content = page.all("meta").map { $0["content"] }.first { $0.hasPrefix("default-src 'none';") } ?? ""
        #expect(content.contains(policy), "The style has changed: \(policy)")
        for other in ["url(", "@import", "expression"] { #expect(!page.style.contains(other)) }
    }

    @Test func staysSmallAndFastForAnyText() {
        #expect(page().posts([]).utf8.count <= 7_200)
        let texts = [
            String(repeating: "W", count: 100_000), String(repeating: "> ", count: 50_000),
            String(repeating: "- ", count: 50_000), String(repeating: "- a\n\n", count: 20_000) + "      b",
            "- a" + String(repeating: "\n", count: 99_000) + "      b", String(repeating: "~~`[1] | ", count: 11_000),
        ]
        for text in texts {
            // In time that grows with the length of the text; its square would take minutes.
            let time = ContinuousClock().measure { _ = page().posts([post(text, links: [web])]) }
            #expect(time < .seconds(30), "\(text.prefix(20))")
        }
    }
}
