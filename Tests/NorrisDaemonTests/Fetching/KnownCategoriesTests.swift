import Testing

@testable import NorrisDaemon

struct KnownCategoriesTests {
    @Test func whatTheUpstreamHasHadForYearsIsAlwaysKnown() {
        let known = KnownCategories()
        #expect(known.contains("explicit"))
        #expect(!known.contains("alpha"))
        known.learn(["alpha"])
        #expect(known.contains("alpha") && known.contains("dev"))
    }

    @Test func theLastListHoldsUnlessItTellsNothing() {
        let known = KnownCategories()
        known.learn(["alpha"])
        known.learn([])
        #expect(known.contains("alpha"))
        known.learn(["beta"])
        #expect(known.contains("beta") && !known.contains("alpha"))
    }
}
