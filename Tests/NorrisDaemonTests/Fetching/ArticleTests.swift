import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// The texts of posts' pages, from a request to the reply.
@Suite(.timeLimit(.minutes(20))) struct ArticleTests {
    private static let text = String(repeating: "The harbour was full of ships, and all of them were late. ", count: 9)
        .dropLast(1).description

    private func run(_ body: (FetchingDaemon, FakeUpstream) async throws -> Void) async throws {
        try await FakeUpstream.run { upstream in
            try await FetchingDaemon.run(upstream, facts: ", enabled: false") { try await body($0, upstream) }
        }
    }

    private func setPage(_ upstream: FakeUpstream, _ path: String, _ text: String = text) {
        let page = "<title>Ships</title><nav><a href='/'>Home</a></nav><article><p>\(text)</p></article>"
        upstream.setDocument(path, contentType: "text/html", body: Array(page.utf8))
    }

    /// - Parameter items: titles, and the paths to which they link.
    private func setFeed(_ upstream: FakeUpstream, _ items: [(String, String)], audio: Bool = false) {
        let file = audio ? "<enclosure url='https://e.example/a.mp3' type='audio/mpeg'/>" : ""
        let items = items.map { title, path in
            let link = path.isEmpty ? "" : "<link>\(upstream.baseURL)\(path)</link>"
            return "<item><guid>\(title)</guid><title>\(title)</title><description>Two short lines.</description>"
                + "\(link)\(file)</item>"
        }
        upstream.setDocument(
            "/feed", contentType: "application/rss+xml",
            body: Array("<rss><channel><title>Blog</title>\(items.joined())</channel></rss>".utf8))
    }

    private func add(_ daemon: FetchingDaemon, _ upstream: FakeUpstream, article: Bool = false) throws -> Int? {
        let parameters = #"{"url":"\#(upstream.baseURL)/feed","name":"blog","wait":true,"article":\#(article)}"#
        let result: SourceAdd.Result = try daemon.client(.administrator).call(SourceAdd.self, parameters)
        try daemon.watch.wait(for: .finished)
        return result.items
    }

    private func refresh(_ daemon: FetchingDaemon) throws {
        _ = try daemon.refresh(#"{"source":"blog"}"#)
        try daemon.watch.wait(for: .finished)
    }

    /// The next event of new items.
    private func item(_ daemon: FetchingDaemon) throws -> Event {
        while true {
            let event = try daemon.watch.receiveEvent()
            if event.topic == .item { return event }
        }
    }

    private func posts(_ daemon: FetchingDaemon) throws -> [String: String] {
        let posts = try daemon.client().call(PostList.self, #"{"limit":100}"#).items
        return Dictionary(uniqueKeysWithValues: posts.map { ($0.title ?? "", $0.text ?? "") })
    }

    @Test("A post keeps the text of its page as long as its address, and is found and hidden by it")
    func aUserFetchesAnArticle() async throws {
        try await run { daemon, upstream in
            setFeed(upstream, [("One", "/one")], audio: true)
            setPage(upstream, "/one", Self.text + " <a href='/x'>More</a>")
            _ = try add(daemon, upstream)
            let user = try daemon.client()
            let id = try #require(try user.call(PostList.self).items.first).id
            let _: MuteAdd.Result = try user.call(MuteAdd.self, #"{"query":"harbour"}"#)
            let post = try user.call(PostArticle.self, #"{"id":"\#(id)"}"#).post
            #expect(post.text == Self.text + " More[1]" && post.title == "One" && post.author.name == "Blog")
            #expect(post.links == ["\(upstream.baseURL)/x", "https://e.example/a.mp3"])
            #expect(try user.call(PostGet.self, #"{"id":"\#(id)"}"#).post == post)
            #expect(try user.call(PostList.self).items == [])
            #expect(try user.call(PostSearch.self, #"{"query":"harbour","muted":true}"#).total == 1)
            // An edit of the item leaves the text, and another page does not.
            setFeed(upstream, [("One", "/one")])
            try refresh(daemon)
            #expect(try user.call(PostGet.self, #"{"id":"\#(id)"}"#).post.text == post.text)
            setFeed(upstream, [("One", "/two")])
            try refresh(daemon)
            #expect(try user.call(PostGet.self, #"{"id":"\#(id)"}"#).post.text == "Two short lines.")
        }
    }

    @Test func aPageWithoutAnArticleLeavesThePostAndIsNoFailureOfTheSource() async throws {
        try await run { daemon, upstream in
            setFeed(upstream, [("None", ""), ("Short", "/short"), ("Login", "/login"), ("Gone", "/gone")])
            setPage(upstream, "/short", "Few words.")
            let login = "<form>Log in: <input type=password></form>"
            upstream.setDocument("/login", contentType: "text/html", body: Array(login.utf8))
            _ = try add(daemon, upstream)
            let before = try posts(daemon)
            for post in try daemon.client().call(PostList.self).items {
                let refusal = try #require(daemon.refusal(PostArticle.self, #"{"id":"\#(post.id)"}"#))
                #expect(refusal.code == (post.title == "None" ? .notFound : .nothingCached))
                let reasons = [
                    "None": "has no address", "Short": "has less text", "Login": "login", "Gone": "404",
                ]
                #expect(refusal.message.contains(reasons[post.title ?? ""] ?? "?"), "\(refusal)")
                guard refusal.code == .nothingCached else { continue }
                let last = refusal.detail("last_error", as: SourceFailure.self)
                #expect(last?.kind == (post.title == "Gone" ? .http : .decode), "\(refusal)")
            }
            #expect(try posts(daemon) == before)
            #expect(try daemon.client().call(PostSources.self).items.map(\.consecutiveFailures) == [0])
            #expect(daemon.refusal(PostArticle.self, #"{"id":"none"}"#)?.code == .notFound)
        }
    }

    @Test("New posts of a source with articles are published with the texts of their pages, each on its own")
    func articlesAreFetchedBeforePostsArePublished() async throws {
        try await run { daemon, upstream in
            setFeed(upstream, [("One", "/one"), ("Bad", "/bad"), ("None", "")])
            setPage(upstream, "/one")
            let start = try daemon.client().call(PostList.self, #"{"order":"arrived"}"#).next ?? ""
            #expect(try add(daemon, upstream, article: true) == 1)
            for title in ["One", "Bad"] { #expect(try item(daemon).items?.new.map(\.title) == [title]) }
            #expect(try posts(daemon) == ["One": Self.text, "Bad": "Two short lines.", "None": "Two short lines."])
            let arrived = try daemon.client().call(PostList.self, #"{"order":"arrived","cursor":"\#(start)"}"#)
            #expect(arrived.items.map(\.title) == ["None", "One", "Bad"])
            // A known post is not tried again, and its feed does not undo its text.
            let count = upstream.requests.count
            setFeed(upstream, [("Two", "/two"), ("One", "/one"), ("Bad", "/bad"), ("None", "")])
            setPage(upstream, "/two")
            try refresh(daemon)
            #expect(try item(daemon).items?.new.map(\.title) == ["Two"])
            #expect(upstream.requests.dropFirst(count).map(\.target) == ["/feed", "/two"])
            #expect(try posts(daemon)["One"] == Self.text && posts(daemon)["Two"] == Self.text)
        }
    }

    @Test("Only pages of the feed's own host get its headers, and a program's posts lead to public pages")
    func requests() async throws {
        try await FakeUpstream.run { upstream in
            let folder = TemporaryFolder()
            let file = try folder.write("Cookie: a=b\n", to: "headers")
            let sources = """
                posts:
                  sources:
                    made: {kind: exec, command: [/bin/true], headers_file: '\(file)'}
                    own: {kind: feed, url: '\(upstream.baseURL)/feed', headers_file: '\(file)', user_agent: mine}

                """
            try await FetchingDaemon.run(upstream, facts: ", enabled: false", others: sources, fetches: false) {
                daemon in
                func request(_ source: String, _ url: String) throws -> FetchRequest {
                    var post = Post()
                    post.url = url
                    return try #require(daemon.core.sources.current.posts.first { $0.name == source })
                        .articleRequest(for: post)
                }
                let own = try request("own", "\(upstream.baseURL)/one")
                #expect(own.headers == ["Cookie: a=b"] && own.feed == "\(upstream.baseURL)/feed")
                #expect(own.userAgent == "mine" && own.etag == nil)
                let port = upstream.baseURL.split(separator: ":")[2]
                for url in ["http://localhost:\(port)/", "http://127.0.0.1/", "https://127.0.0.1:\(port)/"] {
                    #expect(try request("own", url).headers == [], "\(url)")
                }
                let made = try request("made", "https://a.example/one")
                #expect(made.headers == [] && made.feed == "https://invalid")
            }
        }
    }

    @Test("At most 50 new posts of a fetch wait for their articles, and the first fetch decides what is unread")
    func theNumberOfArticlesIsLimited() async throws {
        try await run { daemon, upstream in
            setFeed(upstream, (1...60).map { ("Post \($0)", "/\($0)") })
            setPage(upstream, "/1")
            #expect(try add(daemon, upstream, article: true) == 10)
            for _ in 1...50 { _ = try item(daemon) }
            #expect(upstream.requests.count == 51)
            #expect(try posts(daemon).count == 60 && posts(daemon)["Post 1"] == Self.text)
            #expect(try daemon.client().call(PostSources.self).items.map(\.unread) == [10])
        }
    }
}
