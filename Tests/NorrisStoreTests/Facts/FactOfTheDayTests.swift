import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore
@testable import NorrisSystem
@testable import NorrisThreads

struct FactOfTheDayTests {
    private let today = CivilDate(year: 2026, month: 2, day: 28)!  // SAFETY: A valid date.

    private func day(_ distance: Int) -> CivilDate {
        CivilDate(dayNumber: today.dayNumber + distance)!  // SAFETY: A few thousand days from today.
    }

    @Test func dayHasOneFactThroughRestartsArrivalsAndClearing() async throws {
        let fixture = StoreFixture()
        let fact = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<50))
            let fact = await store.factOfTheDay(today, today: today, source: .all)
            #expect(await store.factOfTheDay(today, today: today, source: .all) == fact)
            #expect(store.factOfTheDayInMemory(today) == fact)
            return fact
        }
        #expect(fact != nil)
        try await fixture.run { store in
            #expect(store.factOfTheDayInMemory(today) == nil)
            #expect(await store.factOfTheDay(today, today: today, source: .all) == fact)
            try await store.replaceUpstream(upstreamFacts(50..<90))
            #expect(await store.factOfTheDay(today, today: today, source: .all) == fact)
        }
        try fixture.folder.remove("cache")
        try await fixture.run { store in
            #expect(store.count == 0)
            #expect(await store.factOfTheDay(today, today: today, source: .all) == fact)
        }
        // The fact was stored before it was returned.
        try await fixture.killed().run { #expect(await $0.factOfTheDay(today, today: today, source: .all) == fact) }
    }

    @Test func everyFactIsThatOfADayBeforeAnyIsAgain() async throws {
        let fixture = StoreFixture()
        var ids: [String] = []
        for start in [0, 6, 11] {
            try await fixture.run { store in
                try await store.replaceUpstream(upstreamFacts(0..<20))
                for distance in start..<[0: 6, 6: 11, 11: 20][start]! {  // SAFETY: The keys are the three starts.
                    ids += [await store.factOfTheDay(day(distance), today: today, source: .all)?.id].compactMap { $0 }
                }
            }
        }
        #expect(Set(ids).count == 20)
    }

    @Test func dayIsOfTheSourceThatIsAskedFirst() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(
            [.upstream("a")] + upstreamFacts(0..<9).map { .upstream($0.id, source: "fortune:x") })
        for distance in 0..<3 {
            #expect(await store.factOfTheDay(day(distance), today: today, source: .norris)?.id == "a")
            #expect(await store.factOfTheDay(day(distance), today: today, source: .fortune)?.id == "a")
        }
        #expect(await store.factOfTheDay(day(9), today: today, source: .fortune)?.id != "a")
    }

    @Test func explicitFactIsNeverThatOfADay() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream([.upstream("rude", categories: ["explicit"])])
        #expect(await store.factOfTheDay(today, today: today, source: .all) == nil)
        try await store.replaceUpstream([.upstream("rude", categories: ["explicit"]), .upstream("kind")])
        for distance in 0..<5 {
            #expect(await store.factOfTheDay(day(distance), today: today, source: .all)?.id == "kind")
        }
    }

    @Test func withoutFactsThereIsNoneUntilOneComes() async throws {
        let store = try FactStore.inMemory()
        #expect(await store.factOfTheDay(today, today: today, source: .all) == nil)
        try await store.replaceUpstream([.upstream("first")])
        #expect(await store.factOfTheDay(today, today: today, source: .all)?.id == "first")
    }

    @Test func thoseWhoAskAtOneTimeGetOneFact() async throws {
        let fixture = StoreFixture()
        var facts: [String?] = []
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<100))
            for distance in 0..<10 {
                let day = day(distance)
                let ids = await withTaskGroup(of: String?.self) { group in
                    for _ in 0..<16 { group.addTask { await store.factOfTheDay(day, today: today, source: .all)?.id } }
                    return await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(ids.count == 1 && ids.first != .some(nil))
                facts.append(ids.first ?? nil)
            }
        }
        try await fixture.run { store in
            for distance in 0..<10 {
                #expect(await store.factOfTheDay(day(distance), today: today, source: .all)?.id == facts[distance])
            }
        }
    }

    @Test func rememberedDaysAreBoundedAndTodayIsNeverForgotten() async throws {
        let fixture = StoreFixture()
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<10))
            var kept: [Fact?] = []
            for distance in -1...1 { kept.append(await store.factOfTheDay(day(distance), today: today, source: .all)) }
            for distance in 2..<1_200 { _ = await store.factOfTheDay(day(distance), today: today, source: .all) }
            let count = try await store.databases.state.writer.read {
                try Int.fetchOne($0, "SELECT count(*) FROM facts_of_the_day")
            }
            #expect(count == 1_003)
            #expect(store.withState { $0.days.count } <= 20)
            for (distance, fact) in zip(-1...1, kept) {
                #expect(await store.factOfTheDay(day(distance), today: today, source: .all) == fact)
            }
        }
    }

    @Test func todayKeepsItsFactWhereTheDiskTakesNothing() async throws {
        let fixture = StoreFixture()
        try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<100))
            try await store.databases.state.refuseWrites(to: "facts_of_the_day")
            let fact = await store.factOfTheDay(today, today: today, source: .all)
            #expect(fact != nil)
            for distance in 2..<60 {
                #expect(await store.factOfTheDay(day(distance), today: today, source: .all) != nil)
            }
            #expect(await store.factOfTheDay(today, today: today, source: .all) == fact)
            try await store.databases.state.takeWritesAgain()
        }
    }

    @Test func unreadableRowIsReplaced() async throws {
        let fixture = StoreFixture()
        let fact = try await fixture.run { store in
            try await store.replaceUpstream(upstreamFacts(0..<100))
            try await store.databases.state.writer.write { database in
                try database.execute("INSERT INTO facts_of_the_day (day, fact) VALUES (?, '{')", [today.description])
            }
            return await store.factOfTheDay(today, today: today, source: .all)
        }
        #expect(fact != nil)
        try await fixture.run { #expect(await $0.factOfTheDay(today, today: today, source: .all) == fact) }
    }
}

