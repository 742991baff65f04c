package import NorrisProtocol
import Synchronization

/// The fact of the day, and facts for prompts.
extension FactStore {
    /// The daemon's own shuffle: a fact is that of a day once before any is again.
    private static let dayUser: Int64 = -1
    /// How many days are kept in memory.
    private static let daysInMemory = 16

    /// The fact of a day, if it is in memory.
    package func factOfTheDayInMemory(_ day: CivilDate) -> Fact? {
        withState { $0.days[day] }
    }

    /// The fact of a day; picked, and kept for good, by whoever asks first.
    ///
    /// - Parameter source: which facts are picked from.
    /// - Returns: nil only where there is no fact at all.
    package func factOfTheDay(_ day: CivilDate, today: CivilDate, source: FactScope) async -> Fact? {
        do {
            if let fact = try await databases.state.factOfTheDay(day) { return remember(fact, day, today: today) }
            guard let pick = await pick(source) else { return nil }
            return remember(try await databases.state.keep(pick, of: day, today: today), day, today: today)
        } catch {
            databases.noteWriteFailure(error, of: .state, logger)
            // The disk does not take it: the day keeps its fact while the daemon runs.
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
                // Where the disk takes nothing, this is the only place that knows today's.
                state.days = state.days.filter { abs($0.key.dayNumber - today.dayNumber) <= 1 }
            }
            state.days[day] = fact
            return fact
        }
    }

    /// Calls the body with facts in random order, none explicit, until it returns false; no shuffle moves.
    ///
    /// Of few facts all, each once; of many a sample, in which a fact may be twice. Blocking.
    ///
    /// - Parameter maxLength: in code points.
    package func forEachAtRandom(
        _ source: FactScope, maxLength: Int, using generator: inout some RandomNumberGenerator, _ body: (Fact) -> Bool
    ) {
        let names = source.kinds(allowsExplicit: false).map { FactListName(category: "", kind: $0) }
        let counts = withState { state in names.map { name in state.index.list(name)?.live ?? 0 } }
        let total = counts.reduce(0, +)
        _ = try? databases.cache.opened.writer.read { database in
            if total <= FactStore.sampledFrom {
                var ordinals: [Int] = []
                for name in names {
                    ordinals += try Int.fetchAll(
                        database,
                        sql: """
                            SELECT fact FROM fact_entries
                            WHERE list = (SELECT number FROM fact_lists WHERE category = '' AND kind = ?)
                                AND length BETWEEN 1 AND ?
                            """,
                        arguments: [Int(name.kind.rawValue), maxLength]
                    )
                }
                for ordinal in ordinals.shuffled(using: &generator) {
                    if let fact = try FactTable.fact(ordinal: UInt32(ordinal), database), !body(fact) { return }
                }
            } else {
                let last = try Int.fetchOne(database, sql: "SELECT max(ordinal) FROM facts") ?? 0
                let next = try database.cachedStatement(
                    sql: """
                        SELECT fact, length FROM fact_entries
                        WHERE list = (SELECT number FROM fact_lists WHERE category = '' AND kind = ?) AND fact >= ? LIMIT 1
                        """
                )
                for _ in 0..<FactStore.sampledFrom {
                    // A list is chosen by its size, and a fact of it by a place in the file.
                    var number = Int.random(in: 0..<total, using: &generator)
                    var place = 0
                    while number >= counts[place] {
                        number -= counts[place]
                        place += 1
                    }
                    let ordinal = Int.random(in: 0...last, using: &generator)
                    let row = try Row.fetchOne(next, arguments: [Int(names[place].kind.rawValue), ordinal])
                    guard let row, (1...maxLength).contains(row[1]) else { continue }
                    if let fact = try FactTable.fact(ordinal: UInt32(row[0] as Int), database), !body(fact) { return }
                }
            }
        }
    }

    /// From so many facts on, and so many times, a sample is drawn.
    private static let sampledFrom = 4_096
}
