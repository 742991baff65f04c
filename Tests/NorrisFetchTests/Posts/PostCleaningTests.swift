import NorrisProtocol
import NorrisSystem
import NorrisText
import Testing

@testable import NorrisFetch

struct PostCleaningTests {
    private func cleaned(_ change: (inout Post) -> Void) -> Post? {
        var post = Post(id: "1", source: "", author: Post.Author(id: "2", name: "Ann"), text: "x")
        change(&post)
        return post.cleaned(for: "s")
    }

    private func author(_ change: (inout Post.Author) -> Void) -> Post.Author {
        var author = Post.Author(id: "2", name: "Ann")
        change(&author)
        return author.cleaned(for: "s")
    }

    private func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    // MARK: Ids

    @Test func otherIDsBecomeAHash() {
        // The 64 bits of `stableHash`, whose values its own tests fix.
        for id in [x(61), "https://h/?p=1", "é", "a b", "a:b", "a/b", "\u{0}"] {
            let cleaned = Post.id(id, in: "s")
            #expect(cleaned.utf8.count == 18)
            #expect(UInt64(cleaned.dropFirst(2), radix: 16) == stableHash(id))
        }
    }

    // MARK: Content

    @Test func aPostNeedsAnIDAndContent() {
        #expect(cleaned { $0.id = "" } == nil)
        #expect(cleaned { $0.text = nil } == nil)
        #expect(cleaned { $0.text = " \n\u{200B}\u{7}" } == nil)
        #expect(cleaned { ($0.text, $0.title) = (nil, "\t") } == nil)
        #expect(cleaned { ($0.text, $0.url) = (nil, "javascript:alert(1)") } == nil)
        #expect(cleaned { ($0.text, $0.images) = (nil, [Post.Image(url: "data:image/png;base64,")]) } == nil)
        #expect(cleaned { ($0.text, $0.tags) = (nil, ["tag"]) } == nil)
    }

    @Test func textKeepsItsLines() {
        #expect(cleaned { $0.text = " \n a\u{1B}[31m\n\n\u{202E}b\r\nc \n" }?.text == "a\n\nb\nc")
    }

    @Test func textIsCut() {
        let whole = cleaned { $0.text = x(100_000) }
        #expect(whole?.text?.utf8.count == 100_000 && whole?.isTruncated == false)
        let cut = cleaned { $0.text = x(100_001) }
        #expect(cut?.text?.utf8.suffix(4).elementsEqual("x…".utf8) == true && cut?.isTruncated == true)
        #expect(cleaned { $0.text = x(99_998) + "  yz" }?.text?.unicodeScalars.count == 99_999)
        let snow = String(repeating: "e\u{301}", count: 60_000)
        #expect(cleaned { $0.text = snow }?.text?.unicodeScalars.count == 100_000)
    }

