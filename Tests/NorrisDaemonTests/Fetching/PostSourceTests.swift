import NorrisPrefetch
import NorrisServer
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon
@testable import NorrisProtocol

/// Tests of sources of posts, from the schedule to the reply.
@Suite(.timeLimit(.minutes(20))) struct PostSourceTests {
    @Test("A change of the fields of posts raises the number, so that unchanged feeds are decoded again")
    func theNumberOfStoredPostsRises() {
        let number = "posts.4"
        let fields = """
            {id:string,source:string,source_title?:string,author:{id:string,name:string,\
            handle?:string,avatar_url?:string,email?:string},published_at?:time,title?:string,\
            text?:string,markdown?:string,truncated?:true|false,sensitive?:true|false,\
            tags:[string],images:[{url:string,width?:integer,height?:integer,\
            alt?:string,title?:string}],attachments?:[{url:string,type?:string,bytes?:integer,\
            seconds?:integer}],links?:[string],stats:{likes?:integer,comments?:integer,shares?:integer},\
            url?:string,read:true|false}
            """
        #expect(PostSource.part(isRepaired: false) == number)
        let schema = SharedSchemas.all.first { $0.name == "Post" }.map { "\($0.schema)" }
        #expect(schema == fields, "Raise the number in PostSource.part, then change both here.")
    }

    private static let paths = ["town": "/town/api/v1/timelines/public", "team": "/team/users/posts"]

    private func posting(
        keep: String = "90d", fetches: Bool = true, in folder: TemporaryFolder = TemporaryFolder(),
        _ body: (FetchingDaemon, FakeUpstream) async throws -> Void
    ) async throws {
        try await FakeUpstream.run { upstream in
            setTown(upstream, ids: [1, 2])
            setTeam(upstream, ids: [7])
            try await FetchingDaemon.run(
                upstream, in: folder, facts: ", enabled: false", others: section(upstream, keep), fetches: fetches
            ) { try await body($0, upstream) }
        }
    }

    private func section(_ upstream: FakeUpstream, _ keep: String, sources: [String] = ["town", "team"]) -> String {
        let kinds = ["town": "mastodon", "team": "users-posts"]
        let entries = sources.map { name in
            "    \(name): {kind: \(kinds[name] ?? ""), url: '\(upstream.baseURL)/\(name)'}\n"
        }
        return "posts:\n  keep: \(keep)\n  sources:\n" + entries.joined()
    }

    private func setTown(_ upstream: FakeUpstream, ids: [Int]) {
        let statuses = ids.map { id in
            """
            {"id":"\(id)","created_at":"2022-03-09T23:27:0\(id).000Z","sensitive":false,"spoiler_text":"",\
            "url":"https://town.example/@ada/\(id)","content":"<p>Post \(id)</p>","favourites_count":0,\
            "account":{"id":"7","username":"ada","acct":"ada","display_name":"Ada"},"media_attachments":[],"tags":[]}
            """
        }
        upstream.setDocument(
            Self.paths["town"] ?? "", contentType: "application/json",
            body: Array("[\(statuses.joined(separator: ","))]".utf8))
    }

    private func setTeam(_ upstream: FakeUpstream, ids: [Int]) {
        let posts = ids.map { #"{"id":\#($0),"date":"Tue Mar 08 2022 06:56:06 GMT-0500","pics":["https://h/\#($0)"]}"# }
        upstream.setDocument(
            Self.paths["team"] ?? "", contentType: "application/json",
            body: Array(#"{"data":[{"uid":"u","name":"Grace","posts":[\#(posts.joined(separator: ","))]}]}"#.utf8))
    }

    private func list(_ daemon: FetchingDaemon, _ parameters: String = "{}") throws -> PostList.Result {
        try daemon.client().call(PostList.self, parameters)
    }

    private func source(_ daemon: FetchingDaemon, _ name: String) throws -> SourceStatus {
        let status: ServerStatus.Result = try daemon.client().call(ServerStatus.self)
        return try #require(status.sources.first { $0.name == name })
    }

    private func waitUntilFetched(_ daemon: FetchingDaemon, _ names: String...) throws {
        for name in names {
            while try source(daemon, name).freshness.fetchedAt == nil { try daemon.watch.wait(for: .finished) }
        }
    }

    @Test func postsOfAllSourcesInOneList() async throws {
        try await posting { daemon, _ in
            try waitUntilFetched(daemon, "town", "team")
            let page = try list(daemon)
            #expect(page.items.map(\.id) == ["town:2", "town:1", "team:7"])
            #expect(page.total == 3)
            #expect(page.freshness?.origin == .cache)
            #expect(page.freshness?.state == .fresh)
            #expect(try list(daemon, #"{"source":"team"}"#).items.map(\.id) == ["team:7"])
            #expect(try list(daemon, #"{"author":"RAC"}"#).items.map(\.id) == ["team:7"])
            let authors: AuthorList.Result = try daemon.client().call(AuthorList.self)
            #expect(authors.items.map(\.name) == ["Ada", "Grace"])
            #expect(authors.items.map(\.postCount) == [2, 1])
            #expect(try source(daemon, "town").items == 2)
            for source in ["facts", "gifs", "village"] {
                #expect(daemon.refusal(PostList.self, #"{"source":"\#(source)"}"#)?.code == .notFound)
            }
        }
    }

    @Test func postsAreSearchedMarkedAndCounted() async throws {
        try await posting { daemon, upstream in
            try waitUntilFetched(daemon, "town", "team")
            let client = try daemon.client()
            let found = try client.call(PostSearch.self, #"{"query":"ADA post","numbered":true}"#)
            #expect(found.items.map(\.id) == ["town:2", "town:1"] && found.total == 2)
            #expect(found.freshness?.state == .fresh)
            #expect(try client.call(RecentServed.self, #"{"kind":"post","index":2}"#).id == "town:1")
            #expect(daemon.refusal(PostSearch.self, #"{"query":" "}"#)?.code == .invalidParams)
            #expect(daemon.refusal(PostSearch.self, #"{"query":"a","source":"village"}"#)?.code == .notFound)

            func unread() throws -> [Int] { try client.call(PostSources.self).items.map(\.unread) }
            let sources = try client.call(PostSources.self).items
            #expect(sources.map(\.name) == ["town", "team"] && sources.map(\.kind) == ["mastodon", "users-posts"])
            #expect(sources.map(\.items) == [2, 1] && sources.map(\.unread) == [2, 1])
            #expect(sources.map(\.url) == ["\(upstream.baseURL)/town", "\(upstream.baseURL)/team"])
            #expect(sources.allSatisfy { $0.freshness.state == .fresh })
            #expect(try client.call(PostMarkRead.self, #"{"all":true,"source":"town"}"#).marked == 2)
            #expect(try unread() == [0, 1])
            #expect(try client.call(PostMarkUnread.self, #"{"ids":["town:1","team:7"]}"#).marked == 1)
            #expect(try unread() == [1, 1])
            let unseen = try client.call(PostSearch.self, #"{"query":"post","unread":true}"#)
            #expect(unseen.items.map(\.id) == ["town:1"])
            #expect(try client.call(PostMarkRead.self, #"{"all":true}"#).marked == 2)
            #expect(try unread() == [0, 0])

            #expect(daemon.refusal(PostMarkUnread.self, #"{"ids":["town:1","town:9"]}"#)?.code == .notFound)
            #expect(daemon.refusal(PostMarkRead.self, #"{"all":true,"source":"village"}"#)?.code == .notFound)
            for parameters in ["{}", #"{"all":false}"#, #"{"ids":["town:1"],"all":true}"#, #"{"ids":[1]}"#] {
                #expect(daemon.refusal(PostMarkRead.self, parameters)?.code == .invalidParams)
            }
            let alone = daemon.refusal(PostMarkRead.self, #"{"ids":["town:1"],"source":"town"}"#)
            #expect(alone?.code == .invalidParams && alone?.details["parameter"] == "source")
        }
    }

    @Test func eventsNameTheNewPosts() async throws {
        try await posting { daemon, upstream in
            try waitUntilFetched(daemon, "town", "team")
            setTown(upstream, ids: [1, 2, 3, 4])
            _ = try daemon.refresh(#"{"source":"town"}"#)
            while true {
                let event = try daemon.watch.receiveEvent()
                guard event.topic == .item, event.added == 2 else { continue }
                guard event.items?.new.first?.id == "town:4" else { continue }
                #expect(event.items?.new.map(\.id) == ["town:4", "town:3"])
                #expect(event.items?.new.map(\.title) == ["Post 4", "Post 3"])
                break
            }
        }
    }

    @Test("Over several sources: the oldest time, the worst state, the newest failure")
    func freshnessOfSeveral() async throws {
        try await posting { daemon, upstream in
            try waitUntilFetched(daemon, "town", "team")
            let first = try source(daemon, "team").freshness.fetchedAt
            daemon.clock.advance(by: .seconds(60))
            _ = try daemon.refresh(#"{"source":"team"}"#)
            while try source(daemon, "team").freshness.fetchedAt == first { try daemon.watch.wait(for: .finished) }
            upstream.setFault(.status(503), path: "/town/api/v1/timelines/public")
            _ = try daemon.refresh(#"{"source":"town"}"#)
            try daemon.watch.wait(for: .failed)
            let both = try #require(try list(daemon).freshness)
            #expect(both.error?.kind == .http)
            #expect(both.fetchedAt == (try source(daemon, "town").freshness.fetchedAt))
            #expect(both.ageSeconds == 60)
            #expect(try source(daemon, "team").freshness.ageSeconds == 0)
            #expect(try list(daemon, #"{"source":"team"}"#).freshness?.error == nil)
            #expect(try list(daemon).items.count == 3)
        }
    }

    @Test func aFeedThatBreaksOffOrIsRepairedAddsAndRemovesNothing() async throws {
        let (folder, recorder) = (TemporaryFolder(), LogRecorder())
        let upstream = try await FakeUpstream.start()
        let databases = try await Databases(
            cacheFolder: folder("cache"), stateFolder: folder("state"), logger: recorder.logger)
        let stores = await Stores(databases: databases)
        let source = PostSource(
            // Removes a post as soon as a fetch does not contain it.
            configuration: .init(
                name: "blog", kind: .feed, url: "\(upstream.baseURL)/feed", refresh: .seconds(60), keep: .zero),
            http: Configuration.HTTP(timeout: .seconds(600), userAgent: "test"),
            context: SourceContext(
                stores: stores,
                environment: FetchingEnvironment(
                    machine: "test", clock: ManualClock(.ofTests), fetch: FetchProcess(path: Programs.norrisFetch)),
                prefetcher: .alone(stores, recorder.logger),
                knownCategories: KnownCategories(), logger: recorder.logger))
        func fetch(
            _ items: Int..., title: String = "A", end: String = "</channel></rss>"
        ) async -> (added: Int?, stored: Int) {
            let items = items.map { "<item><guid>\($0)</guid><title>\(title)</title></item>" }.joined()
            upstream.setDocument(
                "/feed", contentType: "application/rss+xml", body: Array("<rss><channel>\(items)\(end)".utf8))
            let run = source.stores.records.beginImport(of: "blog")
            return (await source.fetch(run).added, source.stores.posts.count(source: "blog"))
        }
        #expect(await fetch(1, 2, 3) == (3, 3))
        await #expect(source.stores.records.fetch(of: "blog")?.parts["posts.4"]?.hasValidators == true)
        #expect(await fetch(4, end: "<item><guid>3") == (1, 4))
        #expect(recorder.records.last { $0.contains("posts.fetched") }?.contains("feed.repairs\": 1") == true)
        // The next request must not be conditional.
        let cut = await source.stores.records.fetch(of: "blog")?.parts.values.first
        #expect(cut?.hasValidators == false)
        #expect(await fetch(4) == (0, 1))
        #expect(recorder.records.last { $0.contains("posts.fetched") }?.contains("feed.repairs") == false)
        #expect(await fetch(5, title: "A & B") == (1, 2))
        #expect(recorder.records.last { $0.contains("posts.fetched") }?.contains("feed.repairs\": 1") == true)
        // The feed is unchanged, but posts that the repair has lost may still exist, so none is removed.
        let fetches = recorder.records.count { $0.contains("posts.fetched") }
        #expect(await fetch(5, title: "A & B") == (0, 2))
        #expect(recorder.records.count { $0.contains("posts.fetched") } == fetches, "It was not downloaded again")
        #expect(await fetch(5, title: "A & B") == (0, 2))
        #expect(await fetch(5) == (0, 1))
        await databases.close()
        await upstream.stop()
    }
}
