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

    @Test func thoseWhoAskAtOneTimeGetOneFact() async throws {
        var facts: [String?] = []
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<100))
            for distance in 0..<10 {
                let day = day(distance)
                let ids = await withTaskGroup(of: String?.self) { group in
                    for _ in 0..<16 { group.addTask { store.factOfTheDay(day, today: today, source: .all)?.id } }
                    return await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(ids.count == 1 && ids.first != .some(nil))
                facts.append(ids.first ?? nil)
            }
        }
        try await fixture.run { store in
            for distance in 0..<10 {
                #expect(store.factOfTheDay(day(distance), today: today, source: .all)?.id == facts[distance])
            }
        }
    }

    @Test func rememberedDaysAreBoundedAndTodayIsNeverForgotten() async throws {
        let around = -1...1
        let kept = try await fixture.run { store async throws in
            let kept = around.map { store.factOfTheDay(day($0), today: today, source: .all) }
            for distance in 2..<3_000 {
                _ = store.factOfTheDay(day(distance), today: today, source: .all)
                if distance.isMultiple(of: 500) { await store.writeShuffles() }
            }
            #expect(around.map { store.factOfTheDay(day($0), today: today, source: .all) } == kept)
            await store.writeShuffles()
            #expect(try await store.databases.state.count("facts_of_the_day") <= 2_000)
            return kept
        }
        #expect(kept.allSatisfy { $0 != nil })
    }

    @Test func dayKeepsItsFactWhereTheDiskTakesNothing() async throws {
        let fact = try await fixture.run { store in
            try await store.databases.state.refuseWrites(to: "facts_of_the_day")
            let fact = store.factOfTheDay(today, today: today, source: .all)
            #expect(await !store.writeShuffles())
            #expect(fact != nil && store.factOfTheDay(today, today: today, source: .all) == fact)
            try await store.databases.state.takeWritesAgain()
            return fact
        }
        try await fixture.run { #expect($0.factOfTheDay(today, today: today, source: .all) == fact) }
    }

    @Test(arguments: ["'2026-02-28', '{'", "'no day', '{}'"])
    func damagedRowReplacesTheState(values: String) async throws {
        try await fixture.run { store in
            try await store.databases.state.write { database in
                try database.execute("INSERT INTO facts_of_the_day (day, fact) VALUES (\(values))")
            }
        }
        let fact = try await fixture.run { store in
            #expect(store.databases.faults.map { $0.hasPrefix("state.db was damaged") } == [true])
            return store.factOfTheDay(today, today: today, source: .all)
        }
        try await fixture.run { store in
            #expect(store.databases.faults == [])
            #expect(fact != nil && store.factOfTheDay(today, today: today, source: .all) == fact)
        }
    }
}
