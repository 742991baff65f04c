import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

@Suite struct SourceScheduleTests {
    private static let start = Timestamp(seconds: 1_000_000)
    private static let day = Duration.seconds(86_400)
    private static let policy = SourcePolicy(isEnabled: true, refresh: day, settings: "a")

    private var random = SeededGenerator(state: 1)

    private func schedule(
        _ policy: SourcePolicy = policy,
        record: SourceSchedule.Record = .init(),
        content: SourceSchedule.Content? = nil,
        now: Timestamp = start
    ) -> SourceSchedule {
        SourceSchedule(
            name: "facts", policy: policy, jitter: Jitter(machine: "m"), record: record, content: content, now: now
        )
    }

    /// One that was fetched at the start.
    private mutating func fetched(_ policy: SourcePolicy = policy, notBefore: Duration? = nil) -> SourceSchedule {
        var schedule = schedule(policy)
        _ = schedule.start(Self.start, using: &random)
        schedule.finish(.fetched(added: 1, notBefore: notBefore), now: Self.start, using: &random)
        return schedule
    }

    private mutating func failed(
        _ schedule: inout SourceSchedule, _ failure: FetchFailure, at now: Timestamp
    ) {
        _ = schedule.start(now, using: &random)
        schedule.finish(.failed(failure), now: now, using: &random)
    }

    private static let offline = FetchFailure(kind: .offline, message: "no", isRetryable: true)
    private static let missing = FetchFailure(kind: .http, message: "404", isRetryable: false)

    @Test func aSourceNeverFetchedIsDueAtOnce() {
        #expect(schedule().isDue(Self.start))
        #expect(!schedule().isFresh(Self.start))
    }

    @Test func aSourceThatIsNotEnabledIsNeverDue() {
        let off = schedule(SourcePolicy(isEnabled: false, refresh: Self.day, settings: "a"))
        #expect(!off.isDue(Self.start.advanced(by: .seconds(1 << 40))))
        #expect(off.nextRunAt == nil)
        #expect(!off.mayAsk(Self.start))
    }

    @Test mutating func theNextRunIsOneJitteredIntervalAfterASuccess() throws {
        let schedule = fetched()
        let next = try #require(schedule.nextRunAt)
        let wait = Self.start.duration(to: next)
        #expect(wait >= Self.day * 0.9 && wait <= Self.day * 1.1)
        #expect(wait != Self.day)
    }

    @Test mutating func runsAreCountedByWhatCameOfThem() {
        var schedule = schedule()
        let outcomes: [FetchOutcome] = [
            .fetched(added: 2), .fetched(added: 0), .contentGone, .failed(Self.offline), .postponed(Self.offline),
            .cancelled, .fetched(added: 1),
        ]
        for outcome in outcomes {
            _ = schedule.start(Self.start, using: &random)
            schedule.finish(outcome, now: Self.start, using: &random)
        }
        let expected = SourceSchedule.Runs(added: 2, nothingNew: 2, failed: 1, postponed: 1)
        #expect(schedule.runs == expected)
        schedule.finishSearch(Self.offline, now: Self.start)
        #expect(schedule.runs == expected)
    }

    @Test mutating func aRunUnderWayIsNotDueAgain() {
        var schedule = schedule()
        _ = schedule.start(Self.start, using: &random)
        #expect(schedule.isRunning)
        #expect(!schedule.isDue(Self.start.advanced(by: Self.day * 3)))
    }

    @Test(arguments: [(48, 24), (36, 24), (30, 24)])
    mutating func cachingHeadersOnlyPutARunOffAndADayAtMost(hours: Int, limit: Int) throws {
        let hourly = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
        let schedule = fetched(hourly, notBefore: .seconds(hours * 3600))
        let next = try #require(schedule.nextRunAt)
        #expect(Self.start.duration(to: next) == .seconds(limit * 3600))
        let other = fetched(hourly, notBefore: .seconds(5))
        let soon = try #require(other.nextRunAt)
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
        var other = Self.policy
        other.settings = "b"
        #expect(schedule(other, record: before.record, content: before.content, now: later).isDue(later))
        var cleared = before
        cleared.contentGone(later)
        #expect(cleared.isDue(later))
        #expect(!cleared.isFresh(later))
        var reloaded = before
        reloaded.apply(other, name: "facts", jitter: Jitter(machine: "m"), now: later)
        #expect(reloaded.isDue(later))
    }