    @Test func linksOfWhatIsCutOffGoAndThoseWithoutANumberStay() {
        let links = ["https://h/1", "https://h/2", "https://h/3"]
        #expect(cleaned { ($0.text, $0.links) = ("a[1] b[2]", links) }?.links == links)
        #expect(
            cleaned {
                ($0.text, $0.links) = (nil, links); $0.title = "t"
            }?.links == links)
        let long = "a[1] " + x(100_000) + " b[2]"
        #expect(cleaned { ($0.text, $0.links) = (long, links) }?.links == ["https://h/1", "https://h/3"])
    }

    @Test func aTitleIsOneLine() {
        #expect(cleaned { $0.title = " a\n b\u{7} " }?.title == "a b")
        #expect(cleaned { $0.title = x(500) }?.title == x(500))
        #expect(cleaned { $0.title = x(501) }?.title == x(499) + "…")
        let blank = cleaned { $0.title = "\u{200B}" }
        #expect(blank != nil && blank?.title == nil)
    }

    @Test func tagsAreShortAndFew() {
        let tags = ["#a", "##b ", "a", "# c\nd", "", "#", x(101), "ä"]
        #expect(cleaned { $0.tags = tags }?.tags == ["a", "b", "c d", x(99) + "…", "ä"])
        #expect(cleaned { $0.tags = (0..<40).map { "t\($0)" } }?.tags == (0..<32).map { "t\($0)" })
    }

    // MARK: Pictures

    @Test func picturesAreCleaned() {
        let raw = [
            Post.Image(url: "ftp://h/a"), Post.Image(url: " https://h/b ", width: 0, height: -4, alt: " \n"),
            Post.Image(url: "https://h/b", alt: "again"),
            Post.Image(url: "https://h/c", width: 640, height: 480, alt: "A\ndog"),
            Post.Image(url: "https://h/d", width: 1_000_001, height: 1_000_000, alt: x(1501)),
        ]
        let images = [
            Post.Image(url: "https://h/b"), Post.Image(url: "https://h/c", width: 640, height: 480, alt: "A dog"),
            Post.Image(url: "https://h/d", height: 1_000_000, alt: x(1499) + "…"),
        ]
        #expect(cleaned { $0.images = raw }?.images == images)
    }

    // MARK: Authors

    @Test func namesAndHandlesAreOneLine() {
        #expect(author { $0.name = " A\nnn\u{202E} " }.name == "A nn")
        #expect(author { $0.name = x(201) }.name == x(199) + "…")
        #expect(author { $0.handle = "@a\nb" }.handle == "@a b")
        #expect(author { $0.handle = x(201) }.handle == x(199) + "…")
        #expect(author { $0.handle = "" }.handle == nil)
        #expect(author { $0.avatarURL = "/a.png" }.avatarURL == nil)
        #expect(author { $0.avatarURL = "https://h/a.png" }.avatarURL == "https://h/a.png")
    }

    @Test(
        arguments: [
            ("Delaney.Walsh@GMAIL.com", "delaney.walsh@gmail.com"), (" a@b\n", "a@b"), ("a b@c", nil), ("nobody", nil),
            ("", nil), (String(repeating: "x", count: 252) + "@b", String(repeating: "x", count: 252) + "@b"),
            (String(repeating: "x", count: 253) + "@b", nil),
        ] as [(String, String?)]
    )
    func emails(email: String, expected: String?) { #expect(author { $0.email = email }.email == expected) }

    @Test func anAuthorHasANameAndAnID() {
        let named = Post.Author(id: "", name: "Ann").cleaned(for: "s")
        #expect(named == Post.Author(id: "s:Ann", name: "Ann"))
        let handled = Post.Author(id: "3", name: " ", handle: "@ann").cleaned(for: "s")
        #expect(handled == Post.Author(id: "s:3", name: "@ann", handle: "@ann"))
        let reached = Post.Author(id: "3", name: "", email: "A@b").cleaned(for: "s")
        #expect(reached == Post.Author(id: "s:3", name: "a@b", email: "a@b"))
        #expect(Post.Author(id: "", name: "").cleaned(for: "s") == Post.Author(id: "s:s", name: "s"))
        #expect(author { $0.id = "tag:h,2020:x" }.id.hasPrefix("s:"))
        #expect(author { $0.id = "tag:h,2020:x" }.id.utf8.count == 18)
    }

    // MARK: Addresses

    @Test(
        arguments: [
            ("https://h/a?b=c&d#e", "https://h/a?b=c&d#e"), ("HTTP://h", "HTTP://h"),
            ("\n https://h/ \t", "https://h/"), ("https://h/ä ö", "https://h/%C3%A4%20%C3%B6"),
            ("https://h/%C3%A4", "https://h/%C3%A4"), ("https://h/\u{202E}", "https://h/%E2%80%AE"),
            ("https://h/a\"b<c>|d", "https://h/a%22b%3Cc%3E%7Cd"), ("https://h/100%", "https://h/100%"),
            ("https://ä.de/", "https://xn--4ca.de/"),
            ("https://%C3%A4.de:8080/x?y#z", "https://xn--4ca.de:8080/x?y#z"), ("https://a..b/", nil),
            ("feed://h/", "http://h/"), ("feed:https://h/", "https://h/"), ("https://a b/", nil),
            ("https://h/\u{1B}[31m", "https://h/%1B[31m"), ("https://h/a\nb", "https://h/ab"),
            ("https://user:pass@h/", nil), ("//h/a", nil),
            ("/a", nil), ("ftp://h/", nil), ("javascript:alert(1)", nil), ("tag:h,2020:1", nil), ("", nil),
        ] as [(String, String?)]
    )
    func addresses(url: String, expected: String?) { #expect(NorrisFetch.address(url) == expected) }

    @Test func addressesAreBounded() {
        #expect(NorrisFetch.address("https://h/" + x(2038)) != nil)
        #expect(NorrisFetch.address("https://h/" + x(2039)) == nil)
        #expect(NorrisFetch.address("https://h/" + String(repeating: "ä", count: 340)) == nil)
        #expect(sourceURL("h.example/" + x(3000)) == nil)
    }

    @Test(
        arguments: [
            ("h.example/f", "https://h.example/f"), ("localhost:8080/f", "https://localhost:8080/f"),
            (" http://u:p@h.example/f ", "http://u:p@h.example/f"), ("//h.example/", "https://h.example/"),
            ("https://müsli.example/ä", "https://xn--msli-0ra.example/%C3%A4"), ("mailto:a@b.example", nil), ("", nil),
            ("feed:https://h.example/", "https://h.example/"), ("file:///etc/passwd", nil), ("a b", nil),
        ] as [(String, String?)]) func sources(text: String, url: String?)
    {
        #expect(sourceURL(text)?.description == url)
    }
}
