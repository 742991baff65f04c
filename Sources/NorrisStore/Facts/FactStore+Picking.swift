package import NorrisProtocol
package import NorrisThreads
import Synchronization

/// The fact of the day, and facts for prompts.
extension FactStore {
    /// The user of the daemon's shuffle: every fact is the fact of a day once before any fact is repeated.
    private static let dayUser: Int64 = -1
    /// The number of days in memory.
    private static let daysInMemory = 16
    /// The number of stored days, in addition to the days around today.
    private static let storedDays = 1_000

    /// The fact of a day, if it is in memory.
    package func factOfTheDayInMemory(_ day: CivilDate) -> Fact? { withState { $0.days[day] } }

    /// The fact of a day, chosen and stored by the first call.
    ///
    /// - Parameter source: the facts to choose from.
    /// - Returns: nil only if there are no facts.
    package func factOfTheDay(_ day: CivilDate, today: CivilDate, source: FactScope) async -> Fact? {
        do {
            let stored = try await databases.state.writer.read { try FactStore.factOfTheDay(day, $0) }
            if let stored { return remember(stored, day, today: today) }
            guard let pick = await pick(source) else { return nil }
            return remember(try await store(pick, of: day, today: today), day, today: today)
        } catch {
            databases.noteWriteFailure(error, of: .state)
            // Without a disk, the fact of a day is constant while the daemon runs.
            if let fact = factOfTheDayInMemory(day) { return fact }
            return await pick(source).map { remember($0, day, today: today) }
        }
    }

    private func pick(_ source: FactScope) async -> Fact? {
        let filter = ShuffleFilter(source: source)
        guard let json = try? await nextReading(1, FactStore.dayUser, filter).facts.first else { return nil }
        return try? Fact(json: JSON.parse(json))
    }

    private func remember(_ fact: Fact, _ day: CivilDate, today: CivilDate) -> Fact {
        withState { state in
            if let known = state.days[day] { return known }
            if state.days.count >= FactStore.daysInMemory {
                // Without a disk, today's fact is only in memory.
                state.days = state.days.filter { abs($0.key.dayNumber - today.dayNumber) <= 1 }
            }
            state.days[day] = fact
            return fact
        }
    }

    /// Stores the fact of a day, unless the day has a fact.
    ///
    /// - Returns: the day's fact.
    private func store(_ fact: Fact, of day: CivilDate, today: CivilDate) async throws -> Fact {
        try await databases.state.writer.write { database in
            if let stored = try FactStore.factOfTheDay(day, database) { return stored }
            try database.execute(
                "INSERT OR REPLACE INTO facts_of_the_day (day, fact) VALUES (?, ?)",
                [day.description, CheckedText(fact.jsonText)])
            // Any user may request any day, so the number of days is limited; the days around today are never removed.
            try database.execute(
                """
                DELETE FROM facts_of_the_day
                WHERE number <= (SELECT max(number) FROM facts_of_the_day) - ? AND day NOT BETWEEN ? AND ?
                """,
                [
                    FactStore.storedDays, CivilDate(dayNumber: today.dayNumber - 1)?.description,
                    CivilDate(dayNumber: today.dayNumber + 1)?.description,
                ])
            return fact
        }
    }

    private static func factOfTheDay(_ day: CivilDate, _ database: Database) throws -> Fact? {
        let sql = "SELECT fact FROM facts_of_the_day WHERE day = ?"
        // A row that cannot be read is replaced.
        return try String.fetchOne(database, sql, [day.description]).flatMap(CheckedText.init(stored:)).flatMap {
            checked in try? Fact(json: JSON.parse(checked.text))
        }
    }

    /// The number of matching facts from which a sample replaces a full scan, and the size of that sample.
    private static let sampledFrom = 4_096

    /// Calls the body with facts in random order, without explicit facts, until it returns false; no shuffle changes.
    ///
    /// If there are few facts, each once; else a sample, which may contain a fact twice. Blocking.
    ///
    /// - Parameter maxLength: in code points.
    package func forEachAtRandom(
        _ source: FactScope, maxLength: Int, using generator: inout some RandomNumberGenerator,
        _ access: BlockingAccess, _ body: (Fact) -> Bool
    ) {
        let names = source.kinds(allowsExplicit: false).map { FactListName(category: "", kind: $0) }
        let counts = withState { state in names.map { name in state.index.list(name)?.live ?? 0 } }
        let total = counts.reduce(0, +)
        let ofList = "list = (SELECT number FROM fact_lists WHERE category = '' AND kind = ?)"
        _ = try? databases.read(.facts, access) { database in
            if total <= FactStore.sampledFrom {
                let sql = "SELECT fact FROM fact_entries WHERE \(ofList) AND length BETWEEN 1 AND ?"
                let ordinals = try names.flatMap { name in try Ordinal.fetchAll(database, sql, [name.kind, maxLength]) }
                for ordinal in ordinals.shuffled(using: &generator) {
                    if let fact = try FactTable.fact(ordinal: ordinal.number, database), !body(fact) { return }
                }
            } else {
                let last = try Int.fetchOne(database, "SELECT max(ordinal) FROM facts") ?? 0
                let next = "SELECT fact, length FROM fact_entries WHERE \(ofList) AND fact >= ? LIMIT 1"
                for _ in 0..<FactStore.sampledFrom {
                    // A list is chosen by its size, and a fact of the list by a random ordinal.
                    var (number, list) = (Int.random(in: 0..<total, using: &generator), 0)
                    while number >= counts[list] {
                        number -= counts[list]
                        list += 1
                    }
                    let arguments: StatementArguments = [names[list].kind, Int.random(in: 0...last, using: &generator)]
                    let found = try database.first(next, arguments) {
                        (ordinal: $0[0] as Ordinal, entry: $0[1] as EntryLength)
                    }
                    guard let found, !found.entry.isRemoved, found.entry.length <= maxLength else { continue }
                    if let fact = try FactTable.fact(ordinal: found.ordinal.number, database), !body(fact) { return }
                }
            }
        }
    }
}
