import NorrisProtocol

/// The facts of the last requested days. A day keeps its fact, whatever becomes of the cache.
struct FactsOfTheDay {
    /// The maximum number of days, in addition to the days around today. Any user may request any day.
    private static let maximum = 1_000

    private var facts: [CivilDate: Fact] = [:]
    /// Oldest choice first.
    private var order: [CivilDate] = []
    /// The chosen facts that are not on disk.
    private(set) var unwritten: [CivilDate: Fact] = [:]

    init() {}

    /// Reads the stored days. A row that cannot be read is skipped, and replaced when the day is requested.
    init(_ database: Database) throws {
        let rows = try database.rows("SELECT day, fact FROM facts_of_the_day ORDER BY number")
        while try rows.next() {
            guard let day = CivilDate(rows[0] as String), let checked = CheckedText(stored: rows[1]),
                let fact = try? Fact(json: JSON.parse(checked.text))
            else { continue }
            facts[day] = fact
            order.append(day)
        }
    }

    subscript(day: CivilDate) -> Fact? { facts[day] }

    mutating func add(_ fact: Fact, on day: CivilDate, today: CivilDate) {
        (facts[day], unwritten[day]) = (fact, fact)
        order.append(day)
        guard order.count > FactsOfTheDay.maximum,
            let index = order.firstIndex(where: { abs($0.dayNumber - today.dayNumber) > 1 })
        else { return }
        let oldest = order.remove(at: index)
        (facts[oldest], unwritten[oldest]) = (nil, nil)
    }

    /// Stores chosen facts, and deletes the oldest rows above the limit.
    static func write(_ chosen: [CivilDate: Fact], _ database: Database) throws {
        for (day, fact) in chosen {
            try database.execute(
                "INSERT OR REPLACE INTO facts_of_the_day (day, fact) VALUES (?, ?)",
                [day.description, CheckedText(fact.jsonText)])
        }
        // More rows than in memory, so that the days around today stay.
        try database.execute(
            "DELETE FROM facts_of_the_day WHERE number <= (SELECT max(number) FROM facts_of_the_day) - ?",
            [2 * FactsOfTheDay.maximum])
    }

    mutating func noteWritten(_ chosen: [CivilDate: Fact]) {
        for day in chosen.keys { unwritten[day] = nil }
    }
}
