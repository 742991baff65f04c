import Foundation
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisTestSupport
import NorrisThreads
import Synchronization
import Testing

@testable import NorrisDaemon

/// `source.add`, `source.remove` and `post.sources`.
@Suite(.timeLimit(.minutes(20))) struct SourceAdditionsTests {
    private static let feed =
        "<rss><channel><title>Blog</title><item><guid>1</guid><title>Hello</title></item></channel></rss>"

    private func run(others: String = "", _ body: (FetchingDaemon, FakeUpstream) async throws -> Void) async throws {
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
            try await FetchingDaemon.run(upstream, others: others) { try await body($0, upstream) }
        }
    }

    private func add(_ url: String, _ rest: String = "", to daemon: FetchingDaemon) throws -> SourceAdd.Result {
        try daemon.client(.administrator).call(SourceAdd.self, #"{"url":"\#(url)","wait":true\#(rest)}"#)
    }

    private func refusal(_ url: String, _ rest: String = "", of daemon: FetchingDaemon) -> ResponseError? {
        daemon.refusal(SourceAdd.self, #"{"url":"\#(url)","wait":true\#(rest)}"#, as: .administrator)
    }

    private func sources(
        _ daemon: FetchingDaemon, as caller: FetchingDaemon.Caller = .administrator
    ) throws -> [PostSources.Source] { try daemon.client(caller).call(PostSources.self).items }

    @Test("A taken name offers the removal if it is possible") func takenNames() async throws {
        try await run(others: "posts: {sources: {own: {kind: feed, url: 'https://own.example/'}}}") {
            daemon, upstream in
            _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
            func hint(_ name: String) -> String {
                refusal("https://other.example/", ",\"name\":\"\(name)\"", of: daemon)?.hint ?? ""
            }
            #expect(hint("blog") == "Choose another name, or remove it: norrisctl feed remove blog")
            #expect(hint("own").hasPrefix("Choose another name, or remove it from "))
        }
    }

    @Test func aSourceIsThereWithItsPostsAndStays() async throws {
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
            let folder = TemporaryFolder()
            let url = upstream.baseURL + "/feed"
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                let added = try add(url, #","name":"blog","refresh":"2h""#, to: daemon)
                #expect(added == SourceAdd.Result(name: "blog", isAdded: true, items: 1))
                let posts = try daemon.client().call(PostList.self, #"{"source":"blog"}"#).items
                #expect(posts.map(\.title) == ["Hello"])
                #expect(try add(url, #","name":"other""#, to: daemon) == SourceAdd.Result(name: "blog", isAdded: false))
                // The first run counts for the schedule.
                #expect(
                    daemon.core.prefetcher.schedule(of: "blog")?.nextRun(daemon.clock.now) ?? .last > daemon.clock.now)
                #expect(daemon.core.sources.current.posts.map(\.configuration.refresh) == [.hours(2)])
                try await daemon.core.reloader.reload()
                #expect(try sources(daemon).map(\.origin) == [.added])
            }
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                let before = try sources(daemon)
                let removed = try (0..<2).map { _ in
                    try daemon.client(.administrator).call(SourceRemove.self, #"{"name":"blog"}"#).removed
                }
                let after = try sources(daemon)
                let stored = await daemon.core.stores.added.all()
                #expect(before.map(\.url) == [url] && removed == [true, false] && after.isEmpty && stored == [])
                #expect(daemon.core.stores.posts.count(source: "blog") == 0)
            }
        }
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// The threads of the schedule are in use while sources hang.
    @Test func anAdditionThatAUserWaitsForHasAThreadOfItsOwn() async throws {
        try await run { daemon, upstream in
            let (hanging, end) = try makePipe()
            let threads = daemon.core.sources.context.environment.fetch.threads
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                defer { close(end) }
                let running = Count()
                for _ in 0..<4 {
                    tasks.addTask {
                        await threads.run { _ in
                            running.value.add(1, ordering: .relaxed)
                            var byte: UInt8 = 0
                            read(hanging, &byte, 1)
                        }
                    }
                }
                await eventually { running.value.load(ordering: .relaxed) == 4 }
                let added = try add(upstream.baseURL + "/feed", to: daemon)
                #expect(added.items == 1)
            }
            close(hanging)
        }
    }

    @Test func eventsTellOfTheFirstRun() async throws {
        try await run { daemon, upstream in
            _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
            var events: [Event] = []
            while events.last?.phase != .finished {
                let event = try daemon.watch.receiveEvent()
                if event.source == "blog" { events.append(event) }
            }
            #expect(events.map(\.phase) == [.started, nil, .finished])
            #expect(events.map(\.added) == [nil, 1, nil] && events.last?.items?.count == 1)
        }
    }

    @Test func aRunOfARemovedSourceLeavesNothing() async throws {
        try await run { daemon, upstream in
            _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
            let source = try #require(daemon.core.sources.current["blog"])
            _ = try daemon.client(.administrator).call(SourceRemove.self, #"{"name":"blog"}"#)
            guard case .cancelled = await daemon.core.sources.fetch(source) else {
                Issue.record("The run counts.")
                return
            }
            #expect(daemon.core.stores.posts.count(source: "blog") == 0)
        }
    }

    /// Removes `blog` while it is fetched for `refresh --wait`, and adds another feed under its name.
    @Test func aRunOfAnEarlierSourceOfTheNameStoresNothing() async throws {
        try await run { daemon, upstream in
            let other = Self.feed.replacing("Hello", with: "Other")
            upstream.setDocument("/other", contentType: "application/rss+xml", body: Array(other.utf8))
            _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
            try daemon.watch.wait(for: .finished, of: "blog")
            let more = Self.feed.replacing("<item>", with: "<item><guid>2</guid><title>Late</title></item><item>")
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(more.utf8))
            upstream.hold()
            _ = try daemon.refresh(#"{"source":"blog"}"#)
            await eventually { upstream.requests.count { $0.path == "/feed" } == 2 }
            let administrator = try daemon.client(.administrator)
            let _: SourceRemove.Result = try administrator.call(SourceRemove.self, #"{"name":"blog"}"#)
            #expect(await daemon.core.stores.records.schedule(of: "blog") == ScheduleRecord())
            let parameters = #"{"url":"\#(upstream.baseURL)/other","name":"blog"}"#
            let _: SourceAdd.Result = try administrator.call(SourceAdd.self, parameters)
            // The new source is not behind the run of the old one.
            await eventually { upstream.requests.contains { $0.path == "/other" } }
            upstream.release()
            var phases: [Event.Phase] = []
            while Set(phases).count < 2 {
                let event = try daemon.watch.receiveEvent()
                if event.source == "blog", let phase = event.phase, phase != .started { phases.append(phase) }
            }
            #expect(Set(phases) == [.failed, .finished])
            let posts = try daemon.client().call(PostList.self, #"{"source":"blog"}"#).items
            #expect(posts.map(\.title) == ["Other"])
            let schedule = try #require(daemon.core.prefetcher.schedule(of: "blog"))
            #expect(schedule.record.failures == 0 && schedule.runs.added == 1 && schedule.runs.failed == 0)
        }
    }

    /// A configuration that changes the address of a source during its run.
    @Test func aRunOfAnEarlierAddressStoresNothing() async throws {
        func sources(_ url: String) -> String { "posts: {sources: {blog: {kind: feed, url: '\(url)'}}}\n" }
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
            upstream.hold()
            let facts = "facts: {enabled: false}\nhttp: {host_gap: 0s}\n"
            try await FetchingDaemon.run(
                upstream, facts: ", enabled: false", others: sources(upstream.baseURL + "/feed")
            ) { daemon in
                await eventually { upstream.requests.contains { $0.path == "/feed" } }
                let other = Self.feed.replacing("Hello", with: "Other")
                upstream.setDocument("/other", contentType: "application/rss+xml", body: Array(other.utf8))
                _ = try daemon.folder.write(facts + sources(upstream.baseURL + "/other"), to: "config.yaml")
                try await daemon.core.reloader.reload()
                upstream.release()
                try daemon.watch.wait(for: .finished, of: "blog")
                let posts = try daemon.client().call(PostList.self).items
                #expect(posts.map(\.title) == ["Other"])
            }
        }
    }

    @Test func aFeedThatComesBackStaysReadAndAnotherOneIsUnread() async throws {
        try await run { daemon, upstream in
            let other = Self.feed.replacing("Hello", with: "Other")
            upstream.setDocument("/other", contentType: "application/rss+xml", body: Array(other.utf8))
            let administrator = try daemon.client(.administrator)
            func unread(_ path: String, _ name: String) throws -> Int? {
                _ = try add(upstream.baseURL + path, #","name":"\#(name)""#, to: daemon)
                defer { _ = try? administrator.call(SourceRemove.self, #"{"name":"\#(name)"}"#) }
                return try sources(daemon, as: .user).map(\.unread).first
            }
            _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
            let _: PostMarkRead.Result = try daemon.client().call(PostMarkRead.self, #"{"all":true}"#)
            let _: SourceRemove.Result = try administrator.call(SourceRemove.self, #"{"name":"blog"}"#)
            daemon.clock.advance(by: .hours(1))
            #expect(try unread("/other", "blog") == 1)
            #expect(try unread("/feed", "blog") == 0)
            #expect(try unread("/feed", "news") == 0)
            // A first run that fails leaves the marks to the next one.
            upstream.setFault(.status(500), path: "/feed")
            #expect(refusal(upstream.baseURL + "/feed", #","name":"blog""#, of: daemon)?.code == .nothingCached)
            upstream.setFault(nil, path: "/feed")
            #expect(try unread("/feed", "blog") == 0)
        }
    }

    /// The feed failed, was removed and repaired.
    @Test func aSourceThatIsAddedAgainIsFetchedAtOnce() async throws {
        try await run { daemon, upstream in
            upstream.setFault(.status(404), path: "/feed")
            let administrator = try daemon.client(.administrator)
            let parameters = #"{"url":"\#(upstream.baseURL)/feed","name":"blog"}"#
            let _: SourceAdd.Result = try administrator.call(SourceAdd.self, parameters)
            try daemon.watch.wait(for: .failed, of: "blog")
            let _: SourceRemove.Result = try administrator.call(SourceRemove.self, #"{"name":"blog"}"#)
            upstream.setFault(nil, path: "/feed")
            let _: SourceAdd.Result = try administrator.call(SourceAdd.self, parameters)
            try daemon.watch.wait(for: .finished, of: "blog")
            #expect(try sources(daemon).map(\.items) == [1])
        }
    }

    @Test func addressesAreComparedAsURLs() async throws {
        try await run { daemon, upstream in
            let url = upstream.baseURL + "/feed"
            _ = try add(url, #","name":"blog""#, to: daemon)
            for same in [url.replacing("http:", with: "HTTP:"), url + "#top"] {
                #expect(try !add(same, to: daemon).isAdded)
            }
            let administrator = try daemon.client(.administrator)
            for (first, second) in [
                ("https://one.example", "https://ONE.example:443/"), ("http://two.example:80", "http://two.example/"),
            ] {
                let results = try [first, second].map { url in
                    try administrator.call(SourceAdd.self, #"{"url":"\#(url)"}"#) as SourceAdd.Result
                }
                #expect(results.map(\.isAdded) == [true, false])
                // It stays as it was written.
                #expect(try sources(daemon).map(\.url).contains(first))
            }
        }
    }

    /// The content of the folder replaces the sources that began without it.
    @Test func aStateFolderThatComesLaterBringsItsSources() async throws {
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
            let folder = TemporaryFolder()
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
                _ = try await daemon.core.stores.added.add(
                    AddedSource(name: "late", settings: .init(url: upstream.baseURL + "/late", refresh: "1d")))
                // Of another version.
                _ = try await daemon.core.stores.added.add(
                    AddedSource(name: "other", settings: .init(url: upstream.baseURL + "/other", kind: "lemmy")))
                await daemon.core.stores.records.write(
                    ScheduleRecord(lastRunAt: daemon.clock.now, settings: "s"), for: "late")
            }
            try FileManager.default.moveItem(atPath: folder("state"), toPath: folder("kept"))
            _ = try folder.write("no folder", to: "state")
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                #expect(try sources(daemon).isEmpty)
                let error = refusal(upstream.baseURL + "/feed", of: daemon)
                #expect(error?.code == .storage)
                try FileManager.default.removeItem(atPath: folder("state"))
                try FileManager.default.moveItem(atPath: folder("kept"), toPath: folder("state"))
                await daemon.databases.heal()
                await daemon.core.sources.readState()
                #expect(try sources(daemon).map(\.name) == ["blog", "late"])
                #expect(daemon.core.prefetcher.schedule(of: "late")?.record.settings == "s")
            }
        }
    }

    @Test func aHostThatAsksForAPauseHoldsItsSourcesAndAdditionsOverARestart() async throws {
        try await FakeUpstream.run { upstream in
            upstream.setDocument("/feed", contentType: "application/rss+xml", body: Array(Self.feed.utf8))
            let folder = TemporaryFolder()
            let until = ManualClock(.ofTests).now.advanced(by: .seconds(600))
            let held = ServerStatus.HeldHost(host: "127.0.0.1", until: until, reason: "HTTP 429", sources: 2)
            func expectHeld(_ daemon: FetchingDaemon) throws {
                #expect(try daemon.client().call(ServerStatus.self).hosts == [held])
                let count = upstream.requests.count
                let error = refusal(upstream.baseURL + "/other", of: daemon)
                #expect(error?.message == "127.0.0.1 allows no request until \(until) (HTTP 429).")
                #expect(error?.code == .nothingCached)
                let last = error?.detail("last_error", as: SourceFailure.self)
                #expect(last?.kind == .http && last?.retryAt == until)
                for caller in [FetchingDaemon.Caller.user, .administrator] {
                    #expect(daemon.refusal(SourceRefresh.self, as: caller)?.code == .busy)
                }
                #expect(upstream.requests.count == count)
            }
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                _ = try daemon.watch.wait(for: .finished)
                _ = try add(upstream.baseURL + "/feed", #","name":"blog""#, to: daemon)
                #expect(try daemon.client().call(ServerStatus.self).hosts == nil)
                upstream.setFault(.status(429, retryAfter: "600"), path: "/feed")
                _ = try daemon.refresh(#"{"source":"blog"}"#)
                #expect(try daemon.watch.wait(for: .failed).error?.kind == .http)
                try expectHeld(daemon)
                // An administrator who names the source asks once.
                let count = upstream.requests.count
                _ = try daemon.refresh(#"{"source":"blog"}"#)
                _ = try daemon.watch.wait(for: .failed)
                #expect(upstream.requests.count == count + 1)
                #expect(try daemon.client().call(ServerStatus.self).state == .ok)
            }
            try await FetchingDaemon.run(upstream, in: folder) { daemon in
                try expectHeld(daemon)
                let refused = daemon.refusal(SourceRefresh.self, #"{"source":"blog"}"#)
                #expect(refused?.details["retry_at"] == .string(until.description))
            }
        }
    }

    @Test func aRunThatFailsLeavesNothing() async throws {
        try await run { daemon, upstream in
            let error = refusal(upstream.baseURL + "/nowhere", of: daemon)
            #expect(error?.code == .nothingCached && error?.details["last_error"] != nil)
            #expect(error?.hint == "Nothing was added.")
            let page =
                "<html><link rel=alternate type=application/rss+xml title=News href=/feed>"
                + "<link rel=alternate type=application/atom+xml href=/b>"
            upstream.setDocument("/", contentType: "text/html", body: Array(page.utf8))
            let web = refusal(upstream.baseURL + "/", of: daemon)
            #expect(web?.code == .invalidParams && web?.details["parameter"] == "url")
            #expect(
                web?.details["feed_urls"]
                    == .array([.string(upstream.baseURL + "/feed"), .string(upstream.baseURL + "/b")]))
            #expect(web?.details["feed_titles"] == ["News", ""])
            let (sources, stored) = (try sources(daemon), await daemon.core.stores.added.all())
            #expect(sources.isEmpty && stored == [])
        }
    }

    @Test func withoutWaitingTheReplyIsAtOnce() async throws {
        try await run { daemon, upstream in
            let parameters = #"{"url":"\#(upstream.baseURL)/nowhere"}"#
            let result = try daemon.client(.administrator).call(SourceAdd.self, parameters)
            #expect(result == SourceAdd.Result(name: "127-0-0-1-\(upstream.port)", isAdded: true))
            #expect(try sources(daemon).map(\.name) == [result.sourceName])
            // It is fetched afterwards.
            let feed: SourceAdd.Result = try daemon.client(.administrator).call(
                SourceAdd.self, #"{"url":"\#(upstream.baseURL)/feed","name":"blog"}"#)
            try daemon.watch.wait(for: .finished, of: feed.sourceName)
            #expect(try sources(daemon).first { $0.name == "blog" }?.items == 1)
        }
    }

    @Test func parametersAreCheckedAsTheConfigurationIs() async throws {
        try await run { daemon, _ in
            for (parameters, parameter) in [
                (#"{"url":"mailto:a@b.example"}"#, "url"), (#"{"url":"https://h/","name":"facts"}"#, "name"),
                (#"{"url":"https://h/","name":"../x"}"#, "name"),
                (#"{"url":"https://h/","refresh":"soon"}"#, "refresh"),
                (#"{"url":"https://h/","keep":"0s"}"#, "keep"), (#"{"url":"https://h/?a","kind":"mastodon"}"#, "url"),
                (#"{"url":"https://h/","kind":"exec"}"#, "kind"), (#"{"url":""}"#, "url"),
                (#"{"url":"http://localhost/\u0000"}"#, "url"), (#"{"url":"http://a\u001b@localhost/"}"#, "url"),
            ] {
                let error = daemon.refusal(SourceAdd.self, parameters, as: .administrator)
                #expect(error?.code == .invalidParams && error?.details["parameter"] == .string(parameter))
            }
        }
    }

    @Test func onlyAdministratorsAddAndSeePasswords() async throws {
        try await run { daemon, upstream in
            #expect(daemon.refusal(SourceAdd.self, #"{"url":"https://h/"}"#)?.code == .permissionDenied)
            #expect(daemon.refusal(SourceRemove.self, #"{"name":"x"}"#)?.code == .permissionDenied)
            let url = upstream.baseURL.replacing("http://", with: "http://ann:se%40cret@") + "/feed?key=secret"
            _ = try add(url, #","name":"blog""#, to: daemon)
            let request = upstream.requests.first { $0.path == "/feed" }
            #expect(request?.header("Authorization")?.hasPrefix("Basic ") == true)
            #expect(try sources(daemon).map(\.url) == [url])
            #expect(try sources(daemon, as: .user).map(\.url) == [upstream.baseURL + "/feed"])
            // A user that is an address, and a host that is no ASCII.
            let raw = upstream.baseURL.replacing("http://", with: "http://me@mail.example:pw@") + "/feed"
            #expect(try add(raw, to: daemon).isAdded)
            let password = "Basic " + Data("me@mail.example:pw".utf8).base64EncodedString()
            #expect(upstream.requests.contains { $0.header("Authorization") == password })
            let parameters = #"{"url":"http://me:pw@b\u00fccher.example/","name":"books"}"#
            let books: SourceAdd.Result = try daemon.client(.administrator).call(SourceAdd.self, parameters)
            #expect(books.isAdded)
        }
    }

    @Test func aNameIsTakenOnce() async throws {
        let others = "posts: {sources: {blog: {kind: feed, url: 'https://blog.example/'}}}\n"
        try await run(others: others) { daemon, upstream in
            let url = upstream.baseURL + "/feed"
            let taken = refusal(url, #","name":"blog""#, of: daemon)
            #expect(taken?.details["parameter"] == "name" && taken?.hint?.contains("config.yaml") == true)
            let error = daemon.refusal(SourceRemove.self, #"{"name":"blog"}"#, as: .administrator)
            #expect(error?.code == .invalidParams && error?.hint?.contains("config.yaml") == true)
            // Two administrators who add the same feed at once.
            let clients = try (0..<2).map { _ in try daemon.client(.administrator) }
            for client in clients {
                try client.send(
                    line: #"{"jsonrpc":"2.0","id":1,"method":"source.add","params":{"url":"\#(url)","wait":true}}"#)
            }
            let results = try clients.map { client in
                let reply = try Response(parsing: Array((try client.receiveLine() ?? "").utf8))
                return try reply.outcome.get().decoded(as: SourceAdd.Result.self)
            }
            #expect(results.filter(\.isAdded).count == 1 && Set(results.map(\.sourceName)).count == 1)
            // A configuration that gains a source with the name of an added one replaces it while it is there.
            let name = results[0].sourceName
            _ = try daemon.folder.write(
                "posts: {sources: {\(name): {kind: feed, url: 'https://new.example/'}}}\n", to: "config.yaml")
            try await daemon.core.reloader.reload()
            #expect(try sources(daemon).map(\.url) == ["https://new.example/"])
            _ = try daemon.folder.write("", to: "config.yaml")
            try await daemon.core.reloader.reload()
            #expect(try sources(daemon).map(\.url) == [url])
        }
    }

    @Test func thereIsALargestNumber() async throws {
        let entries = (1...AddedSources.maximum).map {
            "s\($0): {kind: feed, url: 'https://s\($0).example/', enabled: false}"
        }
        try await run(others: "posts: {sources: {\(entries.joined(separator: ", "))}}\n") { daemon, upstream in
            #expect(refusal(upstream.baseURL + "/feed", of: daemon)?.code == .busy)
        }
    }
}

extension LineClient {
    /// Returns after the event of a source.
    fileprivate func wait(for phase: Event.Phase, of source: String) throws {
        while try wait(for: phase).source != source {}
    }
}
