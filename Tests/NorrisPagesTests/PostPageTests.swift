import NorrisPages
import NorrisProtocol
import NorrisTestSupport
import Testing

struct PostPageTests {
    private func text(_ text: String, links: [String] = []) throws -> String {
        let html = page(showsAll: true).posts([post(text, links: links)])
        let start = try #require(html.firstRange(of: "<div class=\"text\">")).upperBound
        let end = try #require(html.firstRange(of: "</div><footer>")).lowerBound
        return String(html[start..<end].replacing(/\s(?:dir|tabindex|role|aria-label|class)="\w*"/, with: ""))
    }

    @Test(
        "Text keeps its structure",
        arguments: [
            ("a\nb\n\nc\r\n", "<p>a<br>b</p><p>c</p>"),
            (
                "- a\n  more\n  - b\n- c",
                "<ul><li><p>a<br>more</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>"
            ),
            ("3. a\n4. b", "<ol><li value=\"3\"><p>a</p></li><li value=\"4\"><p>b</p></li></ol>"),
            ("- [x] a\n- [ ] b", "<ul><li><p>☑ a</p></li><li><p>☐ b</p></li></ul>"),
            ("> a\n>\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
            ("a\n\n    if x {\n    \n      y <\n\nb", "<p>a</p><pre><code>if x {\n\n  y &lt;</code></pre><p>b</p>"),
            ("a\n\n    make\nSee\n    it", "<p>a</p><pre><code>make</code></pre><p>See<br>    it</p>"),
            ("- a\n\n      c\n- b", "<ul><li><p>a</p><pre><code>c</code></pre></li><li><p>b</p></li></ul>"),
            ("a | b\nc | ", "<div><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td></td></tr></table></div>"),
            ("Home | About", "<p>Home | About</p>"), ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
            ("~~10~~ 9, a ~~ b", "<p>~~10~~ 9, a ~~ b</p>"), ("~~10~~ 9", "<p><del>10</del> 9</p>"),
            ("run `ls ~~a~~`, x^2", "<p>run <code>ls ~~a~~</code>, x^2</p>"),
        ])
    func keepsStructure(source: String, html: String) throws { #expect(try text(source) == html) }

    @Test func linksNumbersOfWebAddresses() throws {
        let link = "<a href=\"\(web)\">[1]<span> example.org</span></a>"
        #expect(try text("a[1] b[2] c[3]", links: [web, "ftp://example.org"]) == "<p>a\(link) b[2] c[3]</p>")
    }

    @Test func hidesTheRestOfALongText() throws {
        let long = "> " + String(repeating: "word ", count: 60) + "[1]"
        let html = page().posts([post("Short.\n\n- a\n- b"), post(long, links: [web])])
        let reading = try ReadPage(html)
        #expect(reading.all("details").count == 1)
        #expect(reading.all("p", class: "start")[0].text.hasPrefix("word word"))
        #expect(reading.all("summary")[0].text == "Show fullShow less text of post 2, by Ada")
        // The whole text has the only link.
        #expect(reading.all("a", class: "n")[0].parents.contains("details"))
        #expect(try ReadPage(page(showsAll: true).posts([post(long)])).all("details").isEmpty)
    }

    @Test func hidesSensitiveContentBehindItsWarning() throws {
        var sensitive = post("It has eight legs.", title: "Spider", images: 1)
        sensitive.isSensitive = true
        let reading = try ReadPage(page().posts([sensitive]))
        #expect(reading.all("summary")[0].text == "Sensitive: Spider, post 1, by Ada")
        #expect(reading.all("img")[0].parents.contains("details.warn"))
        #expect(reading.all("div", class: "text")[0].parents.contains("details.warn"))
        #expect(reading.all("details")[0].attributes["open"] == nil)
        #expect(try ReadPage(page(showsAll: true).posts([sensitive])).all("details")[0].attributes["open"] != nil)
    }

    @Test("Images are laid out by their count", arguments: [0, 1, 4, 5, 9])
    func laysOutImages(count: Int) throws {
        let reading = try ReadPage(page().posts([post("a", images: count)]))
        let grid = "images i\(min(count, 4))"
        let links = reading.all("a").filter { $0["href"].hasSuffix(".png") }
        #expect(links.count == count)
        #expect(links.filter { !$0.parents.contains("details") }.count == (count > 4 ? 3 : count))
        #expect(reading.all("div", class: grid).count == (count == 0 ? 0 : count > 4 ? 2 : 1))
        #expect(
            reading.all("summary").map(\.text)
                == (count > 4 ? ["+\(count - 3)Show fewer images of post 1, by Ada"] : []))
        for image in reading.all("img") where !image["alt"].isEmpty {
            let safe = ["loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"]
            #expect(safe.allSatisfy { image[$0] == $1 } && image["width"] == "800" && image["height"] == "600")
        }
    }

    @Test func describesAuthorTimeAndReactions() throws {
        var liked = post("Hello.", title: "Hello")
        liked.author.handle = "@ada@town.example"
        liked.tags = ["morning"]
        liked.stats = Post.Stats(likes: 1_204, comments: 1, shares: 0)
        let reading = try ReadPage(page().posts([liked]))
        #expect(reading.all("time")[0].text == "2 hours ago")
        #expect(Timestamp(reading.all("time")[0]["datetime"]) == liked.publishedAt)
        #expect(!reading.all("time")[0]["title"].isEmpty)
        // The text repeats the title, so the author is the heading.
        #expect(reading.all("h2").map(\.text) == ["Ada"])
        #expect(reading.all("p", class: "meta")[0].text == "Unread@ada@town.example2 hours agotown")
        #expect(reading.all("footer")[0].text == "1,204 likes1 comment#morningOpen on example.org, post 1, by Ada")
    }

    @Test func playsSoundsAndVideosAndLinksOtherFiles() throws {
        var podcast = post("a")
        podcast.attachments = [
            Post.Attachment(url: "\(web)a.mp3?x", type: "audio/mpeg", bytes: 59_768_832, seconds: 3_723),
            Post.Attachment(url: "\(web)b.mp4"), Post.Attachment(url: "\(web)c.pdf", bytes: 31_234_567),
        ]
        let reading = try ReadPage(page().posts([podcast]))
        #expect(reading.all("audio").map { $0["aria-label"] } == ["a.mp3"])
        #expect(reading.all("video").map { $0["preload"] } == ["none"])
        #expect(
            reading.all("figcaption").map(\.text) == ["a.mp3audio/mpeg57 MiB1:02:03", "b.mp4", "c.pdf30 MiB"])
    }
}
