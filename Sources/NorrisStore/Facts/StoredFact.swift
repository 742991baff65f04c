import GRDB
import NorrisProtocol

/// A fact in the cache, by what decides whether it stays.
struct StoredFact {
    /// Its place in the order of storing.
    let number: Int64
    let id: String
    let source: String
    /// Whether only a search at the upstream has brought it so far.
    let isFound: Bool

    static let columns = "number, id, source, found"

    /// - Parameter row: begins with ``columns``.
    init(_ row: Row) {
        number = row[0]
        id = row[1]
        source = row[2]
        isFound = row[3]
    }

    var group: FactGroup { FactGroup(source: source) }

    /// How the cache holds a fact: by its id, and whether with this text and this content, byte for byte.
    static func find(_ fact: Fact, _ database: Database) throws -> (stored: StoredFact, hasText: Bool, isSame: Bool)? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT \(columns), text = ?,
                        source = ? AND categories = ? AND url IS ? AND created_at IS ? AND updated_at IS ?
                    FROM facts WHERE id = ?
                    """
            ),
            arguments: [
                fact.text, fact.source, fact.categories.joined(separator: " "), fact.url, fact.createdAt?.seconds,
                fact.updatedAt?.seconds, fact.id,
            ]
        ).map { row in (StoredFact(row), row[4], row[4] && row[5]) }
    }

    /// The facts with another id and the same text, byte for byte.
    static func others(withTextOf fact: Fact, _ database: Database) throws -> [StoredFact] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT \(columns) FROM facts WHERE text_digest = ? AND text = ? AND id <> ?"
            ),
            arguments: [FactRecord.digest(ofText: fact.text), fact.text, fact.id]
        ).map(StoredFact.init)
    }

    /// A fact that a search brought came in a fetch too: it is like any other now.
    static func noteFetched(_ stored: StoredFact, _ database: Database) throws {
        guard stored.isFound else { return }
        try database.cachedStatement(sql: "UPDATE facts SET found = 0 WHERE number = ?")
            .execute(arguments: [stored.number])
    }

    static func count(of group: FactGroup, _ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM facts WHERE \(group.condition)") ?? 0
    }

    /// Calls the body with every fact of a group.
    static func forEach(of group: FactGroup, _ database: Database, _ body: (StoredFact) throws -> Void) throws {
        let rows = try Row.fetchCursor(database, sql: "SELECT \(columns) FROM facts WHERE \(group.condition)")
        while let row = try rows.next() { try body(StoredFact(row)) }
    }
}
