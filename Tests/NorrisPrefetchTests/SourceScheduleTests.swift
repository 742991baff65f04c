import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

struct SourceScheduleTests {
    private static let start = Timestamp(seconds: 1_000_000)
    private static let day = Duration.seconds(86_400)
    private static let policy = SourcePolicy(isEnabled: true, refresh: day, settings: "a")
    private static let hourly = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
    private static let other = SourcePolicy(isEnabled: true, refresh: day, settings: "b")

    private static let offline = FetchFailure(kind: .offline, message: "no", isRetryable: true)
    private static let missing = FetchFailure(kind: .http, message: "404")

    private var random = SeededRandom(seed: 1)

    /// A failure that is no limit, and after which only this source waits.
    private static func failure(pause seconds: Int) -> FetchFailure {
        let reply = HostReply(host: "h", status: 500, pause: seconds)
        return FetchFailure(kind: .http, message: "no", isRetryable: true, reply: reply)
    }

    private func schedule(
        _ policy: SourcePolicy = policy, record: ScheduleRecord = .init(), content: SourceSchedule.Content? = nil,
        now: Timestamp = start
    ) -> SourceSchedule { SourceSchedule(policy: policy, history: .init(record: record, content: content), now: now) }

    private mutating func run(_ schedule: inout SourceSchedule, _ outcome: FetchOutcome, at now: Timestamp = start) {
        schedule.noticeClock(now)
        _ = schedule.start(now, using: &random)
        schedule.finish(outcome, now: now, using: &random)
    }

    /// Returns the schedule of a source that was fetched at the start.
    private mutating func fetched(_ policy: SourcePolicy = policy, notBefore: Int? = nil) -> SourceSchedule {
        var schedule = schedule(policy)
        var head = FetchHead()
        head.notBefore = notBefore
        run(&schedule, .fetched(added: 1, head))
        return schedule
    }

    // MARK: Runs

    @Test("After the year 9999 all times are one moment, so no interval could end") mutating func theEndOfTime() {
        var schedule = schedule(now: .last)
        #expect(!schedule.isDue(.last))
        run(&schedule, .fetched(added: 1), at: .last)
        #expect(!schedule.isDue(.last))
    }

