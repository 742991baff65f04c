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
            categories: categories(row["categories"]),
            source: row["source"],
            url: row["url"],
            createdAt: (row["created_at"] as Int64?).map(Timestamp.init(seconds:)),
            updatedAt: (row["updated_at"] as Int64?).map(Timestamp.init(seconds:))
        )
    }

    /// The categories from their column: names without spaces, which we have stored.
    static func categories(_ column: String) -> [String] {
        column.split(separator: " ").map(String.init)
    }

    /// Stores a new fact, or the new content of a known one, which keeps its place in the order of storing.
    ///
    /// - Parameter isFound: whether only a search has brought it; a fact that came otherwise stays one that did.
    static func store(_ fact: Fact, isFound: Bool, at now: Timestamp, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO facts (
                    id, source, text, folded, categories, explicit, url, created_at, updated_at, stored_at, found,
                    text_digest
                )
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    source = excluded.source, text = excluded.text, folded = excluded.folded,
                    categories = excluded.categories, explicit = excluded.explicit, url = excluded.url,
                    created_at = excluded.created_at, updated_at = excluded.updated_at,
                    found = min(found, excluded.found), text_digest = excluded.text_digest
                """
        ).execute(arguments: [
            fact.id, fact.source, fact.text, caseFolded(fact.text), fact.categories.joined(separator: " "),
            fact.isExplicit, fact.url, fact.createdAt?.seconds, fact.updatedAt?.seconds, now.seconds,
            isFound, digest(ofText: fact.text),
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

    /// Takes a fact out, its categories and its trigrams with it.
    static func delete(_ stored: StoredFact, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM facts WHERE number = ?").execute(arguments: [stored.number])
    }

    /// A whole fact by its place in the order of storing.
    static func fact(number: Int64, _ database: Database) throws -> Fact? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(columns) FROM facts WHERE number = ?"), arguments: [number]
        ).map(fact)
    }

    /// A hash of the text's bytes. It finds facts with the same text; that they have it is for the text itself to say.
    static func digest(ofText text: String) -> Int64 {
        Int64(bitPattern: SipHash.hash(text.utf8, key: (0, 0)))
    }
}
