import Testing

@testable import NorrisDaemon

/// The requests of the last minutes.
struct RequestMinutesTests {
    @Test func eachMinuteHasItsOwnAndTheLastIsUnderWay() {
        var minutes = RequestMinutes()
        #expect(minutes.counts(at: .seconds(0), total: 0) == [0])
        #expect(minutes.counts(at: .seconds(59), total: 5) == [5])
        #expect(minutes.counts(at: .seconds(60), total: 7) == [7, 0])
        #expect(minutes.counts(at: .seconds(61), total: 8) == [7, 1])
        #expect(minutes.counts(at: .seconds(119), total: 10) == [7, 3])
        #expect(minutes.counts(at: .seconds(120), total: 10) == [7, 3, 0])
    }

    @Test func minutesNobodyLookedAtAreEmpty() {
        var minutes = RequestMinutes()
        #expect(minutes.counts(at: .seconds(30), total: 2) == [2])
        #expect(minutes.counts(at: .seconds(250), total: 9) == [9, 0, 0, 0, 0])
        #expect(minutes.counts(at: .seconds(251), total: 10) == [9, 0, 0, 0, 1])
    }

    @Test func sixtyAreKnown() {
        var minutes = RequestMinutes()
        var total = 0
        for minute in 1...200 {
            total += minute
            _ = minutes.counts(at: .seconds(minute * 60), total: total)
        }
        #expect(minutes.counts(at: .seconds(200 * 60), total: total + 1) == Array(142...200) + [1])
        // A machine that slept for a year.
        let later = minutes.counts(at: .seconds(365 * 86_400), total: total + 4)
        #expect(later == Array(repeating: 0, count: 60))
        #expect(minutes.counts(at: .seconds(365 * 86_400), total: total + 5).last == 1)
    }

    @Test func aClockThatGoesBackChangesNothing() {
        var minutes = RequestMinutes()
        #expect(minutes.counts(at: .seconds(60), total: 3) == [3, 0])
        #expect(minutes.counts(at: .seconds(-60), total: 4) == [3, 1])
        #expect(minutes.counts(at: .seconds(60), total: 4) == [3, 1])
    }
}
