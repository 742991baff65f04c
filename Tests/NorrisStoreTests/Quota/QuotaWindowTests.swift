import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct QuotaWindowTests {
    private func taken(
        _ count: Int, _ purpose: QuotaWindow.Purpose, limit: Int, now: Timestamp = .start, of window: inout QuotaWindow
    ) -> Int {
        (0..<count).filter { _ in window.take(purpose, limit: limit, now: now) == .granted }.count
    }

    /// The fifth is rounded up.
    @Test(arguments: [
        (100, 80), (42, 33), (10, 8), (6, 4), (5, 4), (4, 3), (2, 1), (1, 0), (0, 0), (-3, 0), (.max, 200),
    ])
    func aFifthIsKeptForUsers(limit: Int, background: Int) {
        var window = QuotaWindow()
        #expect(taken(200, .background, limit: limit, of: &window) == background)
        #expect(taken(200, .user, limit: limit, of: &window) == min(200, max(0, limit) - background))
        #expect(window.used(now: .start) == (limit == .max ? 400 : max(0, limit)))
    }

    @Test func usersMayHaveItAllAndThenNothingIsLeftForTheBackground() {
        var window = QuotaWindow()
        #expect(taken(85, .user, limit: 100, of: &window) == 85)
        #expect(taken(5, .background, limit: 100, of: &window) == 0)
        #expect(taken(50, .user, limit: 100, of: &window) == 15)
    }

    @Test func callCountsForExactlyAnHour() {
        var window = QuotaWindow()
        #expect(window.take(.user, limit: 2, now: .start) == .granted)
        #expect(window.take(.user, limit: 2, now: .start + 100) == .granted)
        #expect(window.take(.user, limit: 2, now: .start + 100) == .exhausted(until: .start + 3_600))
        #expect(window.take(.user, limit: 2, now: .start + 3_599) == .exhausted(until: .start + 3_600))
        #expect(window.used(now: .start + 3_599) == 2)
        #expect(window.used(now: .start + 3_600) == 1)
        #expect(window.resetsAt(now: .start + 3_600) == .start + 3_700)
        #expect(window.take(.user, limit: 2, now: .start + 3_600) == .granted)
        #expect(window.take(.user, limit: 2, now: .start + 3_600) == .exhausted(until: .start + 3_700))
        #expect(window.used(now: .start + 7_200) == 0)
        #expect(window.resetsAt(now: .start + 7_200) == .start + 7_200)
        #expect(window.calls.count == 2)
    }

    @Test func untilIsWhenEnoughAreBack() {
        var window = QuotaWindow()
        for second in 0..<10 { #expect(window.take(.user, limit: 10, now: .start + Int64(second)) == .granted) }
        let now = Timestamp.start + 20
        #expect(window.nextFree(.user, limit: 10, now: now) == .start + 3_600)
        // Eight may be used when one of the background goes out as the eighth.
        #expect(window.take(.background, limit: 10, now: now) == .exhausted(until: .start + 3_602))
        // A reload that takes most of the limit away, one that gives more, and one that leaves nothing.
        #expect(window.take(.user, limit: 3, now: now) == .exhausted(until: .start + 3_607))
        #expect(window.nextFree(.user, limit: 11, now: now) == now)
        #expect(window.take(.user, limit: 0, now: now) == .exhausted(until: nil))
        #expect(window.take(.background, limit: 1, now: now) == .exhausted(until: nil))
        #expect(window.used(now: now) == 10)
    }

    @Test func clockThatIsSetBackCountsTheCallsAsMadeNow() {
        var window = QuotaWindow()
        #expect(taken(2, .user, limit: 3, now: .start + 500_000, of: &window) == 2)
        #expect(window.used(now: .start) == 2)
        #expect(window.resetsAt(now: .start) == .start + 3_600)
        #expect(taken(3, .user, limit: 3, now: .start, of: &window) == 1)
        #expect(window.take(.user, limit: 3, now: .start) == .exhausted(until: .start + 3_600))
        #expect(window.used(now: .start + 3_599) == 3)
        #expect(window.used(now: .start + 3_600) == 0)
    }

    @Test func clockThatIsSetForwardForgets() {
        var window = QuotaWindow(calls: [.start + 5, .start])
        #expect(window.calls == [.start, .start + 5])
        #expect(window.used(now: .start + 1_000_000) == 0)
        #expect(window.take(.user, limit: 1, now: .start + 1_000_000) == .granted)
        #expect(window.calls == [.start + 1_000_000])
    }

    /// In no hour are there more calls than the limit, and none is refused that would fit.
    @Test(arguments: 0..<20)
    func windowSlides(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed))
        let limit = Int.random(in: 1...30, using: &generator)
        var window = QuotaWindow()
        var made: [Int64] = []
        var now: Int64 = 1_800_000_000
        for _ in 0..<2_000 {
            now += Int64.random(in: 0...400, using: &generator)
            let isUser = Bool.random(using: &generator)
            let used = made.count { $0 > now - 3_600 }
            let allowed = isUser ? limit : limit - (limit + 4) / 5
            let time = Timestamp(seconds: now)
            #expect(window.used(now: time) == used)
            switch window.take(isUser ? .user : .background, limit: limit, now: time) {
            case .granted:
                #expect(used < allowed)
                made.append(now)
            case .exhausted(let until):
                #expect(used >= allowed)
                #expect((until == nil) == (allowed == 0))
                guard let until = until?.seconds else { continue }
                #expect(made.count { $0 > until - 3_600 } < allowed)
                #expect(made.count { $0 > until - 3_601 } >= allowed)
            }
        }
        #expect(made.count > limit)
    }
}
