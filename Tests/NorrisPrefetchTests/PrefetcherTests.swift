import Logging
import NorrisProtocol
import NorrisTestSupport
import ServiceLifecycle
import Testing

@testable import NorrisPrefetch

@Suite(.timeLimit(.minutes(20))) struct PrefetcherTests {
    private let clock = ManualClock()
    private let host = RecordingHost()
    private let policy = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")

    private func prefetcher(_ level: LogRecorder = LogRecorder()) -> Prefetcher {
        Prefetcher(
            host: host, planner: Planner(jitter: Jitter(machine: "m")), clock: clock, searchTime: .seconds(2),
            logger: level.logger
        )
    }

    /// Ends a run, and returns when that was heard and the prefetcher sleeps until the next one.
    private func end(
        _ run: ScriptedFetch, _ outcome: FetchOutcome, _ event: RecordingHost.Event
    ) async {
        await run.untilAsked()
        // It sleeps while the run lasts, too.
        await clock.untilAsleep()
        let sleeps = clock.sleeps
        await run.answer(outcome)
        await host.heard(event)
        await clock.untilAsleep(since: sleeps)
    }

    /// Runs a prefetcher while the body looks at it.
    private func running(
        _ prefetcher: Prefetcher, _ body: @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await prefetcher.run() }
            try await body()
            tasks.cancelAll()
        }
    }

    private static let offline = FetchFailure(kind: .offline, message: "no", isRetryable: true)

    @Test func aSourceIsFetchedAtOnceAndThenAtItsTimes() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await end(upstream, .fetched(added: 7), .finished("facts", 7))
            #expect(upstream.count == 1)
            clock.advance(by: .seconds(4000))
            await upstream.answer(.fetched(added: 0))
            await host.heard(.finished("facts", 0))
        }
        #expect(host.heardAll == [.began("facts"), .finished("facts", 7), .began("facts"), .finished("facts", 0)])
        #expect(host.kept["facts"] == prefetcher.schedule(of: "facts")?.record)
    }

    @Test func whatAClockThatStaysBehindMakesOfTheTimesIsKept() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await end(upstream, .fetched(added: 7), .finished("facts", 7))
            let stored = host.kept["facts"]
            clock.setTimeOfDay(Timestamp(seconds: 5000))
            for wait in [Planner.longestPause, SourceSchedule.settlingTime] {
                #expect(host.kept["facts"] == stored)
                let sleeps = clock.sleeps
                clock.advance(by: wait)
                await clock.untilAsleep(since: sleeps)
            }
            let next = try #require(host.kept["facts"]?.nextRunAt)
            #expect(Timestamp(seconds: 5000).duration(to: next) < .seconds(4100))
        }
    }

    @Test func aFailureIsSaidOnceAndSoIsItsEnd() async throws {
        let log = LogRecorder()
        let prefetcher = prefetcher(log)
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            for _ in 0..<3 {
                await end(upstream, .failed(Self.offline), .failed("facts", .offline))
                clock.advance(by: .seconds(3600))
            }
            await upstream.answer(.fetched(added: 1))
            await host.heard(.finished("facts", 1))
        }
        #expect(log.lines.filter { !$0.hasPrefix("debug") } == ["warning source.failed", "notice source.recovered"])
    }

    @Test func aRefreshAndContentThatIsGoneStartARunAtOnce() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await upstream.answer(.fetched(added: 1))
            await host.heard(.finished("facts", 1))
            try prefetcher.refresh("facts", isAdministrator: true)
            await upstream.answer(.fetched(added: 2))
            await host.heard(.finished("facts", 2))
            prefetcher.contentGone("facts")
            await upstream.answer(.fetched(added: 3))
            await host.heard(.finished("facts", 3))
        }
        #expect(throws: RefreshRefusal.unknown) { try prefetcher.refresh("no", isAdministrator: true) }
    }

    @Test func aRunThatIsStoppedLeavesTheScheduleAsItWas() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        let before = prefetcher.schedule(of: "facts")?.record
        try await running(prefetcher) {
            await upstream.untilAsked()
            #expect(host.kept["facts"]?.backoffUntil != nil)
        }
        #expect(host.kept["facts"] == before)
        #expect(!host.heardAll.contains { if case .failed = $0 { true } else { false } })
    }

    @Test func aSearchWaitsForTheRunAndThenFindsItFresh() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await upstream.untilAsked()
            async let isAnswered = prefetcher.ask("facts") { _ throws(FetchFailure) in true }
            await clock.untilAsleep(2)
            await upstream.answer(.fetched(added: 1))
            #expect(await isAnswered == false)
        }
    }

    @Test func aSearchThatWaitsTooLongSaysSoAndTheNextDoesNotWait() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await upstream.untilAsked()
            async let isAnswered = prefetcher.ask("facts") { _ throws(FetchFailure) in true }
            await clock.untilAsleep(2)
            clock.advance(by: .seconds(2))
            #expect(await isAnswered == false)
            let schedule = try #require(prefetcher.schedule(of: "facts"))
            #expect(schedule.searchFailure(clock.now)?.kind == .timeout)
            // The upstream may be well for all that.
            #expect(schedule.failure == nil)
            #expect(!prefetcher.mayAsk("facts"))
            clock.advance(by: .seconds(60))
            #expect(prefetcher.mayAsk("facts"))
            #expect(prefetcher.schedule(of: "facts")?.searchFailure(clock.now) == nil)
        }
    }

    @Test func whatASearchMeetsIsTheStateOfTheSource() async {
        let prefetcher = prefetcher()
        prefetcher.configure([.init(name: "facts", policy: policy) { .cancelled }])
        #expect(await prefetcher.ask("facts") { _ throws(FetchFailure) in true })
        #expect(await prefetcher.ask("facts") { _ throws(FetchFailure) in throw Self.offline } == false)
        #expect(prefetcher.schedule(of: "facts")?.failure?.kind == .offline)
        #expect(host.kept["facts"]?.failure?.kind == .offline)
        // For a minute nobody is let through.
        #expect(await prefetcher.ask("facts") { _ throws(FetchFailure) in true } == false)
        #expect(await prefetcher.ask("no") { _ throws(FetchFailure) in true } == false)
        clock.advance(by: .seconds(60))
        // A search that the upstream does not take changes nothing.
        #expect(await prefetcher.ask("facts") { _ throws(FetchFailure) in false } == false)
        #expect(prefetcher.schedule(of: "facts")?.failure?.kind == .offline)
        #expect(await prefetcher.ask("facts") { _ throws(FetchFailure) in true })
        #expect(prefetcher.schedule(of: "facts")?.failure == nil)
    }

    @Test func onlySoManySourcesAreFetchedAtATime() async throws {
        let prefetcher = prefetcher()
        let upstreams = (0..<Planner.maximumRuns + 1).map { _ in ScriptedFetch() }
        prefetcher.configure(
            upstreams.enumerated().map { .init(name: "s\($0.offset)", policy: policy, fetch: $0.element.fetch) }
        )
        try await running(prefetcher) {
            for upstream in upstreams.dropLast() { await upstream.untilAsked() }
            #expect(upstreams.last?.count == 0)
            await upstreams[0].answer(.fetched(added: 0))
            await upstreams[Planner.maximumRuns].untilAsked()
        }
    }

    @Test func aNewConfigurationKeepsWhatIsKnownAndForgetsWhatIsGone() async throws {
        let prefetcher = prefetcher()
        let upstream = ScriptedFetch()
        prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        try await running(prefetcher) {
            await upstream.answer(.fetched(added: 1))
            await host.heard(.finished("facts", 1))
            let other = ScriptedFetch()
            var changed = policy
            changed.settings = "b"
            prefetcher.configure([.init(name: "facts", policy: changed, fetch: other.fetch)])
            await other.answer(.fetched(added: 2))
            await host.heard(.finished("facts", 2))
            prefetcher.configure([])
            #expect(prefetcher.schedule(of: "facts") == nil)
        }
    }
}
