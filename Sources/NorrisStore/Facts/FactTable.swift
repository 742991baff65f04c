import NorrisProtocol

/// The kinds of sources of facts: each group is replaced as a whole.
package enum FactGroup: String, Sendable, CaseIterable {
    case builtin
    case fortunes
    case upstream

    /// The group of a fact's source: `builtin`, `fortune:NAME`, or an upstream's name.
    init(source: String) {
        self = source == "builtin" ? .builtin : source.utf8.starts(with: "fortune:".utf8) ? .fortunes : .upstream
    }

    /// The SQL condition on the sources of the group.
    var condition: String {
        let isFortune = "(source >= 'fortune:' AND source < 'fortune;')"  // In ASCII, ";" comes after ":".
        return switch self {
        case .builtin: "source = 'builtin'"
        case .fortunes: isFortune
        case .upstream: "source <> 'builtin' AND NOT \(isFortune)"
        }
    }

    /// Whether, of two facts with the same text, the fact of this group is stored.
    func outranks(_ other: FactGroup) -> Bool { rank > other.rank }

    private var rank: Int {
        switch self {
        case .builtin: 2
        case .upstream: 1
        case .fortunes: 0
        }
    }
}

/// The table `facts`: reading and finding facts.
///
/// Only the column `found` of a row changes. A fact with changed content is a new row with a new ordinal.
enum FactTable {
    /// The columns of a fact, for ``fact(_:)``.
    static let columns = "id, source, text, categories, url, created_at, updated_at, text_digest"

    /// The fact of a row, with the text as stored.
    ///
    /// - Parameter row: begins with ``columns``.
    static func fact(_ row: Rows) -> Fact {
        let fact = Fact(
            id: row[0], text: row[2], categories: categories(row[3]), source: row[1], url: row[4], createdAt: row[5],
            updatedAt: row[6])
        if digest(ofText: fact.text) != row[7] { row.noteDamage("the text of a fact has another digest") }
        return fact
    }

    /// The categories from their column: names without spaces.
    static func categories(_ column: String) -> [String] { column.split(separator: " ").map(String.init) }

    static func fact(ordinal: UInt32, _ database: Database) throws -> Fact? {
        try database.first("SELECT \(columns) FROM facts WHERE ordinal = ?", [Int(ordinal)], fact)
    }

    static func fact(id: String, _ database: Database) throws -> Fact? {
        try database.first("SELECT \(columns) FROM facts WHERE id = ?", [id], fact)
    }

    /// A hash of the text's bytes, for finding facts with the same text. Different texts may have the same hash.
    static func digest(ofText text: String) -> OpaqueInteger { OpaqueInteger(columnValue: SipHash.digest(text)) }
}

/// The ordinal of a fact in a column.
struct Ordinal: ColumnInteger {
    /// The last chunk is unused, so that a position after a record always fits.
    static let columnRange: ClosedRange<Int64> = 1...Int64(UInt32.max - FactRecord.chunkUnits)
    let number: UInt32
    var columnValue: Int64 { Int64(number) }
    init(columnValue: Int64) { number = UInt32(truncatingIfNeeded: columnValue) }
}

/// The length of a fact in a category index, in code points; negative for a removed fact.
struct EntryLength: ColumnInteger {
    static let columnRange: ClosedRange<Int64> = -Int64(Int16.max)...Int64(Int16.max)
    let columnValue: Int64
    init(columnValue: Int64) { self.columnValue = columnValue }
    var isRemoved: Bool { columnValue < 0 }
    var length: Int { Int(columnValue.magnitude) }
}

extension Fact {
    package var isExplicit: Bool { categories.contains { $0.hasSameBytes(as: Fact.explicitCategory) } }

    /// Whether the fact is from the starting collection or a fortune file.
    package var isLocal: Bool { FactGroup(source: source) != .upstream }

    /// In code points of the text.
    package var length: Int { text.unicodeScalars.count }
}

/// A stored fact without its text.
struct StoredFact {
    let ordinal: UInt32
    let id: String
    let source: String
    /// Whether only searches at the upstream have returned the fact.
    let isFound: Bool
    let categories: [String]

    static let columns = "ordinal, id, source, found, categories"

    /// - Parameter row: begins with ``columns``.
    init(_ row: Rows) {
        ordinal = (row[0] as Ordinal).number
        id = row[1]
        source = row[2]
        isFound = row[3]
        categories = FactTable.categories(row[4])
    }

    var group: FactGroup { FactGroup(source: source) }

    /// The stored fact with a fact's id, and whether text and content are equal byte for byte.
    static func find(_ fact: Fact, _ database: Database) throws -> (stored: StoredFact, hasText: Bool, isSame: Bool)? {
        try database.first(
            """
            SELECT \(columns), text = ?,
                source = ? AND categories = ? AND url IS ? AND created_at IS ? AND updated_at IS ?
            FROM facts WHERE id = ?
            """,
            [
                fact.text, fact.source, fact.categories.joined(separator: " "), fact.url, fact.createdAt,
                fact.updatedAt, fact.id,
            ]
        ) { row in (StoredFact(row), row[5], row[5] && row[6]) }
    }

    /// The facts with another id and the same bytes of text.
    static func others(withTextOf fact: Fact, _ database: Database) throws -> [StoredFact] {
        let sql = "SELECT \(columns) FROM facts WHERE text_digest = ? AND text = ? AND id <> ?"
        return try database.map(sql, [FactTable.digest(ofText: fact.text), fact.text, fact.id], StoredFact.init)
    }

    /// Records that a fetch contained a fact that was found by a search.
    static func noteFetched(_ stored: StoredFact, _ database: Database) throws {
        guard stored.isFound else { return }
        try database.execute("UPDATE facts SET found = 0 WHERE ordinal = ?", [Int(stored.ordinal)])
    }

    static func count(of group: FactGroup, _ database: Database) throws -> Int {
        try Int.fetchOne(database, "SELECT count(*) FROM facts WHERE \(group.condition)") ?? 0
    }

    /// The facts of a group after an ordinal, in the order of storage.
    static func some(
        of group: FactGroup, after ordinal: UInt32, limit: Int, _ database: Database
    ) throws -> [StoredFact] {
        let sql = "SELECT \(columns) FROM facts WHERE ordinal > ? AND \(group.condition) ORDER BY ordinal LIMIT ?"
        return try database.map(sql, [Int(ordinal), limit], StoredFact.init)
    }
}
