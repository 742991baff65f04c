import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// Rules, arrivals and counts of unread posts, from a request to the reply.
@Suite(.timeLimit(.minutes(20))) struct ReadingTests {
    private func run(
        _ titles: [String], fetches: Bool = true, _ body: (FetchingDaemon, FakeUpstream) async throws -> Void
    ) async throws {
        try await FakeUpstream.run { upstream in
            setFeed(upstream, titles)
            try await FetchingDaemon.run(upstream, facts: ", enabled: false", fetches: fetches) {
                try await body($0, upstream)
            }
        }
    }

    private func setFeed(_ upstream: FakeUpstream, _ titles: [String]) {
        let items = titles.map { "<item><guid>\($0)</guid><title>\($0)</title></item>" }.joined()
        upstream.setDocument(
            "/feed", contentType: "application/rss+xml",
            body: Array("<rss><channel><title>Blog</title>\(items)</channel></rss>".utf8))
    }

    private func add(_ daemon: FetchingDaemon, _ upstream: FakeUpstream) throws {
        let parameters = #"{"url":"\#(upstream.baseURL)/feed","name":"blog","tags":["work"],"wait":true}"#
        let _: SourceAdd.Result = try daemon.client(.administrator).call(SourceAdd.self, parameters)
        try daemon.watch.wait(for: .finished)
    }

    /// Fetches the feed again, and returns the events of new items.
    private func refresh(_ daemon: FetchingDaemon) throws -> [Event] {
        _ = try daemon.refresh(#"{"source":"blog"}"#)
        var events: [Event] = []
        while events.last?.phase != .finished { events.append(try daemon.watch.receiveEvent()) }
        return events.filter { $0.topic == .item }
    }

    @Test func aUserDoesNotSeeMutedPostsAndOthersDo() async throws {
        try await run(["Hello"]) { daemon, upstream in
            let user = try daemon.client()
            let start = try user.call(PostList.self, #"{"order":"arrived"}"#)
            #expect(start.items == [] && start.next != nil)
            try add(daemon, upstream)
            let page = try user.call(PostList.self, #"{"order":"arrived","cursor":"\#(start.next ?? "")"}"#)
            #expect(page.items.map(\.title) == ["Hello"] && page.total == nil)
            #expect(try user.call(MuteAdd.self, #"{"query":"gold"}"#) == MuteAdd.Result(number: 1, matching: 0))
            setFeed(upstream, ["Hello", "Gold", "Tin"])
            let item = try #require(try refresh(daemon).first)
            #expect(item.added == 1 && item.items?.new.map(\.title) == ["Tin"])
            // A fetch of hidden posts alone is no news.
            setFeed(upstream, ["Hello", "Gold", "Tin", "More gold"])
            #expect(try refresh(daemon) == [])
            let arrived = try user.call(PostList.self, #"{"order":"arrived","cursor":"\#(page.next ?? "")"}"#)
            #expect(arrived.items.map(\.title) == ["Tin"])
            #expect(try user.call(PostSources.self).items.map { [$0.items, $0.unread] } == [[4, 2]])
            #expect(try user.call(MuteList.self).items.map(\.matching) == [2])
            #expect(try user.call(PostList.self, #"{"muted":true}"#).total == 2)
            #expect(try user.call(PostSearch.self, #"{"query":"gold","muted":true}"#).total == 2)
            #expect(try user.call(PostSearch.self, #"{"query":"gold"}"#).items == [])
            #expect(try user.call(MuteAdd.self, #"{"query":"old","test":true}"#) == MuteAdd.Result(matching: 2))
            // Hidden posts are marked without being counted.
            #expect(try user.call(PostMarkRead.self, #"{"all":true}"#) == PostMarkRead.Result(marked: 2))
            setFeed(upstream, ["Hello", "Gold", "Tin", "More gold", "All gold"])
            #expect(try refresh(daemon) == [])
            #expect(try user.call(PostMarkRead.self, #"{"all":true}"#) == PostMarkRead.Result(marked: 0))
            #expect(try user.call(MuteRemove.self, #"{"number":1}"#).title == "gold")
            #expect(try user.call(PostList.self, #"{"unread":true}"#).items == [])
            #expect(try user.call(PostList.self).total == 5)
        }
    }

    @Test func rulesWithoutTheirScopeAreRefused() async throws {
        try await run(["Hello"]) { daemon, upstream in
            try add(daemon, upstream)
            func refusal(_ parameters: String) -> ErrorCode? { daemon.refusal(MuteAdd.self, parameters)?.code }
            #expect(refusal(#"{"query":"a","except":true}"#) == .invalidParams)
            #expect(refusal(#"{"query":" ","source":"none"}"#) == .invalidParams)
            #expect(refusal(#"{"query":"a","source":"none"}"#) == .notFound)
            #expect(refusal(#"{"query":"a","tag":"none"}"#) == .notFound)
            let user = try daemon.client()
            let rule = try user.call(MuteAdd.self, #"{"query":"other","tag":"work","except":true}"#)
            #expect(rule.matching == 1)
            #expect(try user.call(PostList.self).items == [])
            // The tag goes.
            let _: NoMembers = try daemon.client(.administrator).call(SourceEdit.self, #"{"name":"blog","tags":[]}"#)
            #expect(try user.call(PostList.self).items.count == 1)
        }
    }

    @Test("After a change, the user's subscribers get the number of unread posts, once a second")
    func readEvents() async throws {
        // Without the schedule, so that only the service sleeps.
        try await run(["Hello", "Tin"], fetches: false) { daemon, upstream in
            try add(daemon, upstream)
            let (user, subscriber) = (try daemon.client(), try daemon.client())
            let _: EventSubscribe.Result = try subscriber.call(EventSubscribe.self, #"{"topics":["read"]}"#)
            let service = UnreadService(sources: daemon.core.sources, events: daemon.core.events)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask(executorPreference: globalConcurrentExecutor) { try await service.run() }
                defer { tasks.cancelAll() }
                #expect(try subscriber.receiveEvent().unread == 2)
                await daemon.clock.untilAsleep()
                // Of several changes in a second the last is published.
                let _: PostMarkRead.Result = try user.call(PostMarkRead.self, #"{"all":true}"#)
                let _: PostMarkRead.Result = try user.call(PostMarkUnread.self, #"{"last":true}"#)
                let _: MuteAdd.Result = try user.call(MuteAdd.self, #"{"query":"tin"}"#)
                daemon.clock.advance(by: .seconds(1))
                #expect(try subscriber.receiveEvent().unread == 1)
            }
        }
    }
}
