import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FactOfTheDayTests {
    private let fixture = StoreFixture()
    private let today = CivilDate(year: 2026, month: 2, day: 28)!  // SAFETY: A valid date.

    private func day(_ distance: Int) -> CivilDate {
        CivilDate(dayNumber: today.dayNumber + distance)!  // SAFETY: A few thousand days from today.
    }

    @Test func dayHasOneFactThroughRestartsArrivalsAndClearing() async throws {
        let fact = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<50))
            let fact = store.factOfTheDay(today, today: today, source: .all)
            #expect(store.factOfTheDay(today, today: today, source: .all) == fact)
            return fact
        }
        #expect(fact != nil)
        try await fixture.run { store in
            #expect(store.factOfTheDay(today, today: today, source: .all) == fact)
            try await store.replaceUpstream(upstreamFacts(50..<90))
            #expect(store.factOfTheDay(today, today: today, source: .all) == fact)
        }
        try fixture.folder.remove("cache")
        try await fixture.run { store in
            #expect(store.factOfTheDay(today, today: today, source: .all) == fact)
        }
    }

    @Test func everyFactIsThatOfADayBeforeAnyIsAgain() async throws {
        var ids: [String] = []
        for start in [0, 6, 11] {
            try await fixture.run { store in
                try await store.replaceUpstream(upstreamFacts(0..<20))
                for distance in start..<[0: 6, 6: 11, 11: 20][start]! {  // SAFETY: The keys are the three starts.
                    ids += [store.factOfTheDay(day(distance), today: today, source: .all)?.id].compactMap { $0 }
                }
            }
        }
        #expect(Set(ids).count == 20)
    }

    /// Any user may ask for any days.
    @Test func otherDaysDoNotPushOutToday() async throws {
        let fact = try await fixture.run { store in
            let fact = store.factOfTheDay(today, today: today, source: .all)
            for distance in 2..<2_300 {
                _ = store.factOfTheDay(day(distance), today: today, source: .all)
                if distance % 100 == 0 { #expect(await store.writeShuffles()) }
            }
            return fact
        }
        try await fixture.run { store async throws in
            #expect(try await store.databases.state.count("facts_of_the_day") == 1_000)
            #expect(store.factOfTheDay(today, today: today, source: .all) == fact)
        }
    }

    @Test func dayIsOfTheSourceThatIsAskedFirst() async throws {
        let path = try fixture.folder.write("x", "A fortune.")
        let store = try await fixture.open()
        store.readFortunes([path])
        #expect(store.factOfTheDay(today, today: today, source: .fortune)?.text == "A fortune.")
        #expect(store.factOfTheDay(today, today: today, source: .norris)?.text == "A fortune.")
        #expect(store.factOfTheDay(day(1), today: today, source: .norris)?.source == "builtin")
    }

    @Test func explicitFactIsNeverThatOfADay() async throws {
        let store = try await FactStore.new()
        try await store.replaceUpstream(upstreamFacts(0..<100, categories: ["explicit"]))
        for distance in 0..<200 {
            #expect(store.factOfTheDay(day(distance), today: today, source: .all)?.isExplicit == false)
        }
    }
}
