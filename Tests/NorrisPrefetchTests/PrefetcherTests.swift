import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import ServiceLifecycle
import Testing

@testable import NorrisPrefetch

@Suite(.timeLimit(.minutes(20))) struct PrefetcherTests {
    private let clock = ManualClock()
    private let host = RecordingHost()
    private let log = LogRecorder()
    private let policy = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
    private let upstream = ScriptedFetch()
    private let prefetcher: Prefetcher

    private static let offline = FetchFailure(kind: .offline, message: "no", isRetryable: true)

    /// Creates a prefetcher with one source, `facts`.
    init() async {
        prefetcher = Prefetcher(host: host, machine: "m", clock: clock, searchTime: .seconds(2), logger: log.logger)
        await prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
    }

    private var schedule: SourceSchedule? { prefetcher.schedule(of: "facts") }

    /// Ends a run, and returns when the host has the event and the prefetcher sleeps until the next run.
    private func end(_ outcome: FetchOutcome, _ event: RecordingHost.Event) async {
        await upstream.untilFetched()
        let sleeps = clock.sleeps
        await upstream.finish(outcome)
        await host.heard(event)
        await clock.untilAsleep(since: sleeps)
    }

    private func running(_ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await prefetcher.run() }
            try await body()
            tasks.cancelAll()
        }
    }

    @Test func aSourceIsFetchedAtOnceAndThenAtItsTimes() async throws {
        try await running {
            await end(.fetched(added: 7), .finished("facts", 7))
            #expect(upstream.count == 1)
            clock.advance(by: .seconds(4000))
            await upstream.finish(.fetched(added: 0))
            await host.heard(.finished("facts", 0))
        }
        #expect(host.events == [.began("facts"), .finished("facts", 7), .began("facts"), .finished("facts", 0)])
        #expect(host.stored["facts"] == schedule?.record)
    }

    @Test func workFollowsARunOnceHoweverTheRunEnds() async throws {
        try await running {
            await upstream.untilFetched()
            prefetcher.follow("facts") { [host] in host.began("work") }
            await upstream.finish(.failed(Self.offline))
            await host.heard(.began("work"))
            clock.advance(by: .seconds(4000))
            await end(.fetched(added: 7), .finished("facts", 7))
        }
        let work = RecordingHost.Event.began("work")
        #expect(host.events.filter { $0 == work }.count == 1)
        #expect(host.events.prefix { $0 != work } == [.began("facts"), .failed("facts", .offline)])
    }

    @Test func aFailureIsLoggedOnceAndSoIsItsEnd() async throws {
        try await running {
            for _ in 0..<3 {
                await end(.failed(Self.offline), .failed("facts", .offline))
                clock.advance(by: .seconds(3600))
            }
            await upstream.finish(.fetched(added: 1))
            await host.heard(.finished("facts", 1))
        }
        #expect(log.lines.filter { !$0.hasPrefix("debug") } == ["warning source.failed", "notice source.recovered"])
    }

    /// The current run may have fetched before the request.
    @Test func aRefreshDuringARunStartsAnotherAfterIt() async throws {
        try await running {
            await upstream.untilFetched()
            try prefetcher.refresh("facts", isAdministrator: true)
            #expect(host.events == [.began("facts")])
            await upstream.finish(.fetched(added: 1))
            await end(.fetched(added: 2), .finished("facts", 2))
            #expect(upstream.count == 2)
            #expect(host.events.count == 4 && host.events[2] == .began("facts"))
            #expect(schedule?.isDue(clock.now) == false)
        }
    }

    @Test func aRunThatIsStoppedLeavesTheScheduleAsItWas() async throws {
        let before = schedule?.record
        try await running {
            await upstream.untilFetched()
            #expect(host.stored["facts"]?.wait != nil)
        }
        #expect(host.stored["facts"] == before)
        #expect(!host.events.contains { if case .failed = $0 { true } else { false } })
    }

    // MARK: Searches

    @Test func aSearchBehindALongRunTimesOut() async throws {
        try await running {
            await upstream.untilFetched()
            async let found = prefetcher.search("facts") { _ throws(FetchFailure) in 7 }
            await clock.untilAsleep()
            clock.advance(by: .seconds(2))
            #expect(await found == nil)
            // This does not show that the upstream fails.
            #expect(schedule?.record.failure == nil)
            #expect(prefetcher.maySearch("facts"))
        }
    }

    @Test func theOutcomeOfASearchIsThatOfTheSource() async {
        func search(_ source: String, _ result: Result<Int?, FetchFailure>) async -> Int? {
            await prefetcher.search(source) { _ throws(FetchFailure) in try result.get() }
        }
        #expect(await search("facts", .success(7)) == 7)
        #expect(await search("facts", .failure(Self.offline)) == nil)
        #expect(schedule?.record.failure?.kind == .offline)
        #expect(host.stored["facts"]?.failure?.kind == .offline)
        // No search is forwarded for a minute.
        #expect(await search("facts", .success(7)) == nil)
        #expect(await search("no", .success(7)) == nil)
        clock.advance(by: .seconds(60))
        // A search that the upstream does not accept has no effect.
        #expect(await search("facts", .success(nil)) == nil)
        #expect(schedule?.record.failure?.kind == .offline)
        #expect(await search("facts", .success(7)) == 7)
        #expect(schedule?.record.failure == nil)
    }

    /// The status shows no failures without their reason, and the next run comes as soon as before.
    @Test func aSearchThatSucceedsEndsTheFailures() async throws {
        try await running {
            await end(.failed(Self.offline), .failed("facts", .offline))
        }
        let next = schedule?.nextRun(clock.now)
        clock.advance(by: .seconds(60))
        #expect(await prefetcher.search("facts") { _ throws(FetchFailure) in 7 } == 7)
        #expect(schedule?.record.failures == 0 && schedule?.record.failure == nil)
        #expect(schedule?.nextRun(clock.now) == next)
    }

    @Test("A run of a source that goes, or of an earlier one of its name, fails", arguments: [true, false])
    func runsOfSourcesThatGo(isAddedAgain: Bool) async throws {
        try await running {
            await upstream.untilFetched()
            let (rest, other) = (ScriptedFetch(), ScriptedFetch())
            let unchanged = Prefetcher.Source(name: "rest", policy: policy, fetch: rest.fetch)
            await prefetcher.configure([unchanged])
            // Its record goes with it.
            host.store(ScheduleRecord(), of: "facts")
            if isAddedAgain {
                await prefetcher.configure([unchanged, .init(name: "facts", policy: policy, fetch: other.fetch)])
                // It does not wait for the earlier run.
                await other.untilFetched()
            }
            await upstream.finish(.fetched(added: 7))
            await host.heard(.failed("facts", .offline))
            #expect(!host.events.contains(.finished("facts", 7)))
            if isAddedAgain {
                #expect(schedule?.isRunning == true)
                await other.finish(.fetched(added: 1))
                await host.heard(.finished("facts", 1))
                #expect(schedule?.runs == SourceSchedule.Runs(added: 1))
            }
        }
    }

    // MARK: Hosts

    private func asks(_ reply: HostReply?) async -> Result<Int, FetchFailure> {
        do throws(FetchFailure) {
            let (_, items) = try await prefetcher.inTurn(of: "new", at: "h") {
                () throws(FetchFailure) -> (head: FetchHead, items: [Int]) in
                var head = FetchHead()
                head.reply = reply
                if let reply, !reply.isSuccess { throw FetchFailure(kind: .http, message: "no", reply: reply) }
                return (head, [7])
            }
            return .success(items[0])
        } catch {
            return .failure(error)
        }
    }

    @Test func noGapFollowsAFetchWithoutARequest() async {
        await prefetcher.configure([], hostGap: .seconds(2))
        let found = FetchFailure(kind: .decode, message: "m", found: FoundSource(.feed, "https://h/feed"))
        let fetch = { () throws(FetchFailure) -> (head: FetchHead, items: [Int]) in throw found }
        for _ in 0..<2 {
            await #expect(throws: found) { _ = try await prefetcher.inTurn(of: "new", at: "h", fetch) }
        }
        #expect(clock.sleeps == 0)
    }

    @Test func fetchesOfAHostTakeTurnsWithAGap() async {
        await prefetcher.configure([], hostGap: .seconds(2))
        let reply = HostReply(host: "h", status: 200)
        #expect(await asks(reply) == .success(7))
        #expect(clock.sleeps == 0)
        async let second = asks(reply)
        await clock.untilAsleep()
        async let third = asks(reply)
        clock.advance(by: .seconds(2))
        #expect(await second == .success(7))
        await clock.untilAsleep(since: 1)
        clock.advance(by: .seconds(2))
        #expect(await third == .success(7))
    }

    @Test func aHoldIsStoredAndOutlivesTheDaemon() async throws {
        _ = await asks(HostReply(host: "h", status: 429, isLimit: true, pause: 600))
        let until = clock.now.advanced(by: .seconds(600))
        #expect(host.schedules(of: "host:").mapValues(\.retryAt) == ["h": until])
        #expect(prefetcher.heldHosts == [.init(host: "h", until: until, reason: "HTTP 429", sources: 0)])
        let next = Prefetcher(host: host, machine: "m", clock: clock, searchTime: .seconds(2), logger: log.logger)
        var policy = policy
        policy.host = "h"
        await next.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        #expect(next.schedule(of: "facts")?.isDue(clock.now) == false)
        #expect(next.heldHosts.map(\.sources) == [1])
        #expect(throws: RefreshRefusal.putOff(until: until)) {
            try next.refresh("facts", isAdministrator: true)
        }
        try next.refresh("facts", isAdministrator: true, passesHold: true)
        #expect(next.schedule(of: "facts")?.isDue(clock.now) == true)
        // Content that was deleted, and another source of the host.
        await next.contentGone("facts")
        let held = "h allows no request until \(until) (HTTP 429)."
        #expect(await asks(nil) == .failure(FetchFailure(kind: .http, message: held, postponed: 600)))
        clock.advance(by: .seconds(600))
        #expect(await asks(nil) == .success(7))
        #expect(prefetcher.heldHosts.isEmpty)
    }

    @Test func aForbiddenAfterARateLimitIsRetried() async {
        for (status, isRetryable) in [(403, false), (429, true), (403, true)] {
            let failure = await asks(HostReply(host: "h", status: status, isLimit: status == 429))
            clock.advance(by: .seconds(60))
            guard case .failure(let failure) = failure else { return #expect(Bool(false)) }
            #expect(failure.isRetryable == isRetryable && failure.reply?.isLimit == isRetryable)
        }
    }

    /// The file of the schedules may come after the start.
    @Test func theHistoryOfASourceWithoutARunIsReadAgain() async throws {
        let record = ScheduleRecord(lastRunAt: clock.now, retryAt: clock.now.advanced(by: .seconds(900)))
        try await running { await end(.fetched(added: 7), .finished("facts", 7)) }
        let before = schedule?.record
        await prefetcher.configure([.init(name: "facts", policy: policy, fetch: upstream.fetch)])
        #expect(schedule?.record == before)
        var disabled = policy
        disabled.isEnabled = false
        for expected in [ScheduleRecord(), record] {
            host.store(expected, of: "other")
            await prefetcher.configure([.init(name: "other", policy: disabled, fetch: upstream.fetch)])
            #expect(prefetcher.schedule(of: "other")?.record == expected)
        }
    }
}

