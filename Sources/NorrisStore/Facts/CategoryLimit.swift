import NorrisProtocol

/// The categories of the upstream's facts that are stored: only the first, because each category costs a list and a
/// line of `fact.categories`. `explicit` is always stored, because its facts would otherwise be served to all users.
struct CategoryLimit {
    /// The maximum number of categories of one upstream. With names of at most 40 bytes (``Fact/isCategoryName(_:)``)
    /// the names take 10 KiB, far below their limit of 64 KiB.
    static let maximumCount = 256

    private var names: Set<String> = [Fact.explicitCategory]
    /// The number of dropped names, counted once for each fact.
    private(set) var dropped = 0

    /// The stored categories of a fact, in their order.
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
    /// - Parameter isCounted: false for a fact whose categories need not be stored.
    mutating func addStored(_ database: Database, isCounted: (StoredFact) -> Bool) throws {
        var known: Set<[String]> = []
        let rows = try database.rows(
            "SELECT \(StoredFact.columns) FROM facts WHERE categories <> '' AND \(FactGroup.upstream.condition)")
        while try rows.next() {
            let stored = StoredFact(rows)
            guard isCounted(stored), known.insert(stored.categories).inserted else { continue }
            _ = limited(stored.categories)
        }
        dropped = 0
    }
}