    @Test mutating func backoffHoldsEvenContentThatIsGone() throws {
        var schedule = schedule()
        // Enough failures for a wait of more than a second, whatever is drawn.
        for _ in 0..<8 { failed(&schedule, Self.offline, at: Self.start) }
        let until = try #require(schedule.record.backoffUntil)
        schedule.contentGone(Self.start)
        #expect(!schedule.isDue(Self.start))
        #expect(schedule.nextRunAt == until)
        #expect(schedule.isDue(until))
    }

    @Test mutating func failuresBackOffWithFullJitterUpToAnHour() throws {
        var schedule = schedule()
        var now = Self.start
        var longest = Duration.zero
        for failures in 1...40 {
            failed(&schedule, Self.offline, at: now)
            #expect(schedule.record.failures == failures)
            let next = try #require(schedule.nextRunAt)
            let wait = now.duration(to: next)
            #expect(wait >= .seconds(1) && wait <= Backoff.limit(failures: failures))
            longest = max(longest, wait)
            now = next
        }
        #expect(longest > .seconds(1800) && longest <= .seconds(3600))
        #expect(schedule.failure?.since == Self.start)
        #expect(schedule.failure?.retryAt == schedule.nextRunAt)
    }

    @Test mutating func afterASuccessNothingIsLeftOfAFailure() {
        var schedule = schedule()
        failed(&schedule, Self.offline, at: Self.start)
        let later = Self.start.advanced(by: .seconds(100))
        _ = schedule.start(later, using: &random)
        schedule.finish(.fetched(added: 0), now: later, using: &random)
        #expect(schedule.failure == nil)
        #expect(schedule.record.failures == 0)
        #expect(schedule.record.backoffUntil == nil && schedule.record.retryAt == nil)
        #expect(schedule.isFresh(later))
    }

    @Test mutating func whatIsNotWorthARetryWaitsForTheNextRun() throws {
        var schedule = schedule()
        failed(&schedule, Self.missing, at: Self.start)
        let next = try #require(schedule.nextRunAt)
        #expect(Self.start.duration(to: next) >= Self.day * 0.9)
        // Nor does a restart try again what these settings were told already; others do.
        let later = Self.start.advanced(by: .seconds(9))
        #expect(self.schedule(record: schedule.record, now: later).nextRunAt == next)
        var other = Self.policy
        other.settings = "b"
        #expect(self.schedule(other, record: schedule.record, now: later).isDue(later))
    }

