import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import NorrisText
import Testing

@testable import NorrisFetch

struct PastedAddressTests {
    /// Addresses as people paste them, and the feeds that they show.
    private static let feeds: [(pasted: String, feed: String)] = [
        ("https://www.youtube.com/channel/UC-x_1", "www.youtube.com/feeds/videos.xml?channel_id=UC-x_1"),
        ("m.youtube.com/user/ada?si=1", "www.youtube.com/feeds/videos.xml?user=ada"),
        ("https://youtube.com/playlist?si=1&list=PL1#x", "www.youtube.com/feeds/videos.xml?playlist_id=PL1"),
        ("https://old.reddit.com/r/linux/", "www.reddit.com/r/linux/.rss"), ("r/linux", "www.reddit.com/r/linux/.rss"),
        ("reddit.com/r/linux/new/?t=day", "www.reddit.com/r/linux/new/.rss"),
        ("reddit.com/r/linux/top", "www.reddit.com/r/linux/top/.rss"),
        ("https://www.reddit.com/u/ada", "www.reddit.com/user/ada/.rss"), ("u/ada", "www.reddit.com/user/ada/.rss"),
        ("https://www.reddit.com/user/ada/", "www.reddit.com/user/ada/.rss"),
        ("https://github.com/swiftlang/swift.git", "github.com/swiftlang/swift/releases.atom"),
        ("http://github.com/o/r.js/releases", "github.com/o/r.js/releases.atom"),
        ("github.com/o/r/tags?after=1", "github.com/o/r/tags.atom"),
        ("https://gitlab.com/o/r", "gitlab.com/o/r/-/releases.atom"),
        ("https://gitlab.com/o/group/r", "gitlab.com/o/group/r/-/releases.atom"),
        ("https://gitlab.com/o/r/-/releases", "gitlab.com/o/r/-/releases.atom"),
        ("https://codeberg.org/o/r", "codeberg.org/o/r/releases.rss"),
        ("https://codeberg.org/o/r/releases", "codeberg.org/o/r/releases.rss"),
        ("https://bsky.app/profile/ada.bsky.social", "bsky.app/profile/ada.bsky.social/rss"),
        ("https://medium.com/@ada", "medium.com/feed/@ada"), ("medium.com/a-b", "medium.com/feed/a-b"),
        ("https://medium.com/tag/swift", "medium.com/feed/tag/swift"), ("ada.medium.com", "ada.medium.com/feed"),
        ("https://ada.substack.com/?utm=1", "ada.substack.com/feed"),
        ("https://stackoverflow.com/questions/tagged/c%2b%2b", "stackoverflow.com/feeds/tag/c%2b%2b"),
        ("news.ycombinator.com", "news.ycombinator.com/rss"),
        ("https://news.ycombinator.com/news", "news.ycombinator.com/rss"),
        ("@ada@town.example", "town.example/@ada.rss"),
        ("https://home.example/@ada@town.example", "town.example/@ada.rss"),
        ("!rust@lemmy.example", "lemmy.example/feeds/c/rust.xml"),
    ]

    private static func found(_ pasted: String) -> FoundSource? { sourceURL(pasted).flatMap(PastedAddress.source) }

    @Test(arguments: feeds) func theAddressShowsItsFeed(pasted: String, feed: String) {
        #expect(Self.found(pasted) == FoundSource(.feed, "https://\(feed)"))
        #expect(Self.found("https://\(feed)") == nil, "A feed represents no other source.")
    }

    @Test func eachRowOfTheTableHasATest() {
        for row in PastedAddress.rows {
            let pattern = row.feed.split(separator: "*", omittingEmptySubsequences: false)
            let isTested = Self.feeds.contains { feed in
                feed.feed.hasPrefix(pattern[0]) && feed.feed.hasSuffix(pattern[pattern.count - 1])
            }
            #expect(isTested, "\(row)")
        }
        #expect(Self.feeds.count >= PastedAddress.rows.count)
    }

