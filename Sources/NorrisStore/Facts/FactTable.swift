import NorrisProtocol
import NorrisText

/// The table `facts` of `cache.db`: the upstream's facts as they were fetched.
enum FactTable {
    private static let columns = "id, text, categories, url, created_at, updated_at"

    /// Adds all facts to a catalogue.
    static func add(to builder: inout FactCatalogue.Builder, _ database: Database) throws {
        // Sorted by ids, so that a builder without other facts has little to sort.
        let row = try database.rows("SELECT \(columns) FROM facts ORDER BY id")
        // Many facts have the same categories.
        var known: [String: [String]] = [:]
        while try row.next() {
            let column: String = try row[2]
            let names = known[column] ?? categories(column)
            if known[column] == nil { known[column] = names }
            let bytes = try FactBytes(
                id: row.bytes(0), text: row.bytes(1), url: row.bytes(3), categories: names, source: source,
                createdAt: row[4], updatedAt: row[5])
            if bytes.isPlain {
                builder.add(bytes)
            } else {
                var fact = try fact(row)
                // A damaged file can contain any byte.
                fact.text = sanitizedText(fact.text)
                builder.add(fact)
            }
        }
    }

    private static func fact(_ row: Rows) throws -> Fact {
        try Fact(
            id: row[0], text: row[1], categories: categories(row[2]), source: source, url: row[3], createdAt: row[4],
            updatedAt: row[5])
    }

    private static let source = "chucknorris"

    /// The categories from their column: names without spaces.
    static func categories(_ column: String) -> [String] { column.split(separator: " ").map(String.init) }

    /// The changes that make the table equal to the facts of a fetch.
    struct Plan: Sendable {
        var removed: [String] = []
        var stored: [Fact] = []
        var changes = UpstreamChanges()
    }

    /// - Parameter isComplete: false if a fact that the fetch does not contain stays.
    static func plan(for facts: [Fact], isComplete: Bool, _ database: Database) throws -> Plan {
        var known: [String: Fact] = [:]
        let row = try database.rows("SELECT \(columns) FROM facts")
        while try row.next() { known[try row[0]] = try fact(row) }
        var (plan, limit) = (Plan(), CategoryLimit())
        let fetched = Set(facts.lazy.map(\.id))
        for (id, fact) in known where !fetched.contains(id) {
            // The categories of stored facts that stay count first.
            if isComplete { plan.removed.append(id) } else { _ = limit.limited(fact.categories) }
        }
        for var fact in facts {
            fact.categories = limit.limited(fact.categories)
            fact.source = source
            let old = known.updateValue(fact, forKey: fact.id)
            // Strings are equal if they are canonically equivalent.
            if let old, old == fact, old.text.hasSameBytes(as: fact.text) { continue }
            if old == nil { plan.changes.added += 1 } else { plan.changes.changed += 1 }
            plan.stored.append(fact)
        }
        (plan.changes.removed, plan.changes.droppedCategories) = (plan.removed.count, limit.dropped)
        return plan
    }

    static func remove(_ ids: [String], _ database: Database) throws {
        for id in ids { try database.execute("DELETE FROM facts WHERE id = ?", [id]) }
    }

    static func store(_ facts: [Fact], _ database: Database) throws {
        for fact in facts {
            try database.execute(
                "REPLACE INTO facts (\(columns)) VALUES (\(databaseQuestionMarks(count: 6)))",
                [
                    fact.id, fact.text, fact.categories.joined(separator: " "), fact.url, fact.createdAt,
                    fact.updatedAt,
                ])
        }
    }
}

/// The result of a fetch, in numbers of facts.
package struct UpstreamChanges: Sendable, Equatable {
    package fileprivate(set) var added = 0
    package fileprivate(set) var changed = 0
    package fileprivate(set) var removed = 0
    /// The number of dropped categories, counted once for each fact.
    package fileprivate(set) var droppedCategories = 0
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
