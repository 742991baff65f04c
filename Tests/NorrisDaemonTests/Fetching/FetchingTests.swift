import Foundation
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon
@testable import NorrisThreads

@Suite(.timeLimit(.minutes(20))) struct FetchingTests {
    // MARK: Runs

    @Test func whatCouldNotBeStoredIsFetchedOnceTheDiskTakesItAgain() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            upstream.setJokes(FakeUpstream.jokes(count: 41))
            try await daemon.refuseRecords()
            _ = try daemon.refresh()
            #expect(try daemon.watch.wait(for: .failed).error?.kind == .storage)
            try await daemon.takeRecordsAgain()
            daemon.core.sources.cacheIsWritable()
            #expect(try daemon.watch.receiveEvent().phase == .started)
            try daemon.watch.wait(for: .finished)
        }
    }

    @Test func eventsTellOfARunInItsOrder() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let items = try daemon.source().items
            upstream.setJokes(FakeUpstream.jokes(count: 42))
            _ = try daemon.refresh()
            let well = try (0..<3).map { _ in try daemon.watch.receiveEvent() }
            #expect(well.map(\.topic) == [.source, .item, .source])
            #expect(well.map(\.phase) == [.started, nil, .finished])
            #expect(well.map(\.added) == [nil, 2, nil])
            #expect(well.map(\.items?.count) == [nil, nil, items + 2])
            #expect(well.allSatisfy { $0.source == "facts" })

            _ = try daemon.refresh()
            #expect(try (0..<2).map { _ in try daemon.watch.receiveEvent().phase } == [.started, .finished])

            upstream.setFault(.status(500))
            _ = try daemon.refresh()
            let ill = try (0..<2).map { _ in try daemon.watch.receiveEvent() }
            #expect(ill.map(\.phase) == [.started, .failed])
            #expect(ill.last?.error?.kind == .http)
            #expect(ill.last?.error?.retryAt != nil)
        }
    }

    @Test func aFailureIsRememberedOverARestart() async throws {
        try await FakeUpstream.run { upstream in
            let (folder, clock) = (TemporaryFolder(), ManualClock(.ofTests))
            upstream.setFault(.status(503))
            var failure: SourceFailure?
            try await FetchingDaemon.run(upstream, in: folder, clock: clock) { daemon in
                try daemon.watch.wait(for: .failed)
                failure = try daemon.source().freshness.error
            }
            try await FetchingDaemon.run(upstream, in: folder, clock: clock, fetches: false) { daemon in
                let source = try daemon.source()
                #expect(source.freshness.error == failure)
                #expect(source.consecutiveFailures == 1)
                #expect(source.nextRunAt == failure?.retryAt)
            }
            #expect(upstream.requests.count == 1)
        }
    }

    // MARK: Removed content

    @Test("Cleared while it is asked for changes: the answer that there are none is not believed")
    func clearedDuringARun() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let items = try daemon.source().items
            upstream.hold()
            _ = try daemon.refresh()
            await upstream.waitForRequests(4)
            #expect(upstream.requests.last?.header("If-None-Match") != nil)
            let admin = try daemon.client(.administrator)
            #expect(try admin.call(CacheClear.self).removed == 40)
            let cleared = try daemon.source()
            #expect(cleared.items == items - 40)
            #expect(cleared.freshness.state == .stale)
            upstream.release()
            try daemon.watch.wait(for: .finished)
            #expect(try daemon.source().items == items)
            #expect(try daemon.source().freshness.state == .fresh)
            #expect(upstream.requests.count == 7)
            #expect(daemon.refusal(CacheClear.self)?.code == .permissionDenied)
            let unknown = daemon.refusal(CacheClear.self, #"{"source":"village"}"#, as: .administrator)
            #expect(unknown?.code == .notFound)
        }
    }

    @Test func aDeletedCacheIsFilledAgain() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let items = try daemon.source().items
            try FileManager.default.removeItem(atPath: daemon.folder("cache"))
            await daemon.databases.heal()
            #expect(daemon.databases.condition.cacheGeneration == 1)
            // Facts in memory are served until the next fetch.
            #expect(daemon.store.catalogue.count == items)
            await daemon.core.sources.cacheWasReplaced()
            #expect(try daemon.watch.wait(for: .finished).items?.count == items)
            #expect(upstream.requests.count == 6)
            #expect(try daemon.search(text: "\"counted to 7 \"").items.count == 1)
        }
    }

    // MARK: Changed configuration

    @Test func aSourceThatIsSwitchedOffIsLeftAloneAndItsFactsStay() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let before = try daemon.source()
            try await daemon.reload(upstream, facts: ", enabled: false")
            let off = try daemon.source()
            #expect(!off.isEnabled)
            #expect(off.nextRunAt == nil)
            #expect(off.items == before.items)
            #expect(daemon.refusal(SourceRefresh.self, #"{"source":"facts"}"#)?.code == .notFound)
            #expect(try daemon.refresh().started == [])
            try await daemon.reload(upstream, facts: "")
            #expect(try daemon.source().nextRunAt == before.nextRunAt)
            #expect(upstream.requests.count == 3)
        }
    }

    // MARK: Refresh on request

    @Test func aUserRefreshesOnceInFiveMinutesAndAnAdministratorAnyTime() async throws {
        try await FetchingDaemon.run { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            #expect(try daemon.refresh(as: .user).started == ["facts"])
            try daemon.watch.wait(for: .finished)
            let refused = daemon.refusal(SourceRefresh.self)
            #expect(refused?.code == .busy)
            let retryAt = daemon.clock.now.advanced(by: .minutes(5))
            #expect(refused?.details["retry_at"] == .string(retryAt.description))
            #expect(try daemon.refresh(as: .administrator).started == ["facts"])
            try daemon.watch.wait(for: .finished)
            await daemon.advance(by: .minutes(5))
            #expect(try daemon.refresh(as: .user, #"{"source":"facts"}"#).started == ["facts"])
            try daemon.watch.wait(for: .finished)
            #expect(daemon.refusal(SourceRefresh.self, #"{"source":"village"}"#)?.code == .notFound)
            #expect(upstream.requests.count == 6)
        }
    }

    // MARK: Many sources

    /// With thousands of sources, both texts take so long that other users would wait.
    @Test func theMetricsAndTheStatusOfManySourcesAreNotWrittenOnTheEventLoop() async throws {
        let sources = (0..<101).map { "s\($0): {kind: feed, url: 'http://none.example/', enabled: false}" }
        let many = "posts: {sources: {\(sources.joined(separator: ", "))}}\n"
        try await FakeUpstream.run { upstream in
            try await FetchingDaemon.run(upstream, others: many, fetches: false) { daemon in
                let clients = try await whileFactThreadsAreBusy {
                    let clients = [try daemon.client(), try daemon.client()]
                    for (client, method) in zip(clients, [ServerMetrics.name, ServerStatus.name]) {
                        try client.send(line: #"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#)
                    }
                    let other = try daemon.client()
                    for _ in 0..<3 { let _: ServerInfo.Result = try other.call(ServerInfo.self) }
                    for client in clients {
                        var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
                        #expect(poll(&entry, 1, 0) == 0)
                    }
                    return clients
                }
                #expect(try clients[0].receiveLine()?.contains(#"norrisd_source_items{source=\"s100\""#) == true)
                #expect(try clients[1].receiveLine()?.contains(#""name":"s100""#) == true)
            }
            try await FetchingDaemon.run(upstream, fetches: false) { daemon in
                let status = try await whileFactThreadsAreBusy { try daemon.client().call(ServerStatus.self) }
                #expect(status.sources.count == 2)
            }
        }
    }

    private func whileFactThreadsAreBusy<Result>(_ body: () throws -> Result) async throws -> Result {
        let (busy, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func perform() throws -> Result {
            for _ in 0..<4 { busy.wait() }
            defer { for _ in 0..<4 { free.signal() } }
            return try body()
        }
        return try await withThrowingDiscardingTaskGroup { tasks in
            for _ in 0..<4 {
                tasks.addTask(executorPreference: globalConcurrentExecutor) {
                    await BackgroundThreads.facts.run { _ in
                        busy.signal()
                        free.wait()
                    }
                }
            }
            return try perform()
        }
    }

    // MARK: Categories

    @Test func listedCategoriesAreKnownAfterARestartToo() async throws {
        try await FakeUpstream.run { upstream in
            upstream.setFault(.json(#"["alpha"]"#), path: "/jokes/categories")
            let (folder, clock) = (TemporaryFolder(), ManualClock(.ofTests))
            for fetches in [true, false] {
                try await FetchingDaemon.run(upstream, in: folder, clock: clock, fetches: fetches) { daemon in
                    if fetches { try daemon.watch.wait(for: .finished) }
                    let known: FactRandom.Result = try daemon.client().call(FactRandom.self, #"{"category":"alpha"}"#)
                    #expect(known.items == [])
                    #expect(daemon.refusal(FactRandom.self, #"{"category":"beta"}"#)?.code == .notFound)
                    #expect(daemon.refusal(FactRandom.self, #"{"category":["alpha",""]}"#)?.code == .notFound)
                }
            }
        }
    }
}
