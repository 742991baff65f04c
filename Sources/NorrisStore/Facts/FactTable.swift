import NorrisProtocol
import NorrisText

/// The table `facts` of `cache.db`: the upstream's facts as they were fetched.
enum FactTable {
    private static let columns = "id, text, categories, url, created_at, updated_at"

    /// Calls the body with all facts.
    private static func forEach(_ database: Database, _ body: (Fact) -> Void) throws {
        let row = try database.rows("SELECT \(columns) FROM facts")
        while try row.next() { body(fact(row)) }
    }

    /// Adds all facts to a catalogue.
    static func add(to builder: inout FactCatalogue.Builder, _ database: Database) throws {
        // Sorted by ids, so that a builder without other facts has little to sort.
        let row = try database.rows("SELECT \(columns) FROM facts ORDER BY id")
        while try row.next() {
            let bytes = FactBytes(
                id: row.bytes(0), text: row.bytes(1), url: row.bytes(3), categories: categories(row[2]),
                source: source, createdAt: row[4], updatedAt: row[5])
            if bytes.isPlain {
                builder.add(bytes)
            } else {
                var fact = fact(row)
                // A damaged file can contain any byte.
                fact.text = sanitizedText(fact.text)
                builder.add(fact)
            }
        }
    }

    private static func fact(_ row: Rows) -> Fact {
        Fact(
            id: row[0], text: row[1], categories: categories(row[2]), source: source, url: row[3], createdAt: row[4],
            updatedAt: row[5])
    }

    private static let source = "chucknorris"

    /// The categories from their column: names without spaces.
    static func categories(_ column: String) -> [String] { column.split(separator: " ").map(String.init) }

    /// Makes the table equal to the facts of a fetch.
    ///
    /// - Parameter isComplete: false if a fact that the fetch does not contain stays.
    static func replace(with facts: [Fact], isComplete: Bool, _ database: Database) throws -> UpstreamChanges {
        var stored: [String: Fact] = [:]
        try forEach(database) { stored[$0.id] = $0 }
        var limit = CategoryLimit()
        let fetched = Set(facts.lazy.map(\.id))
        let gone = isComplete ? stored.keys.filter { !fetched.contains($0) } : []
        if !isComplete {
            // The categories of stored facts that stay count first.
            for (id, fact) in stored where !fetched.contains(id) { _ = limit.limited(fact.categories) }
        }
        for id in gone { try database.execute("DELETE FROM facts WHERE id = ?", [id]) }
        var changes = UpstreamChanges(added: 0, changed: 0, removed: gone.count, droppedCategories: 0)
        for var fact in facts {
            fact.categories = limit.limited(fact.categories)
            fact.source = source
            let old = stored[fact.id]
            // Strings are equal if they are canonically equivalent.
            if let old, old == fact, old.text.hasSameBytes(as: fact.text) { continue }
            if old == nil { changes.added += 1 } else { changes.changed += 1 }
            try database.execute(
                "INSERT OR REPLACE INTO facts (\(columns)) VALUES (\(databaseQuestionMarks(count: 6)))",
                [
                    fact.id, fact.text, fact.categories.joined(separator: " "), fact.url, fact.createdAt,
                    fact.updatedAt,
                ])
        }
        changes.droppedCategories = limit.dropped
        return changes
    }
}

/// The result of a fetch, in numbers of facts.
package struct UpstreamChanges: Sendable, Equatable {
    package fileprivate(set) var added: Int
    package fileprivate(set) var changed: Int
    package fileprivate(set) var removed: Int
    /// The number of dropped categories, counted once for each fact.
    package fileprivate(set) var droppedCategories: Int
}

/// The categories of the upstream that are stored: the first ones, because an upstream controls their number; and
/// `explicit`, because its facts would otherwise be served to all users.
private struct CategoryLimit {
    /// With names of at most 40 bytes (``Fact/isCategoryName(_:)``) they take 10 KiB.
    private static let maximumCount = 256

    private var names: Set<String> = [Fact.explicitCategory]
    /// The number of dropped names, counted once for each fact.
    private(set) var dropped = 0

    /// The stored categories of a fact, in their order.
    mutating func limited(_ categories: [String]) -> [String] {
        var kept: [String] = []
        for name in categories {
            let isKnown = names.contains(name) || names.count < CategoryLimit.maximumCount && Fact.isCategoryName(name)
            if isKnown, kept.count < Fact.maximumCategories {
                names.insert(name)
                kept.append(name)
            } else if name == Fact.explicitCategory {
                kept[kept.count - 1] = name
            }
        }
        dropped += categories.count - kept.count
        return kept
    }
}