struct RandomFactsTests {
    private func ids(
        _ store: FactStore, _ source: FactScope = .all, maxLength: Int = 1_000, seed: UInt64 = 1, limit: Int = .max
    ) -> [String] {
        var generator = SeededRandom(seed: seed)
        var ids: [String] = []
        store.forEachAtRandom(source, maxLength: maxLength, using: &generator, BlockingAccess()) { fact in
            ids.append(fact.id)
            return ids.count < limit
        }
        return ids
    }

    @Test func everyFactComesOnceInAnotherOrderEachTime() async throws {
        let store = try FactStore.inMemory()
        let facts = upstreamFacts(0..<300, categories: ["dev", "food"])
        try await store.replaceUpstream(facts)
        let (first, second) = (ids(store), ids(store, seed: 2))
        #expect(first.sorted() == facts.map(\.id))
        #expect(second.sorted() == facts.map(\.id))
        #expect(first != second)
        #expect(first == ids(store))
    }

    @Test func onlyThoseOfTheSourceAreAmongThemAndNoneThatIsExplicit() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream([
            .upstream("a"), .upstream("b", source: "fortune:x"), .upstream("c", source: "builtin"),
            .upstream("d", categories: ["dev", "explicit"]),
        ])
        #expect(ids(store).sorted() == ["a", "b", "c"])
        #expect(ids(store, .norris).sorted() == ["a", "c"])
        #expect(ids(store, .fortune) == ["b"])
        #expect(ids(store, limit: 2).count == 2)
    }

    @Test func longFactsAreLeftOut() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream((1...50).map { .upstream("\($0)", String(repeating: "é", count: $0)) })
        #expect(Set(ids(store, maxLength: 20)) == Set((1...20).map { "\($0)" }))
    }

    @Test func factsThatAreGoneAreSkipped() async throws {
        let store = try FactStore.inMemory()
        try await store.replaceUpstream(upstreamFacts(0..<300))
        try await store.replaceUpstream(upstreamFacts(290..<310))
        #expect(ids(store).sorted() == upstreamFacts(290..<310).map(\.id))
        try await store.replaceUpstream([])
        #expect(ids(store) == [])
        #expect(ids(try .inMemory()) == [])
    }

    /// For many facts, a random sample is read, with facts and fortunes in proportion and without removed facts.
    @Test func ofManyFactsASampleIsRead() async throws {
        let store = try FactStore.inMemory()
        let kept = upstreamFacts(1_000..<6_000)
        try await store.replaceUpstream(upstreamFacts(0..<1_000) + kept)
        try await store.replaceUpstream(
            kept + upstreamFacts(6_000..<8_000).map { .upstream($0.id, source: "fortune:x") })
        let sample = ids(store)
        #expect(sample.count > 2_000 && sample.count <= 4_096)
        #expect(Set(sample).isSubset(of: upstreamFacts(1_000..<8_000).map(\.id)))
        let fortunes = sample.count { $0 >= "fact-006000" }
        #expect(fortunes > sample.count / 5 && fortunes < sample.count * 2 / 5)
        #expect(sample != ids(store, seed: 2))
    }
}
