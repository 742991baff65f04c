import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

/// Tests of stored times after a change of the clock, in a running daemon and after restarts.
struct ClockRollbackTests {
    private static let start = Timestamp(seconds: 1_700_000_000)
    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)
    private static let year = Duration.seconds(365 * 86_400)

    /// A machine with a source. Its daemon never stops cleanly.
    private struct Machine {
        var policy = SourcePolicy(isEnabled: true, refresh: day, settings: "a")
        var record = ScheduleRecord()
        var content: SourceSchedule.Content?
        var fetches: [Timestamp] = []
        var failure: FetchFailure?
        private var random = SeededRandom(seed: 1)

        /// Creates a machine that fetched the source at a time.
        init(fetchedAt time: Timestamp, refresh: Duration = day) {
            policy.refresh = refresh
            run(from: time, for: .seconds(60))
            fetches = []
        }

        func schedule(_ now: Timestamp) -> SourceSchedule {
            SourceSchedule(policy: policy, history: .init(record: record, content: content), now: now)
        }

        /// Starts the daemon and runs the schedule minute by minute.
        mutating func run(from start: Timestamp, for time: Duration) {
            var schedule = schedule(start)
            go(&schedule, from: start, for: time)
        }

        mutating func go(_ schedule: inout SourceSchedule, from start: Timestamp, for time: Duration) {
            for second in stride(from: 0, to: time.components.seconds, by: 60) {
                let now = start.advanced(by: .seconds(second))
                if let limited = schedule.limitTimes(now) { record = limited }
                guard schedule.isDue(now) else { continue }
                fetches.append(now)
                _ = schedule.start(now, using: &random)
                schedule.finish(failure.map { .failed($0) } ?? .fetched(added: 1), now: now, using: &random)
                record = schedule.record
                if failure == nil { content = schedule.content }
            }
        }
    }

    private static func before(_ time: Timestamp, by duration: Duration) -> Timestamp {
        Timestamp(seconds: time.seconds - duration.components.seconds)
    }

    // MARK: Running daemon

    @Test func aClockSetBackDoesNotPutRunsOffForYears() throws {
        var schedule = Machine(fetchedAt: Self.start).schedule(Self.start)
        let failure = FetchFailure(kind: .offline, message: "no", isRetryable: true, retryAfter: Self.hour * 2)
        schedule.finishSearch(failure, now: Self.start)
        let before = Self.before(Self.start, by: Self.year)
        #expect(schedule.limitTimes(before) == nil)
        let next = try #require(schedule.nextRunAt)
        #expect(before.duration(to: next) <= Self.day * 1.1)
        #expect(schedule.maySearch(Self.start.advanced(by: Self.day * 2)))
        // The times are limited only once.
        let later = before.advanced(by: Self.hour)
        #expect(schedule.limitTimes(later) == schedule.record)
        #expect(schedule.limitTimes(later) == nil)
        #expect(schedule.nextRunAt == next)
    }

    @Test func aClockSetBackByHoursPutsNothingOffByThem() throws {
        var schedule = Machine(fetchedAt: Self.start, refresh: Self.hour).schedule(Self.start)
        let before = Self.before(Self.start, by: Self.hour * 8)
        _ = schedule.limitTimes(before)
        #expect(before.duration(to: try #require(schedule.nextRunAt)) <= Self.hour * 1.1)
        #expect(schedule.content?.fetchedAt == before)
        #expect(!schedule.isFresh(before.advanced(by: Self.hour * 1.5 + .seconds(1))))
    }

    @Test func aClockSetBackByHoursPutsNoRetryOffByThem() throws {
        var machine = Machine(fetchedAt: Self.start)
        machine.failure = FetchFailure(kind: .offline, message: "no", isRetryable: true)
        let failing = Self.start.advanced(by: Self.day * 2)
        var schedule = machine.schedule(failing)
        machine.go(&schedule, from: failing, for: .seconds(120))
        let before = Self.before(failing, by: Self.hour * 12)
        _ = schedule.limitTimes(before)
        #expect(before.duration(to: try #require(schedule.nextRunAt)) <= Backoff.cap)
        #expect(schedule.failure?.since == before)
    }

    // MARK: All sources

    private static let names = ["facts", "gifs", "town", "planet", "news", "blog"]

    /// Returns a planner whose sources were all fetched at the start.
    private func planner() -> Planner {
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededRandom(seed: 1))
        let policy = SourcePolicy(isEnabled: true, refresh: Self.hour, settings: "a")
        planner.configure(Self.names.map { ($0, policy) }, histories: [:], now: Self.start)
        _ = finishAll(&planner, Self.start)
        return planner
    }

    /// Runs due sources until none is due, and returns their names in order.
    private func finishAll(_ planner: inout Planner, _ now: Timestamp) -> [String] {
        var ran: [String] = []
        while true {
            _ = planner.limitTimes(now)
            let begun = planner.begin(now).map(\.name)
            #expect(begun.count <= Planner.maximumRuns)
            if begun.isEmpty { return ran }
            for name in begun { planner.finish(name, .fetched(added: 1), now: now) }
            ran += begun
        }
    }

    @Test func aClockSetBackAYearPutsNothingOffByMoreThanItsInterval() {
        var planner = planner()
        #expect(planner.pause(Self.start) <= Planner.longestPause)
        let before = Self.before(Self.start, by: Self.year)
        #expect(finishAll(&planner, before).isEmpty)
        #expect(planner.pause(before) <= Planner.longestPause)
        #expect(finishAll(&planner, before.advanced(by: Self.hour * 1.1)).sorted() == Self.names.sorted())
    }

    @Test func aClockSetForwardAYearMakesEverySourceDueOnce() {
        var planner = planner()
        let later = Self.start.advanced(by: Self.year)
        #expect(finishAll(&planner, later).sorted() == Self.names.sorted())
        #expect(planner.pause(later) > .seconds(1))
    }

    // MARK: Restarts

    @Test func aMachineThatIsOnForHoursADayFetchesWithinTheInterval() throws {
        var machine = Machine(fetchedAt: Self.start.advanced(by: Self.year))
        for day in 0..<10 { machine.run(from: Self.start.advanced(by: Self.day * day), for: Self.hour * 10) }
        #expect(Self.start.duration(to: try #require(machine.fetches.first)) < Self.day * 1.5)
        #expect((5...10).contains(machine.fetches.count))
    }

    @Test func aClockThatIsBehindForAMinuteMakesNothingDueSooner() {
        var machine = Machine(fetchedAt: Self.start)
        let (record, content) = (machine.record, machine.content)
        let now = Self.start.advanced(by: Self.hour)
        let behind = Self.before(now, by: Self.year)
        for _ in 0..<20 {
            var schedule = machine.schedule(behind)
            machine.go(&schedule, from: behind, for: .seconds(60))
            machine.go(&schedule, from: now, for: .seconds(1800))
            #expect(schedule.record == record && schedule.content == content)
        }
        #expect(machine.fetches.isEmpty)
        #expect(machine.record == record)
    }

    /// The fetch time of the content stays in the future as long as the source fails.
    @Test(arguments: [5, 11, 61]) func noRestartOfManyFetches(minutes: Int) {
        for ahead in [Duration.seconds(300), Self.day, Self.day * 1.05, Self.year] {
            var machine = Machine(fetchedAt: Self.start.advanced(by: ahead))
            machine.failure = FetchFailure(kind: .http, message: "404", isRetryable: false)
            for restart in 0..<(3 * 1440 / minutes) {
                let now = Self.start.advanced(by: .seconds(restart * minutes * 60))
                machine.run(from: now, for: .seconds(minutes * 60))
            }
            #expect(machine.fetches.count <= 3)
            // If every start is too short to store limited times, there may be no fetch.
            #expect(!machine.fetches.isEmpty || minutes == 5)
        }
    }

    @Test(arguments: [1, 5, 900]) func aSmallStepBackDropsNothingTheUpstreamAskedFor(seconds: Int) throws {
        var machine = Machine(fetchedAt: Self.start)
        machine.failure = FetchFailure(kind: .quota, message: "429", isRetryable: true, retryAfter: Self.day)
        let now = Self.start.advanced(by: Self.day * 2)
        machine.run(from: now, for: .seconds(60))
        let stepped = Self.before(now, by: .seconds(seconds))
        let schedule = machine.schedule(stepped)
        #expect(schedule.nextRunAt == stepped.advanced(by: Self.day))
        #expect(schedule.rateLimit(stepped)?.retryAfter == Self.day)
        machine.run(from: stepped, for: Self.day)
        #expect(machine.fetches == [now])
    }

    @Test func aSmallStepBackDropsNoLongBackoff() {
        var machine = Machine(fetchedAt: Self.start)
        machine.record.backoffUntil = Self.start.advanced(by: Backoff.cap)
        machine.record.nextRunAt = Self.start
        machine.record.failures = 12
        let stepped = Self.before(Self.start, by: .seconds(5))
        #expect(machine.schedule(stepped).nextRunAt == stepped.advanced(by: Backoff.cap))
    }
}
