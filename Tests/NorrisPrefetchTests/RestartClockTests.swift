import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

/// What a daemon makes of the times on its disk where the clock was set, over restarts.
struct RestartClockTests {
    private static let start = Timestamp(seconds: 1_700_000_000)
    private static let year = Duration.seconds(365 * 86_400)
    private static let day = Duration.seconds(86_400)

    /// A machine with a source, whose daemon is only ever killed.
    private struct Machine {
        var policy = SourcePolicy(isEnabled: true, refresh: day, settings: "a")
        var record = SourceSchedule.Record()
        var content: SourceSchedule.Content?
        var fetches: [Timestamp] = []
        var failure: FetchFailure?
        private var random = SeededGenerator(state: 1)

        /// That fetched the source at a time.
        init(fetchedAt time: Timestamp) {
            run(from: time, for: .seconds(60))
            fetches = []
        }

        func schedule(_ now: Timestamp) -> SourceSchedule {
            SourceSchedule(
                name: "facts", policy: policy, jitter: Jitter(machine: "m"), record: record, content: content, now: now
            )
        }

        /// A start, and what follows minute by minute.
        mutating func run(from start: Timestamp, for time: Duration) {
            var schedule = schedule(start)
            go(&schedule, from: start, for: time)
        }

        mutating func go(_ schedule: inout SourceSchedule, from start: Timestamp, for time: Duration) {
            for second in stride(from: 0, to: time.components.seconds, by: 60) {
                let now = start.advanced(by: .seconds(second))
                if let settled = schedule.settle(now) { record = settled }
                guard schedule.isDue(now) else { continue }
                fetches.append(now)
                _ = schedule.start(now, using: &random)
                schedule.finish(failure.map { .failed($0) } ?? .fetched(added: 1), now: now, using: &random)
                record = schedule.record
                if failure == nil { content = schedule.content }
            }
        }
    }

    @Test func machineThatIsOnForHoursADayFetchesWithinTheInterval() throws {
        var machine = Machine(fetchedAt: Self.start.advanced(by: Self.year))
        for day in 0..<10 { machine.run(from: Self.start.advanced(by: Self.day * day), for: .seconds(10 * 3600)) }
        #expect(Self.start.duration(to: try #require(machine.fetches.first)) < Self.day * 1.5)
        #expect((5...10).contains(machine.fetches.count))
    }

    @Test func clockThatIsBehindForAMinuteMakesNothingDueSooner() {
        var machine = Machine(fetchedAt: Self.start)
        let (record, content) = (machine.record, machine.content)
        let now = Self.start.advanced(by: .seconds(3600))
        let behind = Timestamp(seconds: now.seconds - Self.year.components.seconds)
        for _ in 0..<20 {
            var schedule = machine.schedule(behind)
            machine.go(&schedule, from: behind, for: .seconds(60))
            machine.go(&schedule, from: now, for: .seconds(1800))
            #expect(schedule.record == record && schedule.content == content)
        }
        #expect(machine.fetches.isEmpty)
        #expect(machine.record == record)
    }

    /// The content stays of the future for as long as the source fails.
    @Test(arguments: [5, 11, 61])
    func noRestartOfManyFetches(minutes: Int) {
        for ahead in [Duration.seconds(300), Self.day, Self.day * 1.05, Self.year] {
            var machine = Machine(fetchedAt: Self.start.advanced(by: ahead))
            machine.failure = FetchFailure(kind: .http, message: "404", isRetryable: false)
            for restart in 0..<(3 * 1440 / minutes) {
                let now = Self.start.advanced(by: .seconds(restart * minutes * 60))
                machine.run(from: now, for: .seconds(minutes * 60))
            }
            #expect(machine.fetches.count <= 3)
            // Where no start lasts until the clock is taken for right, nothing can be kept.
            #expect(!machine.fetches.isEmpty || minutes == 5)
        }
    }

    @Test(arguments: [1, 5, 900])
    func smallStepBackDropsNothingTheUpstreamAskedFor(seconds: Int) throws {
        var machine = Machine(fetchedAt: Self.start)
        machine.failure = FetchFailure(kind: .quota, message: "429", isRetryable: true, retryAfter: Self.day)
        let now = Self.start.advanced(by: Self.day * 2)
        machine.run(from: now, for: .seconds(60))
        let stepped = Timestamp(seconds: now.seconds - Int64(seconds))
        let schedule = machine.schedule(stepped)
        #expect(schedule.nextRunAt == stepped.advanced(by: Self.day))
        #expect(schedule.hold(stepped)?.retryAfter == Self.day)
        machine.run(from: stepped, for: Self.day)
        #expect(machine.fetches == [now])
    }

    @Test func smallStepBackAlsoKeepsALongBackoff() {
        var machine = Machine(fetchedAt: Self.start)
        machine.record.backoffUntil = Self.start.advanced(by: Backoff.cap)
        machine.record.nextRunAt = Self.start
        machine.record.failures = 12
        let stepped = Timestamp(seconds: Self.start.seconds - 5)
        #expect(machine.schedule(stepped).nextRunAt == stepped.advanced(by: Backoff.cap))
    }
}
