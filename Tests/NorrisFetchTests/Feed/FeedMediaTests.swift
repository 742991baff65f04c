import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisFetch

struct FeedMediaTests {
    private func images(_ elements: String) throws -> [Post.Image] {
        try rssPost("<title>x</title>" + elements)?.images ?? []
    }

    @Test(
        arguments: [
            ("<enclosure url='https://x.example/a.jpg' type='image/jpeg' length='5'/>", ["https://x.example/a.jpg"]),
            ("<enclosure url='https://x.example/a.mp3' type='audio/mpeg' length='5'/>", []),
            ("<enclosure url='a.PNG?x=1' length='5'/>", ["https://blog.example/feeds/a.PNG?x=1"]),
            ("<enclosure url='https://x.example/a'/><enclosure/>", []),
            ("<media:content url='/a' medium='image'/>", ["https://blog.example/a"]),
            (
                "<media:content url='/a' type='image/webp'/><media:content url='/b' type='video/mp4'/>",
                ["https://blog.example/a"]
            ), ("<media:content url='/a.jpg' medium='video'/>", []),
            ("<media:thumbnail url='/t.jpg'/>", ["https://blog.example/t.jpg"]),
            ("<media:thumbnail url='/t.jpg'/><media:content url='/a.jpg'/>", ["https://blog.example/a.jpg"]),
            (
                "<media:content url='/a.mp4' type='video/mp4'><media:thumbnail url='/t.jpg'/></media:content>",
                ["https://blog.example/t.jpg"]
            ), ("<media:content url='javascript:alert(1)' medium='image'/>", []),
            ("<media:content url='data:image/png;base64,xx' medium='image'/>", []),
            ("<itunes:image href='/cover.jpg'/>", ["https://blog.example/cover.jpg"]),
            (
                "<enclosure url='/a.jpg' type='image/jpeg'/><itunes:image href='/cover.jpg'/>",
                ["https://blog.example/a.jpg"]
            ),
            (
                "<enclosure url='/a.jpg' type='image/jpeg'/><media:content url='/a.jpg' medium='image'/>"
                    + "<description>&lt;img src='/a.jpg'>&lt;img src='/b.jpg'></description>",
                ["https://blog.example/a.jpg", "https://blog.example/b.jpg"]
            ),
        ] as [(String, [String])]
    )
    func pictures(elements: String, expected: [String]) throws { #expect(try images(elements).map(\.url) == expected) }

    @Test func mediaHaveTitlesTextsAndPlayers() throws {
        let nested = """
            <media:group><media:title>A title</media:title><media:player url="https://p.example/1"/>
            <media:content url="https://p.example/1.mp4" type="video/mp4">
            <media:description>A text</media:description></media:content>
            <media:content url="https://p.example/v" type="application/x-shockwave-flash"/></media:group>
            """
        let post = try #require(try rssPost("<guid>1</guid>" + nested))
        #expect((post.title, post.text, post.url) == ("A title", "A text", "https://p.example/1"))
        #expect(post.attachments == [Post.Attachment(url: "https://p.example/1.mp4", type: "video/mp4")])
        let titled = try rssPost("<title>x</title><link>https://x.example/</link>" + nested)
        #expect(titled?.title == "x" && titled?.url == "https://x.example/")
    }

    @Test(arguments: [
        "<image>https://x.example/a</image>", "<image><url>https://x.example/a</url></image>",
        "<image href='https://x.example/a'/>", "<enclosure url='https://x.example/a' type='image' length='1'/>",
    ]) func picturesOfAnItem(element: String) throws {
        let post = try rssPost("<title>x</title>" + element)
        #expect(post?.images == [Post.Image(url: "https://x.example/a")] && post?.attachments == [])
        let other = "<image><link>https://x.example/a</link></image><image>A picture</image>"
        #expect(try rssPost("<title>x</title>" + other)?.images == [])
    }

    @Test func mediaSayWhatTheyShow() throws {
        let image = try images(
            """
            <media:content url="https://x.example/a.jpg" type="image/jpeg" width="800" height="600">
            <media:description type="plain">A cat</media:description></media:content>
            """)
        #expect(image == [Post.Image(url: "https://x.example/a.jpg", width: 800, height: 600, alt: "A cat")])
    }

    @Test func ofAGroupTheLargestIsTaken() throws {
        let image = try images(
            """
            <media:group><media:description>A dog</media:description>
            <media:content url="/s.jpg" medium="image" width="80"/>
            <media:content url="/l.jpg" medium="image" width="800" height="600"/>
            <media:content url="/m.jpg" medium="image" width="400" height="300"/></media:group>
            """)
        #expect(image == [Post.Image(url: "https://blog.example/l.jpg", width: 800, height: 600, alt: "A dog")])
    }

    @Test func aFilmIsShownByItsThumbnail() throws {
        let group = """
            <media:group><media:title>Film</media:title>
            <media:content url="https://v.example/1" type="application/x-shockwave-flash" width="640" height="390"/>
            <media:thumbnail url="https://v.example/1.jpg" width="480" height="360"/>
            <media:description>What happens in it.</media:description></media:group>
            """
        let post = try #require(try atomPost("<id>1</id><title>Film</title>" + group))
        #expect(post.images == [Post.Image(url: "https://v.example/1.jpg", width: 480, height: 360)])
        #expect(post.text == "What happens in it.")
    }

    @Test(
        arguments: [
            ("<IMG SRC=a.png ALT='x > y'>", [Post.Image(url: "https://x.example/d/a.png", alt: "x > y")]),
            (
                "<img src = \"/a.png?x=1&amp;y=2\" width=640 height=\"100%\" />",
                [Post.Image(url: "https://x.example/a.png?x=1&y=2", width: 640)]
            ), ("<img src=' //cdn.example/a b.png '>", [Post.Image(url: "https://cdn.example/a%20b.png")]),
            ("<img src='ä.png'>", [Post.Image(url: "https://x.example/d/%C3%A4.png")]),
            ("<img alt='no address'><img src=''><img src><img/>", []),
            (
                "<img src='https://t.example/pixel' width='1' height='1'><img src='b.gif' height=0>"
                    + "<img src='c.gif' width=1>", []
            ), ("<img src='s.png' class='wp-smiley'><img src='e.png' class='emoji'>", []),
            ("<img src='javascript:alert(1)'><img src='data:image/gif;base64,R0'>", []),
            ("<img src='a.png' src='b.png'", []),
            ("<img src='a.png' src='b.png'>", [Post.Image(url: "https://x.example/d/a.png")]),
            ("<imgx src='a.png'></img src='a.png'>", []),
        ] as [(String, [Post.Image])]
    )
    func picturesInHTML(html: String, expected: [Post.Image]) throws {
        let base = try #require(HTTPURL("https://x.example/d/page"))
        #expect(MarkupText(html: html, at: base).images == expected)
    }
}
