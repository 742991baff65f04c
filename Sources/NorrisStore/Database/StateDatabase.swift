import Logging
import NorrisProtocol

/// `state.db`: shuffles, what was served last, and facts of the day. Every write is on the disk when it returns.
///
/// Blocking; called from the places that may wait.
struct StateDatabase: Sendable {
    let opened: OpenedDatabase
    private let identity: FileIdentity?

    init(folder: String?, logger: Logger, willTakeLong: () -> Void = {}) throws(StoreError) {
        opened = try OpenedDatabase.open(.state, folder: folder, logger: logger, willTakeLong: willTakeLong)
        identity = opened.path.flatMap(Folder.identity(of:))
    }

    /// Whether the file this database was opened from is gone from its path.
    var isDeleted: Bool {
        guard let path = opened.path else { return false }
        return Folder.identity(of: path) != identity
    }

    var sizeOnDisk: Int {
        opened.path.map(Folder.size(ofDatabase:)) ?? 0
    }

    /// The shuffles of all users, of which there are few (``ShuffleBook/maximum``).
    func shuffles() throws -> [ShuffleBook.Record] {
        try opened.writer.read { database in
            let sql = "SELECT uid, filter, shuffle, used_at FROM shuffles ORDER BY used_at DESC LIMIT \(ShuffleBook.maximum)"
            return try Row.fetchAll(database, sql: sql).compactMap { row in
                guard let filter = ShuffleFilter(key: row[1]) else { return nil }
                return ShuffleBook.Record(key: .init(uid: row[0], filter: filter), shuffle: row[2], usedAt: row[3])
            }
        }
    }

    func write(_ shuffles: [ShuffleBook.Record], _ items: [ServedItem]) async throws {
        try await opened.writer.write { database in
            for record in shuffles {
                if let shuffle = record.shuffle {
                    try database.cachedStatement(
                        sql: "REPLACE INTO shuffles (uid, filter, shuffle, used_at) VALUES (?, ?, ?, ?)"
                    ).execute(arguments: [record.key.uid, record.key.filter.key, shuffle, record.usedAt])
                } else {
                    try database.cachedStatement(sql: "DELETE FROM shuffles WHERE uid = ? AND filter = ?")
                        .execute(arguments: [record.key.uid, record.key.filter.key])
                }
            }
            if shuffles.contains(where: { $0.shuffle == nil }) {
                // Not each of those that were forgotten is known by its key (``ShuffleBook``).
                try database.cachedStatement(
                    sql: "DELETE FROM shuffles WHERE used_at <= "
                        + "(SELECT used_at FROM shuffles ORDER BY used_at DESC LIMIT 1 OFFSET \(ShuffleBook.maximum))"
                ).execute()
            }
            for item in items { try item.write(database) }
        }
    }

    /// The days whose fact is remembered besides those around today.
    private static let rememberedDays = 1_000

    func factOfTheDay(_ day: CivilDate) async throws -> Fact? {
        try await opened.writer.read { try StateDatabase.factOfTheDay(day, $0) }
    }

    /// Keeps a fact as that of a day, unless the day has one.
    ///
    /// - Returns: the day's fact, the one it had where it had one.
    func keep(_ fact: Fact, of day: CivilDate, today: CivilDate) async throws -> Fact {
        try await opened.writer.write { database in
            if let kept = try StateDatabase.factOfTheDay(day, database) { return kept }
            try database.execute(
                sql: "INSERT OR REPLACE INTO facts_of_the_day (day, fact) VALUES (?, ?)",
                arguments: [day.description, fact.jsonText]
            )
            // Anybody may ask for any day, so their number is bounded; nobody can push out the days people look at.
            let spared = today.dayNumber - 1...today.dayNumber + 1
            try database.execute(
                sql: """
                    DELETE FROM facts_of_the_day
                    WHERE number <= (SELECT max(number) FROM facts_of_the_day) - ? AND day NOT BETWEEN ? AND ?
                    """,
                arguments: [
                    StateDatabase.rememberedDays, CivilDate(dayNumber: spared.lowerBound)?.description,
                    CivilDate(dayNumber: spared.upperBound)?.description,
                ]
            )
            return fact
        }
    }

    private static func factOfTheDay(_ day: CivilDate, _ database: Database) throws -> Fact? {
        let text = try String.fetchOne(
            database, sql: "SELECT fact FROM facts_of_the_day WHERE day = ?", arguments: [day.description]
        )
        // Written by us; a row that cannot be read any more is picked anew rather than failing for ever.
        return text.flatMap { try? Fact(json: JSON.parse($0)) }
    }

    func close() throws {
        try opened.close()
    }
}
