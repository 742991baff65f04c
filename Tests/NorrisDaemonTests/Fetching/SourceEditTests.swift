import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import NorrisText
import NorrisThreads
import Testing

@testable import NorrisCommands
@testable import NorrisDaemon
@testable import NorrisFetch

/// `source.edit`, tags, and the first fetch of an added source.
@Suite(.timeLimit(.minutes(20))) struct SourceEditTests {
    private static func feed(_ items: ClosedRange<Int>) -> [UInt8] {
        let items = items.map {
            "<item><guid>\($0)</guid><title>\($0)</title><pubDate>2001-01-0\($0)T00:00:00Z</pubDate></item>"
        }
        return Array("<rss><channel><title>Blog</title>\(items.joined())</channel></rss>".utf8)
    }

    private func run(_ body: (FetchingDaemon, FakeUpstream, String) async throws -> Void) async throws {
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/old", contentType: "application/rss+xml", body: Self.feed(1...3))
            upstream.setDocument("/new", contentType: "application/rss+xml", body: Self.feed(2...5))
            upstream.setDocument("/page", contentType: "text/html", body: Array("<html><body>x</body></html>".utf8))
            let own = "posts: {sources: {own: {kind: feed, url: '\(upstream.baseURL)/own', enabled: false}}}"
            try await FetchingDaemon.run(upstream, others: own) { try await body($0, upstream, upstream.baseURL) }
        }
    }

    private func add(_ url: String, _ rest: String, to daemon: FetchingDaemon) throws {
        let parameters = #"{"url":"\#(url)","wait":true\#(rest)}"#
        let _: SourceAdd.Result = try daemon.client(.administrator).call(SourceAdd.self, parameters)
    }

    private func edit(_ parameters: String, _ daemon: FetchingDaemon) throws {
        let _: NoMembers = try daemon.client(.administrator).call(SourceEdit.self, parameters)
    }

    private func titles(_ daemon: FetchingDaemon, _ parameters: String) throws -> [String?] {
        try daemon.client().call(PostList.self, parameters).items.map(\.title)
    }

    private func source(_ daemon: FetchingDaemon) throws -> PostSources.Source? {
        try daemon.client(.administrator).call(PostSources.self).items.first { $0.name == "blog" }
    }

    @Test func aNewAddressKeepsNamePostsAndMarks() async throws {
        try await run { daemon, upstream, base in
            try add(base + "/old", #","name":"blog","refresh":"2h""#, to: daemon)
            let posts = try daemon.client().call(PostList.self, #"{"source":"blog"}"#).items
            let read = try #require(posts.first { $0.title == "2" })
            let _: PostMarkRead.Result = try daemon.client().call(PostMarkRead.self, #"{"ids":["\#(read.id)"]}"#)
            try edit(#"{"name":"blog","url":"\#(base)/new","title":"My blog"}"#, daemon)
            #expect(try titles(daemon, #"{"source":"blog"}"#) == ["5", "4", "3", "2", "1"])
            #expect(try titles(daemon, #"{"source":"blog","unread":true}"#) == ["5", "4", "3", "1"])
            #expect(try daemon.client().call(PostGet.self, #"{"id":"\#(read.id)"}"#).post.title == "2")
            let edited = try #require(try source(daemon))
            #expect(edited.url == base + "/new" && edited.title == "My blog" && edited.items == 5)
            // The first run of the new address counts for the schedule.
            let next = daemon.core.prefetcher.schedule(of: "blog")?.nextRun(daemon.clock.now)
            #expect(next ?? .now() > daemon.clock.now.advanced(by: .hours(1)))
            #expect(upstream.requests.filter { $0.path == "/new" }.count == 1)
            // Settings that are not named stay; an empty text restores the default.
            #expect(daemon.core.sources.current.posts.last?.configuration.refresh == .hours(2))
            try edit(#"{"name":"blog","refresh":"","title":""}"#, daemon)
            #expect(daemon.core.sources.current.posts.last?.configuration.refresh == .minutes(30))
            #expect(try source(daemon)?.title == "Blog")
            #expect(await daemon.core.stores.added.all()?.map(\.settings.url) == [base + "/new"])
        }
    }

    @Test("A source has the title that a user has set, else the one of its feed, also after a start")
    func titlesOfSources() async throws {
        let folder = TemporaryFolder()
        func shown(_ daemon: FetchingDaemon) throws -> [String?] {
            let post = try #require(try daemon.client().call(PostList.self, #"{"source":"blog"}"#).items.first)
            let got = try daemon.client().call(PostGet.self, #"{"id":"\#(post.id)"}"#).post
            return [try source(daemon)?.title, post.sourceTitle, got.sourceTitle]
        }
        try await FakeUpstream.run { upstream in
            let body = Self.feed(1...3)
            upstream.setDocument("/old", contentType: "application/rss+xml", body: body)
            let own = "own: {kind: feed, url: '\(upstream.baseURL)/old?own', title: Mine}"
            try await FetchingDaemon.run(upstream, in: folder, others: "posts: {sources: {\(own)}}") { daemon in
                try add(upstream.baseURL + "/old", #","name":"blog""#, to: daemon)
                #expect(try shown(daemon) == ["Blog", "Blog", "Blog"])
                try edit(#"{"name":"blog","title":"My blog"}"#, daemon)
                #expect(try shown(daemon) == ["My blog", "My blog", "My blog"])
                try edit(#"{"name":"blog","title":""}"#, daemon)
                let items = try daemon.client().call(PostSources.self).items
                #expect(items.map(\.title) == ["Mine", "Blog"])
                // A reply without changes (304) has no title.
                try waitForRun(daemon)
                try refresh(daemon)
                #expect(await daemon.core.stores.records.fetch(of: "blog")?.title == "Blog")
                // Favorites keep the title, and are imported with it.
                let id = try #require(try daemon.client().call(PostList.self, #"{"source":"blog"}"#).items.first).id
                let user = try daemon.client()
                let _: FavoriteAdd.Result = try user.call(FavoriteAdd.self, #"{"kind":"post","id":"\#(id)"}"#)
                let kept = try user.call(FavoriteList.self).items
                #expect(kept.first?.post?.sourceTitle == "Blog")
                #expect(try user.call(FavoriteRemove.self, #"{"kind":"post","id":"\#(id)"}"#).removed)
                let list = FavoriteImport.Parameters(items: kept).jsonText
                #expect(try user.call(FavoriteImport.self, list).added == 1)
                #expect(try user.call(FavoriteList.self).items.first?.post?.sourceTitle == "Blog")
            }
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                #expect(try shown(daemon) == ["Blog", "Blog", "Blog"])
                let _: Removed = try daemon.client(.administrator).call(CacheClear.self, #"{"source":"blog"}"#)
                #expect(daemon.core.stores.posts.title(of: "blog") == nil)
            }
        }
    }

    @Test func whatCannotBeChangedStays() async throws {
        try await run { daemon, upstream, base in
            try add(base + "/old", #","name":"blog""#, to: daemon)
            try add(base + "/new", #","name":"other""#, to: daemon)
            upstream.setFault(.status(404), path: "/gone")
            let before = await daemon.core.stores.added.all()
            func refusal(_ parameters: String) -> ResponseError? {
                daemon.refusal(SourceEdit.self, parameters, as: .administrator)
            }
            let gone = refusal(#"{"name":"blog","url":"\#(base)/gone","title":"x"}"#)
            #expect(gone?.code == .nothingCached && gone?.hint == "Nothing was changed.")
            #expect(refusal(#"{"name":"blog","url":"\#(base)/page"}"#)?.message.contains("nothing was changed") == true)
            #expect(
                refusal(#"{"name":"blog","url":"\#(base)/new"}"#)?.message == "The source other has this address.")
            #expect(refusal(#"{"name":"blog","url":"ftp://h/"}"#)?.details["parameter"] == "url")
            #expect(refusal(#"{"name":"blog"}"#)?.message == "Name at least one setting to change.")
            #expect(refusal(#"{"name":"blog","refresh":"soon"}"#)?.details["parameter"] == "refresh")
            #expect(refusal(#"{"name":"none","title":"x"}"#)?.code == .notFound)
            #expect(refusal(#"{"name":"own","title":"x"}"#)?.hint?.contains("config.yaml") == true)
            #expect(daemon.refusal(SourceEdit.self, #"{"name":"blog","title":"x"}"#)?.code == .permissionDenied)
            #expect(await daemon.core.stores.added.all() == before)
            #expect(try titles(daemon, #"{"source":"blog"}"#) == ["3", "2", "1"])
        }
    }

    @Test func aSourceThatIsBeingFetchedIsChangedAfterwards() async throws {
        try await run { daemon, upstream, base in
            try add(base + "/old", #","name":"blog""#, to: daemon)
            let lock = daemon.core.prefetcher.lock(of: "blog")
            #expect(await lock.lock())
            // The socket keeps the request until the reply is read.
            let client = try daemon.client(.administrator)
            let edit = #"{"name":"blog","url":"\#(base)/new"}"#
            try client.send(line: #"{"jsonrpc":"2.0","id":1,"method":"source.edit","params":\#(edit)}"#)
            // Other settings do not wait.
            try self.edit(#"{"name":"blog","title":"T"}"#, daemon)
            #expect(upstream.requests.allSatisfy { $0.path != "/new" })
            lock.unlock()
            _ = try client.receiveLine()
            let edited = try #require(try source(daemon))
            #expect(edited.url == base + "/new" && edited.title == "T")
        }
    }

    // MARK: Moved and gone

    private func refresh(_ daemon: FetchingDaemon) throws {
        let _: SourceRefresh.Result = try daemon.client(.administrator).call(SourceRefresh.self, #"{"source":"blog"}"#)
        try waitForRun(daemon)
    }

    private func waitForRun(_ daemon: FetchingDaemon) throws {
        while true {
            let event = try daemon.watch.receiveEvent()
            if event.source == "blog", event.phase == .finished || event.phase == .failed { return }
        }
    }

    @Test("A source has moved after a week of permanent redirects to one feed", arguments: [301, 302])
    func moves(status: Int) async throws {
        try await run { daemon, upstream, base in
            try add(base + "/old", #","name":"blog","refresh":"365d""#, to: daemon)
            try waitForRun(daemon)
            upstream.setFault(.redirect(to: "/new?a=1", status: status), path: "/old")
            for _ in 0..<8 {
                #expect(try source(daemon)?.movedTo == nil)
                daemon.clock.advance(by: .days(1))
                try refresh(daemon)
            }
            let moved = try daemon.client().call(PostSources.self).items.first { $0.name == "blog" }?.movedTo
            #expect(moved == (status == 301 ? base + "/new" : nil))
            #expect(try source(daemon)?.movedTo == (status == 301 ? base + "/new?a=1" : nil))
            #expect(try source(daemon)?.url == base + "/old")
            // A page for a login is no feed.
            upstream.setFault(.redirect(to: "/page", status: status), path: "/old")
            try refresh(daemon)
            #expect(try source(daemon)?.movedTo == nil && (try source(daemon)?.consecutiveFailures ?? 0) > 0)
        }
    }

    @Test func aSourceThatIsGoneIsNotFetchedUntilItIsChangedOrAnAdministratorAsks() async throws {
        try await run { daemon, upstream, base in
            try add(base + "/old", #","name":"blog""#, to: daemon)
            try waitForRun(daemon)
            func requests() -> Int { upstream.requests.count { $0.path == "/old" } }
            upstream.setFault(.status(410), path: "/old")
            try refresh(daemon)
            let message = "127.0.0.1:\(upstream.port)/old is gone (HTTP 410)."
            #expect(try source(daemon)?.freshness.error?.message == message)
            #expect(daemon.core.prefetcher.schedule(of: "blog")?.nextRun(daemon.clock.now) == nil)
            let refusal = daemon.refusal(SourceRefresh.self, #"{"source":"blog"}"#)
            #expect(refusal?.code == .permissionDenied && refusal?.message.contains("410") == true)
            #expect(try titles(daemon, #"{"source":"blog"}"#) == ["3", "2", "1"])
            #expect(requests() == 2)
            upstream.setFault(nil, path: "/old")
            try refresh(daemon)
            #expect(try source(daemon)?.freshness.error == nil && requests() == 3)
            upstream.setFault(.status(410), path: "/old")
            try refresh(daemon)
            upstream.setFault(nil, path: "/old")
            try edit(#"{"name":"blog","title":"Again"}"#, daemon)
            try waitForRun(daemon)
            #expect(try source(daemon)?.freshness.error == nil)
            #expect(requests() == 5)
        }
    }

    // MARK: Pasted addresses

    @Test func aPageStandsForItsFeedOrServer() async throws {
        try await run { daemon, upstream, base in
            let page = Array("<html><body><div id='mastodon'></div></body></html>".utf8)
            for path in ["/@ada", "/about"] { upstream.setDocument(path, contentType: "text/html", body: page) }
            upstream.setDocument("/@ada.rss", contentType: "application/rss+xml", body: Self.feed(1...2))
            upstream.setDocument("/api/v1/timelines/public", contentType: "application/json", body: Array("[]".utf8))
            func add(_ path: String, _ rest: String = "") throws -> SourceAdd.Result {
                let parameters = #"{"url":"\#(base)\#(path)","wait":true\#(rest)}"#
                return try daemon.client(.administrator).call(SourceAdd.self, parameters)
            }
            func shown(_ name: String) throws -> [String]? {
                let all = try daemon.client(.administrator).call(PostSources.self).items
                return all.first { $0.name == name }.map { [$0.kind, $0.url] }
            }
            #expect(try add("/@ada", #","name":"ada""#) == SourceAdd.Result(name: "ada", isAdded: true, items: 2))
            #expect(try shown("ada") == ["feed", base + "/@ada.rss"])
            #expect(upstream.requests.filter { $0.path.hasPrefix("/@") }.map(\.path) == ["/@ada", "/@ada.rss"])
            #expect(try add("/@ada") == SourceAdd.Result(name: "ada", isAdded: false))
            #expect(try add("/about", #","name":"town""#).isAdded)
            #expect(try shown("town") == ["mastodon", base])
            // A kind that was chosen is not changed.
            let feed = #"{"url":"\#(base)/about","wait":true,"kind":"feed"}"#
            #expect(daemon.refusal(SourceAdd.self, feed, as: .administrator)?.details["feed_urls"] == [])
            try edit(#"{"name":"ada","url":"\#(base)/old"}"#, daemon)
            try edit(#"{"name":"ada","url":"\#(base)/@ada"}"#, daemon)
            #expect(try shown("ada") == ["feed", base + "/@ada.rss"])
            // A page that represents itself is refused.
            upstream.setDocument("/@ada.rss", contentType: "text/html", body: page)
            try edit(#"{"name":"ada","url":"\#(base)/old"}"#, daemon)
            let error = daemon.refusal(SourceEdit.self, #"{"name":"ada","url":"\#(base)/@ada"}"#, as: .administrator)
            #expect(error?.details["parameter"] == "url")
            #expect(try shown("ada") == ["feed", base + "/old"])
        }
    }

    // MARK: Tags

    @Test func tagsSelectSources() async throws {
        try await run { daemon, _, base in
            try add(base + "/old", #","name":"blog","tags":["Linux","مدونات","a.b_c-1"]"#, to: daemon)
            try add(base + "/new", #","name":"other","tags":["news"],"title":"Kernel Notes""#, to: daemon)
            #expect(try source(daemon)?.tags == ["linux", "مدونات", "a.b_c-1"])
            #expect(try titles(daemon, #"{"tag":"LINUX"}"#) == ["3", "2", "1"])
            #expect(try titles(daemon, #"{"tag":"news","source":"blog"}"#) == [])
            #expect(try daemon.client().call(PostSearch.self, #"{"query":"2","tag":"linux"}"#).items.count == 1)
            #expect(try daemon.client().call(PostSources.self, #"{"tag":"news"}"#).items.map(\.name) == ["other"])
            #expect(try daemon.client().call(PostMarkRead.self, #"{"all":true,"tag":"linux"}"#).marked == 3)
            #expect(try titles(daemon, #"{"unread":true}"#).count == 4)
            #expect(try daemon.client().call(PostMarkUnread.self, #"{"last":true}"#).marked == 3)
            #expect(try daemon.client().call(PostMarkUnread.self, #"{"last":true}"#).marked == 0)
            #expect(daemon.refusal(PostList.self, #"{"tag":"none"}"#)?.code == .notFound)
            for (word, hint) in [
                (#"{"tag":"linx"}"#, #"Did you mean "linux"? List the tags: norrisctl feed sources"#),
                (#"{"source":"blgo"}"#, #"Did you mean "blog"? List the sources: norrisctl feed sources"#),
                (#"{"source":"kernel"}"#, #"Did you mean "other"? List the sources: norrisctl feed sources"#),
                (#"{"source":"none"}"#, "List the sources: norrisctl feed sources"),
            ] { #expect(daemon.refusal(PostList.self, word)?.hint == hint) }
            let edited = daemon.refusal(SourceEdit.self, #"{"name":"bolg","title":"x"}"#, as: .administrator)
            #expect(edited?.hint == #"Did you mean "blog"? List the sources: norrisctl feed sources"#)
            let refreshed = daemon.refusal(SourceRefresh.self, #"{"source":"fcats"}"#)
            #expect(refreshed?.hint == #"Did you mean "facts"? List the sources: norrisctl status"#)
            let cleared = daemon.refusal(CacheClear.self, #"{"source":"none"}"#, as: .administrator)
            #expect(cleared?.hint == "List the sources: norrisctl status")
            let admin = try daemon.client(.administrator)
            #expect(try admin.call(SourceRefresh.self, #"{"tag":"Linux"}"#).started == ["blog"])
            #expect(try admin.call(SourceRefresh.self, #"{"tag":"news","source":"blog"}"#).started == [])
            #expect(daemon.refusal(SourceRefresh.self, #"{"tag":"none"}"#)?.code == .notFound)
            #expect(daemon.refusal(PostMarkRead.self, #"{"ids":["x"],"tag":"linux"}"#)?.details["parameter"] == "tag")
            #expect(daemon.refusal(PostMarkUnread.self, "{}")?.details["parameter"] == "ids")
            let before = #"{"all":true,"before":"2001-01-03T00:00:00Z"}"#
            #expect(try daemon.client().call(PostMarkRead.self, before).marked == 3)
            #expect(try titles(daemon, #"{"unread":true,"source":"blog"}"#) == ["3"])
        }
    }

    @Test(
        "Tags that are none are refused",
        arguments: [
            ["two words"], [String(repeating: "x", count: 41)], ["a,b"], ["#x"], (1...17).map { "t\($0)" },
            (1...1000).map { "t\($0)" },
        ]) func badTags(tags: [String]) async throws
    {
        try await run { daemon, _, base in
            let list = String(decoding: tags.jsonBytes, as: UTF8.self)
            let parameters = #"{"url":"\#(base)/old","tags":\#(list)}"#
            let error = daemon.refusal(SourceAdd.self, parameters, as: .administrator)
            #expect(error?.code == .invalidParams && error?.details["parameter"] == "tags", "\(error as Any)")
        }
    }

    @Test func anExportedListIsImportedAsItWas() throws {
        let feeds = [
            FeedLink(title: "B", url: "https://b.example/", tags: ["news"]),
            FeedLink(title: "a", url: "https://a.example/?a=1&b=2"),
            FeedLink(title: "Größe & <x>", url: "https://c.example/", tags: ["linux", "مدونات", "news"]),
            FeedLink(title: "d", url: "https://d.example/", tags: ["news", "a.b_c-1"]),
        ]
        let document = OPML.document(feeds)
        var response = HTTPResponse(body: Array(document.utf8), url: try #require(HTTPURL("http://localhost/")))
        let links = try Fetched(opml: &response).items.compactMap { $0 as? FeedLink }
        #expect(links == [feeds[1], feeds[0], feeds[3], feeds[2]])
        #expect(OPML.document(links) == document)
    }

    // MARK: The first fetch

    @Test(arguments: [(#","unread":1"#, 1), ("", 3)]) func theFirstFetchLeavesTheNewestUnread(
        parameter: String, unread: Int
    ) async throws {
        try await run { daemon, _, base in
            try add(base + "/old", #","name":"blog"\#(parameter)"#, to: daemon)
            #expect(try source(daemon)?.unread == unread)
            #expect(await daemon.core.stores.added.all()?.first?.settings.unread == (unread == 1 ? 1 : 10))
        }
    }
}