    @Test mutating func whatTheUpstreamAsksForIsKept() throws {
        var schedule = schedule()
        var failure = Self.offline
        failure.retryAfter = .seconds(7200)
        failed(&schedule, failure, at: Self.start)
        #expect(schedule.nextRunAt == Self.start.advanced(by: .seconds(7200)))
        #expect(throws: RefreshRefusal.putOff(until: Self.start.advanced(by: .seconds(7200)))) {
            try schedule.requestRefresh(Self.start, isAdministrator: true)
        }
        // A week is too long.
        failure.retryAfter = Self.day * 7
        failed(&schedule, failure, at: Self.start)
        #expect(schedule.nextRunAt == Self.start.advanced(by: Self.day))
    }

    @Test mutating func aRefreshGoesThroughBackoffOncePerFiveMinutesForUsers() throws {
        var schedule = schedule()
        for _ in 0..<8 { failed(&schedule, Self.offline, at: Self.start) }
        #expect(!schedule.isDue(Self.start))
        try schedule.requestRefresh(Self.start, isAdministrator: false)
        #expect(schedule.isDue(Self.start))
        let soon = Self.start.advanced(by: .seconds(299))
        let free = Self.start.advanced(by: .seconds(300))
        #expect(throws: RefreshRefusal.tooSoon(until: free)) {
            try schedule.requestRefresh(soon, isAdministrator: false)
        }
        try schedule.requestRefresh(soon, isAdministrator: true)
        try schedule.requestRefresh(free, isAdministrator: false)
        var off = self.schedule(SourcePolicy(isEnabled: false, refresh: Self.day, settings: "a"))
        #expect(throws: RefreshRefusal.disabled) { try off.requestRefresh(soon, isAdministrator: true) }
    }

    @Test mutating func contentIsStaleAfterOneAndAHalfIntervals() {
        let schedule = fetched()
        let limit = Self.start.advanced(by: Self.day * 1.5)
        #expect(schedule.isFresh(limit))
        #expect(!schedule.isFresh(limit.advanced(by: .seconds(1))))
    }

    @Test mutating func searchesAskOnlyWhereTheContentIsStaleAndNothingHolds() {
        var schedule = fetched()
        #expect(!schedule.mayAsk(Self.start))
        let stale = Self.start.advanced(by: Self.day * 2)
        #expect(schedule.mayAsk(stale))
        schedule.finishSearch(Self.offline, now: stale)
        #expect(schedule.record.failures == 0)
        #expect(schedule.failure?.kind == .offline)
        #expect(!schedule.mayAsk(stale.advanced(by: .seconds(59))))
        #expect(schedule.mayAsk(stale.advanced(by: .seconds(60))))
        schedule.finishSearch(nil, now: stale.advanced(by: .seconds(60)))
        #expect(schedule.failure == nil)
        #expect(schedule.mayAsk(stale.advanced(by: .seconds(60))))
        var failure = Self.offline
        failure.retryAfter = .seconds(600)
        schedule.finishSearch(failure, now: stale)
        #expect(!schedule.mayAsk(stale.advanced(by: .seconds(599))))
        #expect(schedule.mayAsk(stale.advanced(by: .seconds(600))))
    }

    @Test mutating func aSearchOfMoreThanTheContentAsksWhileThatIsFresh() {
        var schedule = fetched()
        #expect(!schedule.mayAsk(Self.start))
        #expect(schedule.mayAsk(Self.start, whileFresh: true))
        schedule.finishSearch(Self.offline, now: Self.start)
        #expect(!schedule.mayAsk(Self.start.advanced(by: .seconds(59)), whileFresh: true))
    }

    @Test mutating func aRunThatIsPostponedIsNoFailure() {
        var schedule = fetched()
        let due = Self.start.advanced(by: Self.day * 2)
        _ = schedule.start(due, using: &random)
        let reason = FetchFailure(kind: .quota, message: "no", isRetryable: true, retryAfter: .seconds(600))
        schedule.finish(.postponed(reason), now: due, using: &random)
        #expect(!schedule.isRunning)
        #expect(schedule.record.failures == 0 && schedule.failure == nil)
        #expect(schedule.nextRunAt == due.advanced(by: .seconds(600)))
        #expect(schedule.mayAsk(due), "Users are not held")
    }

    @Test mutating func aSearchDoesNotAskInBackoff() throws {
        var schedule = schedule()
        for _ in 0..<12 { failed(&schedule, Self.offline, at: Self.start) }
        let until = try #require(schedule.record.backoffUntil)
        try #require(Self.start.duration(to: until) > .seconds(61))
        #expect(!schedule.mayAsk(Self.start.advanced(by: .seconds(60))))
        #expect(schedule.mayAsk(until))
    }

    @Test mutating func contentThatIsClearedUnderARunIsFetchedAgain() {
        var schedule = fetched()
        _ = schedule.start(Self.start, using: &random)
        schedule.contentGone(Self.start)
        // Whether it stored its facts before or after, nobody knows.
        schedule.finish(.fetched(added: 1), now: Self.start, using: &random)
        #expect(schedule.isDue(Self.start))
        #expect(schedule.content == nil)
        _ = schedule.start(Self.start, using: &random)
        schedule.finish(.fetched(added: 1), now: Self.start, using: &random)
        #expect(!schedule.isDue(Self.start))
        #expect(schedule.isFresh(Self.start))
    }

    @Test mutating func aRunThatFindsItsContentClearedRunsAgain() {
        var schedule = fetched()
        _ = schedule.start(Self.start, using: &random)
        schedule.contentGone(Self.start)
        schedule.finish(.contentGone, now: Self.start, using: &random)
        #expect(schedule.isDue(Self.start))
        #expect(schedule.content == nil)
    }

    @Test mutating func settingsThatChangeUnderARunMakeItRunAgain() {
        var schedule = schedule()
        _ = schedule.start(Self.start, using: &random)
        var other = Self.policy
        other.settings = "b"
        schedule.apply(other, name: "facts", jitter: Jitter(machine: "m"), now: Self.start)
        schedule.finish(.fetched(added: 1), now: Self.start, using: &random)
        #expect(schedule.content?.settings == "a")
        #expect(schedule.isDue(Self.start))
    }

    @Test mutating func aShorterIntervalBringsTheNextRunForward() throws {
        var schedule = fetched()
        let hourly = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
        schedule.apply(hourly, name: "facts", jitter: Jitter(machine: "m"), now: Self.start)
        let next = try #require(schedule.nextRunAt)
        #expect(Self.start.duration(to: next) <= .seconds(3960))
    }

    @Test mutating func aRunThatTheDaemonDoesNotSurviveIsPutOff() throws {
        var schedule = schedule()
        let kept = schedule.start(Self.start, using: &random)
        let after = self.schedule(record: kept)
        #expect(!after.isDue(Self.start))
        let next = try #require(after.nextRunAt)
        #expect(Self.start.duration(to: next) <= Backoff.base)
        // Nor does it come back at the same pace for ever.
        var killed = kept
        var longest = Duration.zero
        for _ in 0..<20 {
            var schedule = self.schedule(record: killed)
            killed = schedule.start(Self.start, using: &random)
            longest = max(longest, Self.start.duration(to: try #require(killed.nextRunAt)))
        }
        #expect(longest > .seconds(1800))
        // A clean stop costs nothing.
        schedule.finish(.cancelled, now: Self.start, using: &random)
        #expect(self.schedule(record: schedule.record).isDue(Self.start))
    }

    @Test mutating func aClockSetBackDoesNotPutRunsOffForYears() throws {
        var schedule = fetched()
        var failure = Self.offline
        failure.retryAfter = .seconds(7200)
        schedule.finishSearch(failure, now: Self.start)
        let before = Timestamp(seconds: Self.start.seconds - 365 * 86_400)
        #expect(schedule.settle(before) == nil)
        let next = try #require(schedule.nextRunAt)
        #expect(before.duration(to: next) <= Self.day * 1.1)
        #expect(schedule.mayAsk(Self.start.advanced(by: Self.day * 2)))
        // Settling is done once, not again and again.
        let later = before.advanced(by: .seconds(3600))
        let kept = schedule.settle(later)
        #expect(kept == schedule.record)
        #expect(schedule.settle(later) == nil)
        #expect(schedule.nextRunAt == next)
    }

    @Test mutating func aClockSetBackByHoursPutsNothingOffByThem() throws {
        let hourly = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
        var schedule = fetched(hourly)
        let before = Timestamp(seconds: Self.start.seconds - 8 * 3600)
        _ = schedule.settle(before)
        let next = try #require(schedule.nextRunAt)
        #expect(before.duration(to: next) <= .seconds(3960))
        #expect(schedule.content?.fetchedAt == before)
        #expect(!schedule.isFresh(before.advanced(by: .seconds(5401))))
    }

    @Test mutating func aClockSetBackByHoursPutsNoRetryOffByThem() throws {
        var schedule = fetched()
        let failing = Self.start.advanced(by: Self.day * 2)
        for _ in 0..<5 { failed(&schedule, Self.offline, at: failing) }
        let before = Timestamp(seconds: failing.seconds - 12 * 3600)
        _ = schedule.settle(before)
        let next = try #require(schedule.nextRunAt)
        #expect(before.duration(to: next) <= Backoff.cap)
        #expect(schedule.failure?.since == before)
    }

    @Test mutating func contentThatWasThereAndIsGoneIsDueWhateverFailed() {
        var schedule = fetched()
        failed(&schedule, Self.missing, at: Self.start)
        #expect(!schedule.isDue(Self.start))
        // Both the daemon and its cache are gone for a while.
        #expect(self.schedule(record: schedule.record).isDue(Self.start))
    }

    @Test mutating func contentOfOtherSettingsIsNotFresh() {
        var schedule = fetched()
        var other = Self.policy
        other.settings = "b"
        schedule.apply(other, name: "facts", jitter: Jitter(machine: "m"), now: Self.start)
        #expect(!schedule.isFresh(Self.start))
        #expect(schedule.mayAsk(Self.start))
    }

    @Test mutating func aClockSetForwardMakesOneRunDue() {
        var schedule = fetched()
        let later = Self.start.advanced(by: Self.day * 3650)
        #expect(schedule.isDue(later))
        _ = schedule.start(later, using: &random)
        schedule.finish(.fetched(added: 0), now: later, using: &random)
        #expect(!schedule.isDue(later.advanced(by: .seconds(3600))))
    }
}
