import GRDB
import NorrisProtocol
import NorrisText

/// The columns of `facts`, to and from a fact.
enum FactRecord {
    static let columns = "id, source, text, categories, url, created_at, updated_at"

    static func fact(_ row: Row) throws -> Fact {
        Fact(
            id: row["id"],
            text: row["text"],
            // Stored by us, names without spaces.
            categories: (row["categories"] as String).split(separator: " ").map(String.init),
            source: row["source"],
            url: row["url"],
            createdAt: (row["created_at"] as Int64?).map(Timestamp.init(seconds:)),
            updatedAt: (row["updated_at"] as Int64?).map(Timestamp.init(seconds:))
        )
    }

    /// Stores a new fact, or the new content of a known one, which keeps its place in the order of storing.
    static func store(_ fact: Fact, at now: Timestamp, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO facts (id, source, text, folded, categories, explicit, url, created_at, updated_at, stored_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    source = excluded.source, text = excluded.text, folded = excluded.folded,
                    categories = excluded.categories, explicit = excluded.explicit, url = excluded.url,
                    created_at = excluded.created_at, updated_at = excluded.updated_at
                """
        ).execute(arguments: [
            fact.id, fact.source, fact.text, caseFolded(fact.text), fact.categories.joined(separator: " "),
            fact.isExplicit, fact.url, fact.createdAt?.seconds, fact.updatedAt?.seconds, now.seconds,
        ])
        try database.cachedStatement(
            sql: "DELETE FROM fact_categories WHERE fact = (SELECT number FROM facts WHERE id = ?)"
        ).execute(arguments: [fact.id])
        for category in fact.categories {
            try database.cachedStatement(
                sql: """
                    INSERT OR IGNORE INTO fact_categories (category, fact)
                    VALUES (?, (SELECT number FROM facts WHERE id = ?))
                    """
            ).execute(arguments: [category, fact.id])
        }
    }
}