    @Test mutating func theNextRunIsOneJitteredIntervalAfterASuccess() throws {
        let wait = Self.start.duration(to: try #require(fetched().nextRunAt))
        #expect(wait >= Self.day * 0.9 && wait <= Self.day * 1.1)
        #expect(wait != Self.day)
    }

    @Test mutating func cachingHeadersOnlyPutARunOffAndADayAtMost() throws {
        for hours in [24, 30, 48] {
            let next = try #require(fetched(Self.hourly, notBefore: hours * 3600).nextRunAt)
            #expect(Self.start.duration(to: next) == Self.day)
        }
        let soon = try #require(fetched(Self.hourly, notBefore: 5).nextRunAt)
        #expect(Self.start.duration(to: soon) > .seconds(3000))
    }

    @Test mutating func aRestartDoesNotFetchSooner() throws {
        let before = fetched()
        let later = Self.start.advanced(by: .seconds(3600))
        let after = schedule(record: before.record, content: before.content, now: later)
        #expect(after.nextRunAt == before.nextRunAt)
        #expect(!after.isDue(later))
        #expect(after.isDue(try #require(before.nextRunAt)))
    }

    @Test mutating func contentThatIsGoneOrOfOtherSettingsIsDueAtOnce() {
        let before = fetched()
        let later = Self.start.advanced(by: .seconds(60))
        #expect(schedule(record: before.record, content: nil, now: later).isDue(later))
        #expect(schedule(Self.other, record: before.record, content: before.content, now: later).isDue(later))
        var cleared = before
        cleared.contentGone()
        #expect(cleared.isDue(later) && !cleared.isFresh(later))
        var reloaded = before
        reloaded.apply(Self.other, interval: Self.day)
        #expect(reloaded.isDue(later) && !reloaded.isFresh(later))
        // The cache was lost while the daemon did not run, after a failure that is not worth a retry.
        var failed = before
        run(&failed, .failed(Self.missing))
        #expect(!failed.isDue(Self.start) && schedule(record: failed.record).isDue(Self.start))
    }

    @Test mutating func aRunThatIsPostponedIsNoFailure() {
        var schedule = fetched()
        let due = Self.start.advanced(by: Self.day * 2)
        run(&schedule, .postponed(FetchFailure(kind: .http, message: "held", postponed: 600)), at: due)
        #expect(!schedule.isRunning)
        #expect(schedule.record.failures == 0 && schedule.failure == nil)
        #expect(schedule.nextRun(due) == due.advanced(by: .seconds(600)))
        #expect(schedule.maySearch(due), "Users are not held")
    }

    private static let moved = SourcePolicy(isEnabled: true, refresh: day, settings: "b", upstream: "u")

    @Test mutating func anotherURLClearsBackoffAndFailures() throws {
        var schedule = fetched()
        for _ in 0..<9 { run(&schedule, .failed(Self.failure(pause: 9_000))) }
        let failed = schedule
        #expect(!schedule.isDue(Self.start) && schedule.failure != nil)
        schedule.apply(Self.other, interval: Self.day)
        #expect(!schedule.isDue(Self.start) && schedule.failure != nil, "Other settings of the same URL")
        schedule.apply(Self.moved, interval: Self.day)
        #expect(schedule.isDue(Self.start) && schedule.failure == nil && schedule.record.failures == 0)
        #expect(schedule.maySearch(Self.start))
        // The same if the URL changed while the daemon was stopped.
        let restarted = self.schedule(Self.moved, record: failed.record, content: failed.content)
        #expect(restarted.isDue(Self.start) && restarted.failure == nil)
        let same = self.schedule(record: failed.record, content: failed.content)
        #expect(!same.isDue(Self.start) && same.failure != nil)
    }

    @Test mutating func settingsThatChangeUnderARunMakeItRunAgain() {
        var schedule = schedule()
        _ = schedule.start(Self.start, using: &random)
        schedule.apply(Self.other, interval: Self.day)
        schedule.finish(.fetched(added: 1), now: Self.start, using: &random)
        #expect(schedule.content?.settings == "a")
        #expect(schedule.isDue(Self.start))
    }

    @Test mutating func aFailureOfAnotherURLDelaysNoRun() throws {
        for failure in [Self.failure(pause: 9_000), Self.missing] {
            var schedule = schedule()
            let stored = schedule.start(Self.start, using: &random)
            #expect(stored.upstream == "")
            schedule.apply(Self.moved, interval: Self.day)
            schedule.finish(.failed(failure), now: Self.start, using: &random)
            #expect(schedule.isDue(Self.start) && schedule.failure == nil)
        }
    }

    // MARK: Failures

    @Test mutating func failuresBackOffWithFullJitterUpToAnHour() throws {
        var schedule = schedule()
        var now = Self.start
        var longest = Duration.zero
        for failures in 1...40 {
            run(&schedule, .failed(Self.offline), at: now)
            #expect(schedule.record.failures == failures)
            let next = try #require(schedule.nextRun(now))
            let wait = now.duration(to: next)
            #expect(wait >= .seconds(1) && wait <= .seconds(min(3600, 4 << min(failures - 1, 16))))
            longest = max(longest, wait)
            now = next
        }
        #expect(longest > .seconds(1800) && longest <= .seconds(3600))
        #expect(schedule.failure?.since == Self.start)
        #expect(schedule.failure?.retryAt == schedule.nextRunAt)
        // A success removes all traces of the failures.
        run(&schedule, .fetched(added: 0), at: now)
        #expect(schedule.failure == nil && schedule.record.failures == 0)
        #expect(schedule.record.wait == nil)
        #expect(schedule.isFresh(now))
    }

    @Test mutating func backoffHoldsEvenContentThatIsGone() throws {
        var schedule = schedule()
        for _ in 0..<12 { run(&schedule, .failed(Self.offline)) }
        let until = Self.start.advanced(by: try #require(schedule.record.wait))
        try #require(Self.start.duration(to: until) > .seconds(61))
        schedule.contentGone()
        #expect(!schedule.isDue(Self.start))
        #expect(schedule.nextRunAt == until)
        #expect(schedule.isDue(until))
        // Nor is a search passed on.
        #expect(!schedule.maySearch(Self.start.advanced(by: .seconds(60))) && schedule.maySearch(until))
    }

    @Test mutating func whatIsNotWorthARetryWaitsForTheNextRun() throws {
        var schedule = schedule()
        run(&schedule, .failed(Self.missing))
        let next = try #require(schedule.nextRunAt)
        #expect(Self.start.duration(to: next) >= Self.day * 0.9)
        // A restart with the same settings does not retry, but a restart with other settings does.
        let later = Self.start.advanced(by: .seconds(9))
        #expect(self.schedule(record: schedule.record, now: later).nextRunAt == next)
        #expect(self.schedule(Self.other, record: schedule.record, now: later).isDue(later))
    }

    @Test(
        "A pause that is no limit delays runs of the source by at most a day",
        arguments: [(7200, 7200), (7 * 86_400, 86_400)])
    mutating func pauseOfASource(_ asked: Int, _ waited: Int) {
        var schedule = schedule(Self.hourly)
        run(&schedule, .failed(Self.failure(pause: asked)))
        #expect(schedule.nextRunAt == Self.start.advanced(by: .seconds(waited)))
        #expect(schedule.refresh(Self.start, isAdministrator: false) == nil && schedule.isDue(Self.start))
    }

    @Test("A source that answered 410 is asked again by an administrator, or with another kind or address")
    mutating func gone() throws {
        var schedule = fetched(Self.hourly)
        run(&schedule, .failed(FetchFailure(kind: .http, message: "gone", status: 410)))
        let later = Self.start.advanced(by: .seconds(1_000_000_000))
        #expect(schedule.isGone && schedule.nextRun(later) == nil && !schedule.isDue(later))
        #expect(schedule.failure(later)?.message == "gone" && schedule.failure(later)?.retryAt == nil)
        let restarted = self.schedule(Self.hourly, record: schedule.record, content: nil, now: later)
        #expect(restarted.isGone && !restarted.isDue(later))
        var changed = schedule
        changed.apply(Self.other, interval: Self.day)
        #expect(!changed.isGone && changed.isDue(later))
        #expect(schedule.refresh(later, isAdministrator: false) == .gone)
        #expect(schedule.refresh(later, isAdministrator: true) == nil)
        #expect(!schedule.isGone && schedule.isDue(later))
        run(&schedule, .fetched(added: 1), at: later)
        #expect(!schedule.isGone && schedule.nextRun(later) != nil)
    }

    @Test mutating func aHoldDelaysRunsSearchesAndRefreshesButAnAdministratorAsksOnce() {
        var schedule = schedule(Self.hourly)
        let until = Self.start.advanced(by: .seconds(600))
        schedule.hostHold = until
        #expect(schedule.nextRunAt == until && !schedule.maySearch(Self.start) && schedule.maySearch(until))
        for isAdministrator in [true, false] {
            #expect(schedule.refresh(Self.start, isAdministrator: isAdministrator) == .putOff(until: until))
        }
        #expect(schedule.refresh(Self.start, isAdministrator: true, passesHold: true) == nil)
        #expect(schedule.isDue(Self.start))
        _ = schedule.start(Self.start, using: &random)
        schedule.hasPass = false
        schedule.finish(.failed(Self.missing), now: Self.start, using: &random)
        schedule.contentGone()
        #expect(schedule.nextRunAt == until)
        // A run without a fetch uses the permission up as well.
        #expect(schedule.refresh(Self.start, isAdministrator: true, passesHold: true) == nil)
        run(&schedule, .cancelled)
        schedule.contentGone()
        #expect(schedule.nextRunAt == until)
    }

    @Test mutating func neitherAHeldHostNorAnOutageOfHoursMakesASourceOverdue() {
        let late = Self.start.advanced(by: Self.day * 0.9)
        let later = Self.start.advanced(by: Self.day * 2)
        var random = SeededRandom(seed: 1)
        func failing(_ reply: HostReply?) -> SourceSchedule {
            var schedule = SourceSchedule(policy: Self.hourly, history: .init(), now: Self.start)
            schedule.hostHold = Self.start
            // More often than the machine could have slept.
            for minutes in stride(from: 0, through: 2 * 1440, by: 30) {
                let now = Self.start.advanced(by: .seconds(minutes * 60))
                schedule.noticeClock(now)
                _ = schedule.start(now, using: &random)
                let failure = FetchFailure(kind: .http, message: "no", isRetryable: true, reply: reply)
                schedule.finish(.failed(failure), now: now, using: &random)
                if now < late { #expect(!schedule.isOverdue(now)) }
            }
            return schedule
        }
        #expect(failing(HostReply(host: "h", status: 500)).isOverdue(later))
        let refused = failing(HostReply(host: "h", status: 429, isLimit: true))
        #expect(!refused.isOverdue(later))
        // Nor after a restart.
        #expect(!self.schedule(Self.hourly, record: refused.record, now: later).isOverdue(later))
    }

    @Test("A refresh during a run that fails is followed by one more run at once, unless the upstream asks for a pause")
    mutating func aRefreshOutlivesAFailingRun() {
        for (failure, isFollowed) in [(Self.offline, true), (Self.failure(pause: 60), false)] {
            var schedule = schedule()
            for _ in 0..<8 { run(&schedule, .failed(Self.offline)) }
            _ = schedule.start(Self.start, using: &random)
            #expect(schedule.refresh(Self.start, isAdministrator: true) == nil)
            schedule.finish(.failed(failure), now: Self.start, using: &random)
            #expect(schedule.isDue(Self.start) == isFollowed)
            let later = Self.start.advanced(by: .seconds(60))
            run(&schedule, .failed(Self.offline), at: later)
            #expect(!schedule.isDue(later))
        }
    }

    @Test mutating func aRefreshGoesThroughBackoffOncePerFiveMinutesForUsers() {
        var schedule = schedule()
        for _ in 0..<8 { run(&schedule, .failed(Self.offline)) }
        #expect(!schedule.isDue(Self.start))
        #expect(schedule.refresh(Self.start, isAdministrator: false) == nil)
        #expect(schedule.isDue(Self.start))
        let soon = Self.start.advanced(by: .seconds(299))
        let free = Self.start.advanced(by: .seconds(300))
        #expect(schedule.refresh(soon, isAdministrator: false) == .tooSoon(until: free))
        #expect(schedule.refresh(soon, isAdministrator: true) == nil)
        #expect(schedule.refresh(free, isAdministrator: false) == nil)
        var off = self.schedule(SourcePolicy(isEnabled: false, refresh: Self.day, settings: "a"))
        #expect(off.refresh(soon, isAdministrator: true) == .disabled)
    }

    /// For a failing source, the time counts from the last success or else from the first failure.
    @Test mutating func aSourceIsOverdueAfterOneAndAHalfIntervals() throws {
        let late = Self.start.advanced(by: Self.day * 1.5)
        // The schedule rounds times up.
        let later = late.advanced(by: .seconds(2))
        var schedule = fetched()
        #expect(!schedule.isOverdue(later), "It may have slept")
        let failing = try #require(schedule.nextRunAt)
        run(&schedule, .failed(Self.offline), at: failing)
        let dayAfter = failing.advanced(by: Self.day)
        run(&schedule, .failed(Self.offline), at: failing.advanced(by: Self.day * 0.5))
        run(&schedule, .failed(Self.offline), at: dayAfter)
        #expect(schedule.isOverdue(dayAfter) && !schedule.isOverdue(later), "It fails for less than a day")
        run(&schedule, .fetched(added: 0), at: dayAfter)
        #expect(!schedule.isOverdue(dayAfter))

        var never = self.schedule()
        run(&never, .failed(Self.missing))
        run(&never, .failed(Self.offline), at: late)
        #expect(never.isOverdue(later) && !never.isOverdue(late))
        never.apply(SourcePolicy(isEnabled: false, refresh: Self.day, settings: "a"), interval: Self.day)
        #expect(!never.isOverdue(later))
    }

    @Test mutating func oneFailureAfterASleepMakesNoSourceOverdue() {
        var schedule = fetched()
        let awake = Self.start.advanced(by: Self.day * 9)
        run(&schedule, .failed(Self.offline), at: awake)
        #expect(!schedule.isOverdue(awake))
        run(&schedule, .failed(Self.offline), at: awake.advanced(by: Self.day * 0.5))
        #expect(!schedule.isOverdue(awake.advanced(by: Self.day * 0.9)))
        #expect(schedule.isOverdue(awake.advanced(by: Self.day)))
        let noon = awake.advanced(by: Self.day * 0.5)
        let again = self.schedule(record: schedule.record, content: schedule.content, now: noon)
        #expect(!again.isOverdue(noon) && again.isOverdue(awake.advanced(by: Self.day)))
    }

    /// For example a source with an invalid key, whose runs cannot fail.
    @Test mutating func aSourceThatCannotBeFetchedIsOverdueToo() {
        let off = SourcePolicy(isEnabled: false, refresh: Self.day, settings: "b")
        let (late, later) = (Self.start.advanced(by: Self.day * 1.4), Self.start.advanced(by: Self.day * 1.6))
        let never = schedule(off)
        #expect(!never.isOverdue(later))
        #expect(!never.isOverdue(late, unavailableSince: Self.start))
        #expect(never.isOverdue(later, unavailableSince: Self.start))
        // The settings of the last fetch and the start of the daemon make no difference.
        let once = schedule(off, content: fetched().content)
        #expect(!once.isOverdue(late, unavailableSince: late) && once.isOverdue(later, unavailableSince: late))
    }

    @Test mutating func aRunThatTheDaemonDoesNotSurviveIsPutOff() throws {
        var schedule = schedule()
        let stored = schedule.start(Self.start, using: &random)
        let after = self.schedule(record: stored)
        #expect(!after.isDue(Self.start))
        #expect(Self.start.duration(to: try #require(after.nextRunAt)) <= SourceSchedule.shortestBackoff)
        // Repeated crashes increase the delay.
        var killed = stored
        var longest = Duration.zero
        for _ in 0..<20 {
            var schedule = self.schedule(record: killed)
            killed = schedule.start(Self.start, using: &random)
            longest = max(longest, try #require(killed.wait))
        }
        #expect(longest > .seconds(1800))
        schedule.finish(.cancelled, now: Self.start, using: &random)
        #expect(self.schedule(record: schedule.record).isDue(Self.start))
    }

    // MARK: Searches

    @Test mutating func aFailureHoldsSearchesForAMinute() {
        var schedule = fetched()
        #expect(schedule.maySearch(Self.start))
        schedule.finishSearch(Self.offline, now: Self.start)
        #expect(schedule.record.failures == 0)
        #expect(schedule.failure?.kind == .offline)
        #expect(!schedule.maySearch(Self.start.advanced(by: .seconds(59))))
        #expect(schedule.searchFailure(Self.start)?.retryAt == Self.start.advanced(by: .seconds(60)))
        #expect(schedule.maySearch(Self.start.advanced(by: .seconds(60))))
        schedule.finishSearch(nil, now: Self.start.advanced(by: .seconds(60)))
        #expect(schedule.failure == nil)
    }

    // MARK: Jitter

    @Test func machinesSpreadOverATenthInBothDirections() {
        let hour = Duration.seconds(3600)
        let here = Jitter(machine: "a")
        #expect(here.applied(to: hour, of: "facts") == Jitter(machine: "a").applied(to: hour, of: "facts"))
        #expect(here.applied(to: hour, of: "facts") != here.applied(to: hour, of: "gifs"))
        let factors = (0..<2000).map { Jitter(machine: "machine \($0)").applied(to: hour, of: "facts") / hour }
        #expect(factors.allSatisfy { $0 >= 0.9 && $0 < 1.1 })
        for tenth in 0..<10 {
            let low = 0.9 + 0.02 * Double(tenth)
            #expect(factors.count { $0 >= low && $0 < low + 0.02 } > 120)
        }
    }
}

extension SourceSchedule {
    /// Creates the schedule of the source `facts` on the machine `m`.
    init(policy: SourcePolicy, history: History, now: Timestamp) {
        let interval = Jitter(machine: "m").applied(to: policy.refresh, of: "facts")
        self.init(policy: policy, interval: interval, history: history, now: now)
    }
}

extension SourceSchedule {
    /// At the time at which most tests begin.
    var nextRunAt: Timestamp? { nextRun(Timestamp(seconds: 1_000_000)) }
    var failure: SourceFailure? { failure(Timestamp(seconds: 1_000_000)) }

    func maySearch(_ now: Timestamp) -> Bool { policy.isEnabled && searchHold(now) == nil }
}
