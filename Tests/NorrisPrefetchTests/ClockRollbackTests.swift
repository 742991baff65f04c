import NorrisFetchProtocol
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

        /// Starts the daemon and runs the schedule minute by minute.
        mutating func run(from start: Timestamp, for time: Duration) {
            var schedule = SourceSchedule(
                policy: policy, history: .init(record: record, content: content), now: start)
            go(&schedule, from: start, for: time)
        }

        mutating func go(_ schedule: inout SourceSchedule, from start: Timestamp, for time: Duration) {
            for second in stride(from: 0, to: time.components.seconds, by: 60) {
                let now = start.advanced(by: .seconds(second))
                schedule.noticeClock(now)
                guard schedule.isDue(now) else { continue }
                fetches.append(now)
                _ = schedule.start(now, using: &random)
                schedule.finish(failure.map { .failed($0) } ?? .fetched(added: 1), now: now, using: &random)
                (record, content) = (schedule.record, schedule.content)
            }
        }

        mutating func schedule(_ now: Timestamp) -> SourceSchedule {
            SourceSchedule(policy: policy, history: .init(record: record, content: content), now: now)
        }
    }

    private static func before(_ time: Timestamp, by duration: Duration) -> Timestamp {
        Timestamp(seconds: time.seconds - duration.components.seconds)
    }

    @Test(arguments: [Duration.seconds(60), hour * 8, year])
    func aClockSetBackPutsNoRunOffByMoreThanItsInterval(step: Duration) throws {
        var machine = Machine(fetchedAt: Self.start, refresh: Self.hour)
        var schedule = machine.schedule(Self.start)
        let before = Self.before(Self.start, by: step)
        machine.go(&schedule, from: before, for: Self.hour * 3)
        #expect((2...3).contains(machine.fetches.count))
        #expect(before.duration(to: try #require(machine.fetches.first)) <= Self.hour * 1.1 + .seconds(60))
    }

    @Test func aClockSetBackByHoursPutsNoRetryOffByThem() throws {
        var machine = Machine(fetchedAt: Self.start)
        machine.failure = FetchFailure(kind: .offline, message: "no", isRetryable: true)
        let failing = Self.start.advanced(by: Self.day * 2)
        var schedule = machine.schedule(failing)
        machine.go(&schedule, from: failing, for: .seconds(120))
        let before = Self.before(failing, by: Self.hour * 12)
        schedule.noticeClock(before)
        #expect(before.duration(to: try #require(schedule.nextRun(before))) <= SourceSchedule.longestBackoff)
    }

    /// As on a machine without a battery-backed clock, which gets the time from the network.
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
    }
}