    @Test(arguments: [
        "https://planet.example/", "https://blog.example/tags/linux", "https://town.example/@ada",
        "https://www.youtube.com/@ada", "https://www.youtube.com/watch?v=1", "https://www.youtube.com/playlist",
        "https://github.com/o", "https://github.com/o/r/issues/1", "https://github.com/o/r/commits/main.atom",
        "https://gitlab.com/o/r.atom", "https://www.reddit.com/r/linux.rss", "https://www.reddit.com/r/a/comments/1/b",
        "https://medium.com/feed", "http://github.com:8080/o/r", "https://notgithub.com/o/r", "https://github.com",
        "https://user@github.com/", "https://substack.com/",
    ]) func otherAddressesAreAsked(pasted: String) { #expect(Self.found(pasted) == nil) }

    @Test func addressesOfAPIsShowTheirKind() {
        #expect(
            Self.found("https://town.example/api/v1/timelines/public?limit=1")
                == FoundSource(.mastodon, "https://town.example"))
        let team = Self.found("intranet.example/api/users/posts")
        #expect(team == FoundSource(.usersPosts, "https://intranet.example/api"))
    }

    @Test func nobodyIsAskedForAnAddressThatShowsItsFeed() {
        var request = FetchRequest(.feed, url: "https://github.com/o/r")
        request.isPasted = true
        let failure = Fetcher(request: request).fetch().head.failure
        #expect(failure?.found == FoundSource(.feed, "https://github.com/o/r/releases.atom") && failure?.reply == nil)
        request.kind = FetchRequest.Kind.mastodon.rawValue
        request.url = "http://user@127.0.0.1:1/"
        #expect(Fetcher(request: request).fetch().head.failure?.found == nil)
    }

    // MARK: Pages

    @Test(
        arguments: [
            ("https://www.youtube.com/@ada?si=1", "https://www.youtube.com/feeds/videos.xml?channel_id=UC1", ""),
            ("https://town.example/@ada", "https://town.example/@ada.rss", ""),
            ("https://town.example/tags/linux/", "/tags/linux.rss", ""), ("https://town.example/@ada", nil, "@ada.rss"),
            ("https://lemmy.example/c/rust", "/feeds/c/rust.xml?sort=Active", ""),
        ] as [(String, String?, String)])
    func aPageStandsForItsOwnFeed(page: String, link: String?, fallback: String) throws {
        let url = try #require(HTTPURL(page))
        let feed = try #require(url.resolving(link ?? fallback))
        let found = try found(page, link: link, body: link == nil ? "<div class=a id='mastodon'>" : "")
        #expect(found == FoundSource(.feed, feed.description))
    }

    @Test func aPageOfAServerOfMastodonStandsForItsTimeline() throws {
        let page = "https://town.example:8443/explore"
        #expect(try found(page, body: "<div id=mastodon>") == FoundSource(.mastodon, "https://town.example:8443"))
    }

    @Test(arguments: [
        "https://other.example/@ada.rss", "/feed", "/@eve.rss", "https://www.youtube.com/feeds/videos.xml",
        "http://town.example/@ada.rss",
    ])
    func otherFeedsOfAPageAreNotTakenWithoutAQuestion(link: String) throws {
        #expect(try found("https://town.example/@ada", link: link) == nil)
    }

    private func found(_ page: String, link: String? = nil, body: String = "") throws -> FoundSource? {
        let link = link.map { "<link rel=alternate type=application/rss+xml href='\($0)'>" } ?? ""
        let document = "<!DOCTYPE html><html><head>\(link)</head><body>\(body)</body></html>"
        var response = HTTPResponse(body: Array(document.utf8), url: try #require(HTTPURL(page)))
        return #expect(throws: UpstreamError.self) { try decodeFeed(&response, for: "s") }?.found
    }
}
