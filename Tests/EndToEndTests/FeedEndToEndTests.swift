import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .timeLimit(.minutes(20))) struct FeedEndToEndTests {
    private static let usersPosts = """
        {"data":[{"uid":"e406bae8-1fd4-4e33-81d3-2fd053a40493","name":"Charles Riasc",\
        "email":"Delaney.Walsh@gmail.com","profile_pic":"https://mock.example/profile/profile9.jpg",\
        "posts":[{"id":50531,"date":"Tue Mar 08 2022 06:56:06 GMT-0500",\
        "pics":["https://mock.example/pics/pics104.jpg"]}]}]}
        """
    private static let timeline = """
        [{"id":"103254962155278888","created_at":"2022-03-09T23:27:32.000Z","in_reply_to_id":null,\
        "sensitive":false,"spoiler_text":"","visibility":"public","language":"en",\
        "uri":"https://town.example/users/ada/statuses/1","url":"https://town.example/@ada/1",\
        "replies_count":1,"reblogs_count":0,"favourites_count":12,"content":"<p>Counted to infinity. &amp; back.</p>",\
        "reblog":null,"account":{"id":"7","username":"ada","acct":"ada","display_name":"Ada",\
        "url":"https://town.example/@ada","avatar":"https://town.example/a.png"},"media_attachments":[],\
        "mentions":[],"tags":[{"name":"maths","url":"https://town.example/tags/maths"}],"emojis":[]}]
        """
    private static let feed = """
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0"><channel><title>Planet</title><link>https://planet.example/</link>
        <item><title>Newest</title><link>https://planet.example/1</link><guid>https://planet.example/1</guid>
        <pubDate>Thu, 10 Mar 2022 10:00:00 +0000</pubDate><description>&lt;p&gt;Hello&lt;/p&gt;</description></item>
        </channel></rss>
        """

    private func upstream() async throws -> FakeUpstream {
        let upstream = try await FakeUpstream.start()
        upstream.setDocument("/team/users/posts", contentType: "application/json", body: Array(Self.usersPosts.utf8))
        upstream.setDocument(
            "/town/api/v1/timelines/public", contentType: "application/json; charset=utf-8",
            body: Array(Self.timeline.utf8))
        upstream.setDocument("/rss.xml", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
        return upstream
    }

    private func configuration(_ upstream: FakeUpstream) -> String {
        """
        facts: {enabled: false}
        http: {timeout: 60s}
        posts:
          sources:
            planet: {kind: feed, url: '\(upstream.baseURL)/rss.xml'}
            town: {kind: mastodon, url: '\(upstream.baseURL)/town'}
            team: {kind: users-posts, url: '\(upstream.baseURL)/team'}

        """
    }

    /// Returns the ids of a listing to a pipe.
    private func ids(_ result: ProgramResult) -> [String] {
        result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
    }

    @Test func threeKindsAtOnceNewestFirstAndStillThereWithoutTheirUpstreams() async throws {
        let upstream = try await upstream()
        do {
            let daemon = try RunningDaemon(configuration: configuration(upstream))
            #expect(try daemon.ctl("refresh", "--wait").status == 0)
            let feed = try daemon.ctl("feed")
            #expect(feed.status == 0, "\(feed)")
            let lines = feed.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            #expect(lines.map { $0[0].split(separator: ":")[0] } == ["planet", "town", "team"])
            #expect(lines.map { $0[1] } == ["2022-03-10T10:00:00Z", "2022-03-09T23:27:32Z", "2022-03-08T11:56:06Z"])
            #expect(lines.map { $0[2] } == ["Planet", "Ada", "Charles Riasc"])
            #expect(lines.map { $0[3] } == ["Newest: Hello", "Counted to infinity. & back.", "[1 image]"])
            #expect(feed.errors.isEmpty)
            #expect(try ids(daemon.ctl("feed", "--author", "Ada")) == ["town:103254962155278888"])
            #expect(try daemon.ctl("feed", "--source", "village").status == 1)

            upstream.setFault(.status(500))
            #expect(try daemon.ctl("refresh", "--wait").status == 75)
            let offline = try daemon.ctl("feed")
            #expect(offline.status == 0)
            #expect(offline.output == feed.output)
            #expect(offline.errors.isEmpty, "\(offline.errors)")
            let json = try daemon.ctl("--json", "feed")
            #expect(json.output.contains(#""error":{"kind":"http""#))
            #expect(json.output.contains(#""items":[{"id":"planet:"#))
            #expect(try daemon.ctl("post", "town:103254962155278888").output.contains("infinity"))
        }
        await upstream.stop()
    }

    @Test func whatWasReadStaysReadWhenTheCacheIsCleared() async throws {
        let upstream = try await upstream()
        do {
            let daemon = try RunningDaemon(configuration: configuration(upstream))
            #expect(try daemon.ctl("refresh", "--wait").status == 0)
            #expect(try daemon.ctl("read", "team:50531").status == 0)
            #expect(try ids(daemon.ctl("feed", "--unread")).count == 2)
            #expect(try daemon.ctl("read", "team:50531", "gone:1").status == 1)
            #expect(try daemon.ctl("clear-cache").output == "removed 3 items\n")
            #expect(try daemon.ctl("refresh", "--wait").status == 0)
            #expect(try ids(daemon.ctl("feed")).count == 3)
            #expect(try ids(daemon.ctl("feed", "--unread")).count == 2)
            #expect(try daemon.ctl("read", "--all").output == "2 marked as read\n")
            #expect(try daemon.ctl("feed", "--unread").status == 1)
        }
        await upstream.stop()
    }

    @Test func feedsAreAddedImportedAndRemoved() async throws {
        let upstream = try await upstream()
        do {
            let daemon = try RunningDaemon(configuration: "facts: {enabled: false}\nhttp: {timeout: 60s}\n")
            let added = try daemon.ctl("feed", "add", "\(upstream.baseURL)/rss.xml", "--name", "planet")
            #expect(added.status == 0 && added.output == "added: planet\n", "\(added)")
            #expect(try ids(daemon.ctl("feed", "--source", "planet")).count == 1)
            let outlines = (1...50).map { number in
                upstream.setDocument("/\(number).xml", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
                return "<outline text=\"../../f\(number)\" xmlUrl=\"\(upstream.baseURL)/\(number).xml\"/>"
            }
            let opml = "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>"
            let imported = try daemon.ctl("feed", "import", "-", input: opml)
            #expect(imported.status == 0 && imported.output == "50 added\n", "\(imported)")
            #expect(try ids(daemon.ctl("feed", "--source", "f50")).count == 1)
            let removed = try daemon.ctl("feed", "remove", "f50")
            #expect(removed.status == 0 && removed.output == "removed: f50\n", "\(removed)")
            #expect(try daemon.ctl("feed", "--source", "f50").status == 1)
            #expect(try daemon.ctl("feed", "remove", "f50").status == 1)
            let exported = try daemon.ctl("feed", "export").output
            #expect(exported.contains("xmlUrl=\"\(upstream.baseURL)/1.xml\""))
            let again = try daemon.ctl("feed", "import", "-", input: exported)
            #expect(again.status == 0 && again.output == "0 added, 50 already there\n", "\(again)")
            let refused = try daemon.ctl("feed", "add", "ftp://x/", "--name", "bad")
            #expect(refused.status == 64 && refused.errors.contains("is not an http or https address"), "\(refused)")
            let gone = try daemon.ctl("feed", "add", "\(upstream.baseURL)/nowhere")
            #expect(gone.status == 75 && gone.errors.contains("HTTP 404"), "\(gone)")
        }
        await upstream.stop()
    }

    @Test func withoutASourceTheCommandSaysHowToAddOne() throws {
        let daemon = try RunningDaemon()
        let result = try daemon.ctl("feed")
        #expect(result.status == 1)
        #expect(result.errors.contains("norrisctl feed add https://"))
    }
}
