import NorrisProtocol

/// Which categories of the upstream's facts are stored.
///
/// Each category costs a list and a line of `fact.categories`. The categories that come first stay.
/// `explicit` always stays, for a fact without it would be served to everybody.
struct CategoryLimit {
    /// How many categories come from one upstream. With names of at most 40 bytes (``Fact/isCategoryName(_:)``) that is
    /// 10 KiB, far below the 64 KiB that the names may take.
    static let maximumCount = 256

    private var names: Set<String> = [Fact.explicitCategory]
    /// How many names were dropped, counted once for each fact.
    private(set) var dropped = 0

    /// Those of a fact's categories that are stored, in their order.
    mutating func limited(_ categories: [String]) -> [String] {
        var kept: [String] = []
        for name in categories {
            if kept.count < Fact.maximumCategories, admits(name) {
                kept.append(name)
            } else {
                dropped += 1
                if name.hasSameBytes(as: Fact.explicitCategory) { kept[kept.count - 1] = name }
            }
        }
        return kept
    }

    private mutating func admits(_ name: String) -> Bool {
        if names.contains(name) { return true }
        guard names.count < CategoryLimit.maximumCount, Fact.isCategoryName(name) else { return false }
        names.insert(name)
        return true
    }

    /// Counts the categories of the upstream's stored facts.
    ///
    /// - Parameter isCounted: false for a fact whose categories need not stay.
    mutating func addStored(_ database: Database, isCounted: (StoredFact) -> Bool) throws {
        var known: Set<[String]> = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(StoredFact.columns) FROM facts
                WHERE categories <> '' AND \(FactGroup.upstream.condition)
                """
        )
        while let row = try rows.next() {
            let stored = StoredFact(row)
            guard isCounted(stored), known.insert(stored.categories).inserted else { continue }
            _ = limited(stored.categories)
        }
        dropped = 0
    }

    /// Takes the further categories out of what a version without the limit has stored.
    static func limitStored(_ database: Database) throws {
        var limit = CategoryLimit()
        var changed: [(number: Int64, kept: [String])] = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT number, categories FROM facts
                WHERE categories <> '' AND \(FactGroup.upstream.condition) ORDER BY number
                """
        )
        while let row = try rows.next() {
            let categories = FactTable.categories(row[1])
            let kept = limit.limited(categories)
            if kept.count < categories.count { changed.append((row[0], kept)) }
        }
        for (number, kept) in changed {
            try database.cachedStatement(sql: "UPDATE facts SET categories = ? WHERE number = ?")
                .execute(arguments: [kept.joined(separator: " "), number])
            try database.cachedStatement(sql: "DELETE FROM fact_categories WHERE fact = ?").execute(arguments: [number])
            for category in kept {
                try database.cachedStatement(sql: "INSERT OR IGNORE INTO fact_categories (category, fact) VALUES (?, ?)")
                    .execute(arguments: [category, number])
            }
        }
    }
}