struct PlannerTests {
    private static let start = Timestamp(seconds: 1_000_000)

    /// Twelve sources with runs of ten seconds must not hold up the others, and share their part equally.
    @Test(arguments: [true, false]) func everySourceGetsItsTurn(fails: Bool) {
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
        let names = (0..<25).map { "s\($0)" }
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(10), settings: "a")
        planner.configure(names.map { ($0, policy) }, histories: [:], now: Self.start)
        let failure = FetchFailure(kind: .timeout, message: "late", isRetryable: true)
        var begins: [String: [Int]] = [:]
        var ends: [String: Int] = [:]
        for second in 0..<1_000 {
            let now = Self.start.advanced(by: .seconds(second))
            for (name, _) in ends.filter({ $0.value == second }) {
                ends[name] = nil
                planner.finish(name, fails ? .failed(failure) : .fetched(added: 0), now: now)
            }
            while case let begun = planner.begin(now, .zero).map(\.name), !begun.isEmpty {
                for name in begun {
                    begins[name, default: []].append(second)
                    if names.prefix(12).contains(name) {
                        ends[name] = second + 10
                    } else {
                        planner.finish(name, .fetched(added: 0), now: now)
                    }
                }
                #expect(ends.count < Planner.maximumRuns)
            }
        }
        for name in names.dropFirst(12) {
            let times = begins[name] ?? []
            // The first runs are among all the others that are new.
            let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(times.first ?? 99 <= 50 && pauses.max() ?? 99 <= 12, "\(name): \(times)")
        }
        let counts = names.prefix(12).map { begins[$0]?.count ?? 0 }
        #expect(counts.allSatisfy { $0 > 1 }, "\(counts)")
        // The pauses after failures are random.
        if !fails { #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1 && counts[0] > 20, "\(counts)") }
    }

