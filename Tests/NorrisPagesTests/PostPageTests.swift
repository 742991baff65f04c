import NorrisPages
import NorrisProtocol
import NorrisTestSupport
import Testing

/// A paragraph of one line.
private let line = "A paragraph of fifty letters is not a short one here"

struct PostPageTests {
    private let published = Timestamp(seconds: Timestamp.ofTests.seconds - 7_200).localText("%-d %b, %H:%M")

    private func text(_ markdown: String) throws -> String {
        var post = post("the text")
        post.markdown = markdown
        let html = page(showsAll: true).posts([post])
        let start = try #require(html.firstRange(of: "<div class=\"text\">")).upperBound
        let end = try #require(html.firstRange(of: "</div><footer>")).lowerBound
        return String(html[start..<end].replacing(/\s(?:dir|tabindex|role|aria-label)="\w*"/, with: ""))
    }

    @Test(
        "CommonMark becomes elements",
        arguments: [
            ("## a *b*\n### c\n###### d", "<h3>a <em>b</em></h3><h4>c</h4><h6>d</h6>"),
            ("# a", "<h3>a</h3>"), ("a\\\nb\nc\n\nd", "<p>a<br>b<br>c</p><p>d</p>"),
            (
                "- a\n  more\n  - b\n- c",
                "<ul><li><p>a<br>more</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>"
            ),
            ("3. a\n4. b\n\n1) c", "<ol start=\"3\"><li><p>a</p></li><li><p>b</p></li></ol><ol><li><p>c</p></li></ol>"),
            ("**a *b* ~~`c`~~**", "<p><strong>a <em>b</em> <del><code>c</code></del></strong></p>"),
            (
                "[a `b` <i>](https://x.org/?a&b)",
                "<p><a href=\"https://x.org/?a&amp;b\">a <code>b</code> &lt;i&gt;</a></p>"
            ),
            ("[a](javascript:b)", "<p>[a](javascript:b)</p>"),
            ("```c++\na <\n\n b\n```", "<pre><code class=\"language-c++\">a &lt;\n\n b</code></pre>"),
            ("```\na\n```", "<pre><code>a</code></pre>"),
            ("- [x] a\n- [ ] b", "<ul><li><p>☑ a</p></li><li><p>☐ b</p></li></ul>"),
            (
                "| a |\n|---|\n| `b` |",
                "<div class=\"table\"><table><tr><th>a</th></tr><tr><td><code>b</code></td></tr></table></div>"
            ),
            ("|  |\n|---|\n| b |", "<div class=\"table\"><table><tr><td>b</td></tr></table></div>"),
            ("> a\n>\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
            ("a\n\n---", "<p>a</p><hr>"), ("Home | About ~~ b", "<p>Home | About ~~ b</p>"),
        ])
    func writesElements(markdown: String, html: String) throws {
        #expect(try text(markdown) == html)
    }

    @Test func showsPicturesWhereTheyAreInTheText() throws {
        let long = String(repeating: "word ", count: 60)
        var essay = post("the text", images: 3)
        essay.images[1].title = "Two"
        essay.markdown = "\(long)\n\n![one](\(web)0.png)\n\n[![](\(web)1.png)](\(web)b)\n\n![](\(web)other.png)"
        let whole = try ReadPage(page(showsAll: true).posts([essay]))
        let placed = whole.all("img").filter { $0.parents.contains("div.text") }
        #expect(placed.map { $0["src"] } == ["0", "1", "other"].map { "\(web)\($0).png" })
        #expect(placed.map { $0["width"] } == ["800", "800", ""] && placed.map { $0["title"] } == ["", "Two", ""])
        #expect(placed[0]["alt"] == "one" && placed.allSatisfy { $0["referrerpolicy"] == "no-referrer" })
        // The picture that is not in the text.
        #expect(whole.all("img").count == 4 && whole.all("div", class: "images i1").count == 1)
        // The style shows these while the text is hidden.
        let folded = try ReadPage(page().posts([essay]))
        #expect(folded.all("div", class: "images placed i2").count == 1)
        #expect(folded.all("div", class: "images i1").count == 1)
    }

    @Test func hidesTheRestOfALongText() throws {
        let long = "> " + String(repeating: "word ", count: 60) + "[last](\(web))"
        let html = page().posts([post("Short.\n\n- a\n- b"), post(long)])
        let reading = try ReadPage(html)
        #expect(reading.all("details").count == 1)
        #expect(reading.all("p", class: "start")[0].text.hasPrefix("word word"))
        #expect(reading.all("summary")[0].text == "Show fullShow less text of post 2, by Ada")
        // The whole text has the only link.
        #expect(reading.all("a").first { $0.text == "last" }?.parents.contains("details") == true)
        #expect(try ReadPage(page(showsAll: true).posts([post(long)])).all("details").isEmpty)
    }

    @Test(
        "An excerpt is the first paragraph",
        arguments: [
            ("# A\n\n- Pots pour.\n- Cups too.\n\n## B\n\n- C\n- D", "Pots pour…"),
            ("> \(line).\n>\n> A\n>\n> B\n\nC", "\(line)…"), ("\(line).\n\n\(line).\n\nA\n\nB", "\(line)…"),
            ("Hello,\n\nthe kettle.\n\nA\n\nB", "Hello,the kettle…"),
            ("![](\(web)a.png)\n\nWell...\n\n- A\n- B\n- C", "Well…"),
            ("```\na\nb\nc\nd\n```", "abc…"),
        ])
    func beginsAText(markdown: String, excerpt: String) throws {
        var long = post("the text")
        long.markdown = markdown
        #expect(try ReadPage(page().posts([long])).all("p", class: "start").map(\.text) == [excerpt])
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

    @Test func theTitleIsFirstAndNothingIsTwice() throws {
        var titled = post("A text.", title: "Pots & `pans`")
        (titled.author.avatarURL, titled.author.handle) = ("\(web)ada.png", "@ada")
        let list = try ReadPage(page().posts([titled]))
        #expect(list.all("h2").map(\.text) == ["Pots & pans"] && list.all("h1").map(\.text) == ["Feed"])
        #expect(list.all("article", class: "card")[0]["aria-labelledby"] == list.all("h2")[0]["id"])
        // The picture of the author is for posts without a title.
        #expect(list.all("header")[1].text == "Pots & pansUnread · Ada · town · \(published)")
        #expect(list.all("img").isEmpty)
        titled.author.name = "town"
        #expect(try ReadPage(page().posts([titled])).all("p", class: "dim")[0].text == "Unread · town · \(published)")
        titled.sourceTitle = "The Town"
        let line = try ReadPage(page().posts([titled])).all("p", class: "dim")[0].text
        #expect(line == "Unread · town · The Town · \(published)")
    }

    @Test func aPageOfOnePostIsAnArticle() throws {
        var titled = post("# A\n\n## B", title: "Pots")
        titled.markdown = titled.text
        let reading = try ReadPage(WebPage.post(titled, now: .ofTests))
        #expect(reading.all("title")[0].text == "Pots" && reading.all("h1").map(\.text) == ["Pots"])
        #expect(reading.all("h2").map(\.text) == ["A", "B"] && reading.all("article")[0]["class"].isEmpty)
        #expect(reading.all("article")[0]["aria-labelledby"] == reading.all("h1")[0]["id"])
        #expect(reading.all("p", class: "dim")[0].text == "Ada · town · \(published)")
        titled.isSensitive = true
        let sensitive = try ReadPage(WebPage.post(titled, now: .ofTests))
        #expect(sensitive.all("title")[0].text == "Ada" && sensitive.all("h1").map(\.text) == ["Ada"])
        #expect(sensitive.all("summary")[0].text == "Sensitive: Pots, the post")
    }

    @Test func describesAuthorTimeAndReactions() throws {
        var liked = post("Hello.", title: "Hello")
        (liked.author.handle, liked.author.avatarURL) = ("@ada@town.example", "\(web)ada.png")
        liked.tags = ["morning"]
        liked.stats = Post.Stats(likes: 1_204, comments: 1, shares: 0)
        let reading = try ReadPage(page().posts([liked]))
        #expect(reading.all("time")[0].text == published)
        #expect(Timestamp(reading.all("time")[0]["datetime"]) == liked.publishedAt)
        #expect(!reading.all("time")[0]["title"].isEmpty)
        // The text repeats the title, so the author is the heading.
        #expect(reading.all("h2").map(\.text) == ["Ada"] && reading.all("img")[0]["src"] == "\(web)ada.png")
        #expect(reading.all("p", class: "dim")[0].text == "Unread · @ada@town.example · town · \(published)")
        #expect(
            reading.all("footer")[0].text == "1,204 likes · 1 comment · #morningOpen on example.org, post 1, by Ada")
        let last = Timestamp(seconds: Timestamp.ofTests.seconds - 366 * 86_400)
        liked.publishedAt = last
        #expect(try ReadPage(page().posts([liked])).all("time")[0].text == last.localText("%-d %b %Y, %H:%M"))
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
            reading.all("figcaption").map(\.text)
                == ["a.mp3 · audio/mpeg · 57 MiB · 1:02:03", "b.mp4", "c.pdf · 30 MiB"])
    }
}
