import NorrisProtocol
import NorrisText

/// The table `facts`: from its rows to facts, and how a fact is looked up.
///
/// A row is never changed but for `found`: a fact whose content is another is a new one with a new ordinal.
enum FactTable {
    static let columns = "id, source, text, categories, url, created_at, updated_at"

    /// - Parameter first: the place of the first of ``columns``.
    static func fact(_ row: Row, from first: Int = 0) -> Fact {
        Fact(
            id: row[first],
            text: row[first + 2],
            categories: categories(row[first + 3]),
            source: row[first + 1],
            url: row[first + 4],
            createdAt: (row[first + 5] as Int64?).map(Timestamp.init(seconds:)),
            updatedAt: (row[first + 6] as Int64?).map(Timestamp.init(seconds:))
        )
    }

    /// The categories from their column: names without spaces, which we have stored.
    static func categories(_ column: String) -> [String] {
        column.split(separator: " ").map(String.init)
    }

    static func fact(ordinal: UInt32, _ database: Database) throws -> Fact? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(columns) FROM facts WHERE ordinal = ?"), arguments: [Int(ordinal)]
        ).map { fact($0) }
    }

    static func fact(id: String, _ database: Database) throws -> Fact? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(columns) FROM facts WHERE id = ?"), arguments: [id]
        ).map { fact($0) }
    }

    /// A hash of the text's bytes. It finds facts with the same text; that they have it is for the text itself to say.
    static func digest(ofText text: String) -> Int64 {
        Int64(bitPattern: SipHash.hash(text.utf8, key: (0, 0)))
    }
}

extension Fact {
    package var isExplicit: Bool {
        categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) }
    }

    /// Whether the fact is from the starting collection or a fortune file.
    package var isLocal: Bool {
        FactGroup(source: source) != .upstream
    }

    /// In code points of the text.
    package var length: Int {
        text.unicodeScalars.count
    }
}

/// A fact in the cache, by what decides whether it stays.
struct StoredFact {
    let ordinal: UInt32
    let id: String
    let source: String
    /// Whether only a search at the upstream has brought it so far.
    let isFound: Bool
    let categories: [String]

    static let columns = "ordinal, id, source, found, categories"

    /// - Parameter row: begins with ``columns``.
    init(_ row: Row) {
        ordinal = UInt32(row[0] as Int)
        id = row[1]
        source = row[2]
        isFound = row[3]
        categories = FactTable.categories(row[4])
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
        ).map { row in (StoredFact(row), row[5], row[5] && row[6]) }
    }

    /// The facts with another id and the same text, byte for byte.
    static func others(withTextOf fact: Fact, _ database: Database) throws -> [StoredFact] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT \(columns) FROM facts WHERE text_digest = ? AND text = ? AND id <> ?"
            ),
            arguments: [FactTable.digest(ofText: fact.text), fact.text, fact.id]
        ).map(StoredFact.init)
    }

    /// A fact that a search brought came in a fetch too: it is like any other now.
    static func noteFetched(_ stored: StoredFact, _ database: Database) throws {
        guard stored.isFound else { return }
        try database.cachedStatement(sql: "UPDATE facts SET found = 0 WHERE ordinal = ?")
            .execute(arguments: [Int(stored.ordinal)])
    }

    static func count(of group: FactGroup, _ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM facts WHERE \(group.condition)") ?? 0
    }

    /// Facts of a group, in the order of storing.
    ///
    /// - Parameter ordinal: only those behind it.
    static func some(of group: FactGroup, after ordinal: UInt32, limit: Int, _ database: Database) throws -> [StoredFact] {
        try Row.fetchAll(
            database,
            sql: "SELECT \(columns) FROM facts WHERE ordinal > ? AND \(group.condition) ORDER BY ordinal LIMIT ?",
            arguments: [Int(ordinal), limit]
        ).map(StoredFact.init)
    }
}