    /// Sources that have always been good begin to hang.
    @Test func aSourceThatBecomesDueLaterIsNotHeldUp() {
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(100), settings: "a")
        func history(_ seconds: Int) -> SourceSchedule.History {
            let time = Self.start.advanced(by: .seconds(seconds))
            return .init(record: ScheduleRecord(lastRunAt: time), content: .init(settings: "a", fetchedAt: time))
        }
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
        let names = (0..<8).map { "bad\($0)" } + ["good"]
        planner.configure(
            names.map { ($0, policy) },
            histories: Dictionary(uniqueKeysWithValues: names.map { ($0, history($0 == "good" ? 100 : 0)) }),
            now: Self.start)
        let late = Self.start.advanced(by: .seconds(115))
        #expect(planner.begin(late, .zero).count == Planner.maximumRuns - 1)
        #expect(planner.begin(late, .zero).isEmpty)
        let later = Self.start.advanced(by: .seconds(215))
        #expect(planner.begin(later, .zero).map(\.name) == ["good"])
        planner.finish("good", .fetched(added: 0), now: later)
        #expect(planner.begin(later, .zero).isEmpty)
    }

    /// For example programs that take 25 seconds each time.
    @Test func sourcesWithLongRunsLeaveOneRunToOthers() {
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(60), settings: "a")
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
        planner.configure((0..<4).map { ("slow\($0)", policy) }, histories: [:], now: Self.start)
        var running: [String: Int] = [:]
        for second in 0..<600 {
            let now = Self.start.advanced(by: .seconds(second))
            for (name, _) in running.filter({ $0.value + 25 == second }) {
                running[name] = nil
                planner.finish(name, .fetched(added: 0), now: now)
            }
            for (name, _) in planner.begin(now, .zero) { running[name] = second }
            #expect(running.count < Planner.maximumRuns)
        }
    }

    @Test(
        "Sources that fail, and new ones",
        arguments: [
            ScheduleRecord(lastRunAt: start, wait: .seconds(1), failures: 1), ScheduleRecord(),
        ]) func sourcesThatMayHangLeaveOneRunToOthers(record: ScheduleRecord)
    {
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(60), settings: "a")
        var histories = Dictionary(uniqueKeysWithValues: (0..<9).map { ("bad\($0)", record) })
            .mapValues { SourceSchedule.History(record: $0) }
        histories["good"] = SourceSchedule.History(
            record: ScheduleRecord(lastRunAt: Self.start),
            content: .init(settings: "a", fetchedAt: Self.start))
        planner.configure(histories.keys.sorted().map { ($0, policy) }, histories: histories, now: Self.start)
        let soon = Self.start.advanced(by: .seconds(9))
        #expect(planner.begin(soon, .zero).count == Planner.maximumRuns - 1)
        #expect(planner.begin(soon, .zero).isEmpty)
        #expect(planner.begin(Self.start.advanced(by: .seconds(70)), .zero).map(\.name) == ["good"])
    }
}
