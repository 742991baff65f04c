import Foundation
import GRDB
import Logging
import NorrisProtocol

/// `state.db`: seats, walks and facts of the day. Every write is on the disk when it returns.
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

    /// A seat as it is kept.
    struct Seat: Equatable {
        let roster: RosterName
        let seat: Int
        let fact: String?
        let length: Int
    }

    func forEachSeat(_ body: (Seat) -> Void) throws {
        try opened.writer.read { database in
            let rows = try Row.fetchCursor(
                database, sql: "SELECT roster, seat, fact, length FROM seats ORDER BY roster, seat"
            )
            while let row = try rows.next() {
                body(Seat(roster: RosterName(key: row[0]), seat: row[1], fact: row[2], length: row[3]))
            }
        }
    }

    /// Calls the body with each fact and the seats it has had.
    func forEachFact(of facts: ArraySlice<Fact>, _ body: (Fact, [Seat]) -> Void) throws {
        try opened.writer.read { database in
            let statement = try database.cachedStatement(sql: "SELECT roster, seat, length FROM seats WHERE fact = ?")
            for fact in facts {
                let seats = try Row.fetchAll(statement, arguments: [fact.id]).map { row in
                    Seat(roster: RosterName(key: row[0]), seat: row[1], fact: fact.id, length: row[2])
                }
                body(fact, seats)
            }
        }
    }

    /// Keeps new seats.
    ///
    /// - Parameter leaving: facts whose older seats are nobody's from now on.
    func write(_ seats: [Seat], leaving: [String]) throws {
        guard !seats.isEmpty else { return }
        try opened.writer.write { database in
            for id in leaving {
                try database.execute(sql: "UPDATE seats SET fact = NULL WHERE fact = ?", arguments: [id])
            }
            for seat in seats {
                try database.cachedStatement(
                    sql: "INSERT INTO seats (roster, seat, fact, length) VALUES (?, ?, ?, ?)"
                ).execute(arguments: [seat.roster.key, seat.seat, seat.fact, seat.length])
            }
        }
    }

    /// The categories that have seats, with or without facts.
    ///
    /// - Parameter limit: more rosters than these are not looked at; a category has one or two.
    func categories(limit: Int = .max) throws -> Set<String> {
        // From name to name by the key: to read all seats would take as long as to load them.
        let sql = """
            WITH RECURSIVE names (name) AS (
                SELECT min(roster) FROM seats
                UNION ALL
                SELECT (SELECT min(roster) FROM seats WHERE roster > name) FROM names WHERE name IS NOT NULL
            )
            SELECT name FROM names WHERE name IS NOT NULL LIMIT ?
            """
        let rosters = try opened.writer.read { try String.fetchAll($0, sql: sql, arguments: [limit]) }
        return Set(rosters.map { RosterName(key: $0).category }).subtracting([""])
    }

    /// Deletes the seats of all categories but these, and the walks that go over any of the others.
    func forgetCategories(except kept: Set<String>) throws {
        try opened.writer.write { database in
            // To empty the table and fill it again takes time only for what stays; millions of seats may go.
            try database.execute(sql: "CREATE TEMP TABLE kept_seats AS SELECT * FROM seats WHERE 0")
            for category in kept.union([""]) {
                for isExplicit in [false, true] {
                    try database.cachedStatement(sql: "INSERT INTO kept_seats SELECT * FROM seats WHERE roster = ?")
                        .execute(arguments: [RosterName(category: category, isExplicit: isExplicit).key])
                }
            }
            try database.execute(
                sql: """
                    DELETE FROM seats;
                    INSERT INTO seats SELECT * FROM kept_seats ORDER BY roster, seat;
                    DROP TABLE kept_seats;
                    """
            )
            for filter in try String.fetchSet(database, sql: "SELECT filter FROM walks") {
                guard let names = WalkFilter(key: filter)?.categories, !kept.isSuperset(of: names) else { continue }
                try database.execute(sql: "DELETE FROM walks WHERE filter = ?", arguments: [filter])
            }
        }
    }

    func forEachWalk(_ body: (WalkBook.Record) -> Void) throws {
        try opened.writer.read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT uid, filter, position, used_at FROM walks")
            while let row = try rows.next() {
                guard let filter = WalkFilter(key: row[1]) else { continue }
                let position = Array(row[2] as Data)
                body(WalkBook.Record(key: .init(uid: row[0], filter: filter), position: position, usedAt: row[3]))
            }
        }
    }

    func write(_ walks: [WalkBook.Record]) async throws {
        try await opened.writer.write { database in
            for walk in walks {
                if let position = walk.position {
                    try database.cachedStatement(
                        sql: "INSERT OR REPLACE INTO walks (uid, filter, position, used_at) VALUES (?, ?, ?, ?)"
                    ).execute(arguments: [walk.key.uid, walk.key.filter.key, Data(position), walk.usedAt])
                } else {
                    try database.cachedStatement(sql: "DELETE FROM walks WHERE uid = ? AND filter = ?")
                        .execute(arguments: [walk.key.uid, walk.key.filter.key])
                }
            }
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
