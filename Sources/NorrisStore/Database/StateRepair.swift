import Logging
import NorrisProtocol

/// The integers of `state.db` with their ranges, and the repair of a value out of range.
///
/// A damaged byte in the state loses a row, not the file, because favorites cannot be fetched again.
struct StateRepair {
    enum Action {
        /// The row is deleted.
        case drop
        /// The value is replaced by the nearest value in the range.
        case clamp
        /// The totals are counted again.
        case count(Totals)
    }

    /// A table of totals, whose row for all users is the sum of the other rows.
    struct Totals {
        let table: String
        let columns: [String]
        /// The limit of one user, in bytes. For a user above the limit the table is counted again at each start.
        let limit: Int
        /// The statements that count all rows.
        let count: String

        static let favorites = Totals(
            table: "favorite_totals", columns: ["items", "bytes"], limit: Favorites.maximumBytes,
            count: DatabaseKind.countFavorites)
        static let users = Totals(
            table: "user_state", columns: ["bytes"], limit: UserState.maximumBytes, count: DatabaseKind.countUserState)

        fileprivate var isWrong: String {
            // total() cannot overflow.
            let sums = columns.map { "(SELECT total(iif(uid = -1, -1.0, 1.0) * \($0)) FROM \(table)) <> 0" }
            // All rows may have the same wrong value.
            let columns = columns.joined(separator: ", ")
            let rows =
                "EXISTS (SELECT 1 FROM \(table) WHERE uid <> -1 AND (min(1, \(columns)) < 1 OR max(0, \(columns)) > \(limit)))"
            return (sums + [rows]).joined(separator: " OR ")
        }
    }

    let table: String
    let column: String
    let type: any ColumnInteger.Type
    let action: Action

    private init(_ table: String, _ column: String, _ type: any ColumnInteger.Type, _ action: Action = .drop) {
        (self.table, self.column, self.type, self.action) = (table, column, type, action)
    }

    /// Every integer column. Totals are last, because they count the remaining rows.
    static let all: [StateRepair] = [
        StateRepair("facts_of_the_day", "number", SequenceNumber.self),
        StateRepair("schedules", "next_run_at", Timestamp.self),
        StateRepair("schedules", "backoff_until", Timestamp.self), StateRepair("schedules", "retry_at", Timestamp.self),
        StateRepair("schedules", "failures", Int.self), StateRepair("schedules", "failure_since", Timestamp.self),
        StateRepair("schedules", "failed_at", Timestamp.self), StateRepair("schedules", "had_content", Bool.self),
        StateRepair("recent_searches", "number", SequenceNumber.self),
        StateRepair("recent_searches", "uid", UserID.self), StateRepair("recent_searches", "at", Timestamp.self),
        StateRepair("quota_calls", "at", Timestamp.self),
        // A favorite without a user cannot be served; all other favorites stay.
        StateRepair("favorites", "number", OpaqueInteger.self), StateRepair("favorites", "uid", UserID.self),
        StateRepair("favorites", "added_at", Timestamp.self, .clamp),
        StateRepair("favorites", "digest", OpaqueInteger.self), StateRepair("cursor_keys", "key", OpaqueInteger.self),
        StateRepair("read_marks", "uid", UserID.self), StateRepair("read_marks", "post", PostKey.self),
        StateRepair("read_marks", "number", SequenceNumber.self), StateRepair("read_marks", "is_exception", Bool.self),
        StateRepair("read_watermarks", "uid", UserID.self),
        StateRepair("read_watermarks", "posts", OpaqueInteger.self),
        StateRepair("read_watermarks", "number", SequenceNumber.self), StateRepair("served", "uid", UserID.self),
        StateRepair("served", "number", SequenceNumber.self),
        StateRepair("shuffles", "uid", UserID.self), StateRepair("shuffles", "used_at", SequenceNumber.self),
        StateRepair("favorite_totals", "uid", UserID.self, .count(.favorites)),
        StateRepair("favorite_totals", "items", Int.self, .count(.favorites)),
        StateRepair("favorite_totals", "bytes", Int.self, .count(.favorites)),
        StateRepair("user_state", "uid", UserID.self, .count(.users)),
        StateRepair("user_state", "bytes", Int.self, .count(.users)),
    ]

    /// A value of another type is out of every range.
    private var isOutside: String {
        "\(column) NOT BETWEEN \(type.columnRange.lowerBound) AND \(type.columnRange.upperBound)"
    }

    /// Repairs all rows in one transaction.
    static func run(_ database: Database, _ logger: Logger) throws {
        let faults = Dictionary(grouping: all, by: \.table).map { table, repairs in
            "EXISTS (SELECT 1 FROM \(table) WHERE \(repairs.map(\.isOutside).joined(separator: " OR ")))"
        }
        let sums = [Totals.favorites, .users].map(\.isWrong)
        let isFaulty = try Bool.fetchOne(database, "SELECT \((faults + sums).joined(separator: " OR "))")
        guard isFaulty == true else { return }
        for repair in all {
            let (range, isOutside) = (repair.type.columnRange, repair.isOutside)
            let rows: Int
            switch repair.action {
            case .drop:
                try database.execute("DELETE FROM \(repair.table) WHERE \(isOutside)")
                rows = database.changesCount
            case .clamp:
                try database.execute(
                    """
                    UPDATE \(repair.table) SET \(repair.column) =
                        iif(typeof(\(repair.column)) = 'integer',
                            min(max(\(repair.column), \(range.lowerBound)), \(range.upperBound)), \(range.lowerBound))
                    WHERE \(isOutside)
                    """)
                rows = database.changesCount
            case .count(let totals):
                rows =
                    try Int.fetchOne(
                        database, "SELECT count(*) FROM \(repair.table) WHERE \(isOutside) OR \(totals.isWrong)") ?? 0
                if rows > 0 { try database.execute(totals.count) }
            }
            guard rows > 0 else { continue }
            logger.error(
                "state.repaired",
                metadata: [
                    "table": "\(repair.table)", "column": "\(repair.column)", "rows": "\(rows)",
                    "action": "\(repair.name)",
                ])
        }
    }

    private var name: String {
        switch action {
        case .drop: "dropped"
        case .clamp: "corrected"
        case .count: "counted again"
        }
    }
}
