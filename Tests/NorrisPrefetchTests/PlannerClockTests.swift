import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisPrefetch

/// A daemon goes on whose clock is set while it runs.
struct PlannerClockTests {
    private static let start = Timestamp(seconds: 1_700_000_000)
    private static let year = Int64(365 * 86_400)
    private static let names = ["facts", "gifs", "town", "planet", "news", "blog"]

    /// All sources, fetched at the start.
    private func planner() -> Planner {
        var planner = Planner(jitter: Jitter(machine: "m"), generator: SeededGenerator(state: 1))
        let policy = SourcePolicy(isEnabled: true, refresh: .seconds(3600), settings: "a")
        planner.configure(Self.names.map { ($0, policy) }, histories: [:], now: Self.start)
        _ = finishAll(&planner, Self.start)
        return planner
    }

    /// Runs what is due until nothing is.
    ///
    /// - Returns: what ran, in its order.
    private func finishAll(_ planner: inout Planner, _ now: Timestamp) -> [String] {
        var ran: [String] = []
        while true {
            _ = planner.settle(now)
            let begun = planner.begin(now).map(\.name)
            #expect(begun.count <= Planner.maximumRuns)
            if begun.isEmpty { return ran }
            for name in begun { planner.finish(name, .fetched(added: 1), now: now) }
            ran += begun
        }
    }

    @Test func clockThatIsSetBackAYearPutsNothingOffByMoreThanItsInterval() {
        var planner = planner()
        #expect(planner.pause(Self.start) <= Planner.longestPause)
        let before = Timestamp(seconds: Self.start.seconds - Self.year)
        #expect(finishAll(&planner, before).isEmpty)
        #expect(planner.pause(before) <= Planner.longestPause)
        #expect(finishAll(&planner, before.advanced(by: .seconds(3600 * 1.1))).sorted() == Self.names.sorted())
    }

    @Test func clockThatIsSetForwardAYearMakesEverySourceDueOnce() {
        var planner = planner()
        let later = Timestamp(seconds: Self.start.seconds + Self.year)
        #expect(finishAll(&planner, later).sorted() == Self.names.sorted())
        #expect(planner.pause(later) > .seconds(1))
    }
}
