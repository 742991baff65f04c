import NorrisPages
import NorrisProtocol
import NorrisTestSupport
import Testing

struct OtherPagesTests {
    private let moving = Gif.Rendition(url: "\(web)k.gif", webp: "\(web)k.webp", width: 400, height: 200)
    private let still = Gif.Rendition(url: "\(web)k.jpg", width: 400, height: 200)
    private let day = Timestamp(seconds: Timestamp.ofTests.seconds - 86_400)
    private var yesterday: String { day.localText("%-d %b, %H:%M") }

    @Test func gifsMoveAndCreditGiphy() throws {
        let reading = try ReadPage(page().gifs([gif(["fixed_height": moving]), gif(["original": moving])]))
        #expect(reading.all("img").map { $0["src"] } == ["\(web)k.gif", "\(web)k.gif"])
        #expect(reading.all("img")[0]["alt"] == "Kick")
        #expect(reading.all("figure")[0]["class"] == "gif r10")
        #expect(reading.all("figcaption")[0].text == "Kick · by ada · rated pg")
        #expect(reading.all("a").map { $0["href"] } == ["\(web)k1", "\(web)k1"])
        #expect(reading.all("footer")[0].text.hasPrefix("Powered by GIPHY"))
    }

    @Test func gifsStandStillForLessMotion() throws {
        let gifs = [gif(["original": moving, "original_still": still]), gif(["original": moving])]
        let reading = try ReadPage(page().gifs(gifs))
        let sources = reading.all("source").filter { $0["media"] == "(prefers-reduced-motion: reduce)" }
        #expect(sources.map { $0["srcset"] } == ["\(web)k.jpg"])
        // The second GIF has no still form, so the style removes its image before it is loaded.
        #expect(reading.all("img").map { $0["class"] } == ["", "moves"])
        #expect(reading.all("span", class: "held").map(\.text) == ["Play at giphy.com"])
        #expect(reading.style.contains("@media(prefers-reduced-motion:reduce){.gif .moves{display:none}"))
    }

    @Test("A high GIF is shown whole in a square", arguments: [(100, 400, 4), (400, 380, 5), (900, 300, 12)])
    func shapesGifs(width: Int, height: Int, shape: Int) throws {
        let rendition = Gif.Rendition(url: "\(web)k.gif", width: width, height: height)
        var gif = gif(["original": rendition])
        gif.rating = "g"
        let reading = try ReadPage(page().gifs([gif]))
        #expect(reading.all("figure")[0]["class"] == "gif r\(shape)")
        // The rating of most GIFs, and of every GIF with the default configuration.
        #expect(reading.all("figcaption")[0].text == "Kick · by ada")
    }

    @Test func gifsHaveTheNamedRendition() throws {
        let small = Gif.Rendition(url: "\(web)small.gif")
        let renditions = ["original": moving, "fixed_width_small": small]
        #expect(page().gifs([gif(renditions)], rendition: "fixed_width_small").contains("small.gif"))
        #expect(!page().gifs([gif(renditions)], rendition: "hd").contains("small.gif"))
        #expect(try ReadPage(page().gifs([gif([:])])).all("a")[0].text == "Kick")
    }

    @Test func factsAreQuotations() throws {
        let fact = Fact(id: "-x", text: "Chuck\n\truns `ls`.", categories: ["dev"], source: "chucknorris", url: web)
        let reading = try ReadPage(page().facts([fact]))
        #expect(reading.all("blockquote")[0].text == "Chuck\n\truns ls.")
        #expect(reading.all("code")[0].text == "ls")
        #expect(reading.all("figcaption")[0].text == "chucknorris · #dev")
    }

    @Test func printedLinksShowTheirAddresses() throws {
        let style = try ReadPage(page().posts([])).style
        let print = style.split(separator: "@media print{").last ?? ""
        #expect(print.contains(".text a:not(:has(img))::after,") && print.contains("{content:\" (\" attr(href) \")\"}"))
    }

    @Test func favoritesAreTheirContentOrTheirTitle() throws {
        let fact = Fact(id: "f", text: "A fact.", categories: [], source: "builtin")
        let favorites = [
            Favorite(kind: .fact, id: "f", title: "", addedAt: day, fact: fact),
            Favorite(kind: .gif, id: "k1", title: "", addedAt: day, gif: gif(["original": moving])),
            Favorite(kind: .post, id: "town:1", title: "", addedAt: day, post: post("A post.")),
            Favorite(kind: .post, id: "town:9", title: "Gone", addedAt: day),
        ]
        let reading = try ReadPage(page().favorites(favorites))
        #expect(reading.all("blockquote").map(\.text) == ["A fact.", "Gone"])
        #expect(reading.all("figcaption").map(\.text).last == "post, no longer stored · added \(yesterday)")
        #expect(reading.all("article").count == 1 && reading.all("img").count == 1)
        // Each favorite is a card, and the source of the built-in fact is not named.
        #expect(reading.elements.count { $0["class"].hasPrefix("card") } == 4)
        #expect(reading.all("figcaption")[0].text == "added \(yesterday)")
        #expect(reading.all("bdi").filter { $0.text == "added \(yesterday)" }.count == 4)
        #expect(reading.all("span", class: "new").isEmpty)
        #expect(reading.all("footer").last?.text.hasPrefix("Powered by GIPHY") == true)
    }

    @Test(arguments: [
        (Freshness.Origin.cache, Freshness.State.fresh, "fetched "),
        // If a source was never fetched, the posts of the others are not out of date.
        (.cache, .stale, "fetched "), (.none, .empty, "not fetched yet"),
    ])
    func theHeadSaysHowManyAndFromWhen(origin: Freshness.Origin, state: Freshness.State, badge: String) throws {
        let failure = SourceFailure(kind: .http, message: "HTTP 503.", since: day)
        let time = origin == .none ? nil : day
        let freshness = Freshness(origin: origin, state: state, fetchedAt: time, error: failure)
        let position = WebPage.Position(summary: "1–2 of 9 posts", command: "norrisctl feed --page 2")
        let page = WebPage(title: "Feed", now: .ofTests, freshness: freshness, next: position)
        let reading = try ReadPage(page.posts([]))
        let text = badge + (time == nil ? "" : yesterday)
        #expect(reading.all("header")[0].text == "Feed1–2 of 9 posts · \(text)HTTP 503.")
        #expect(reading.all("footer")[0].text.hasPrefix("Next page: norrisctl feed --page 2Made by norrisctl on "))
    }
}
