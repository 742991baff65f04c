import NorrisProtocol

/// The ledger of what users have in `state.db` besides favorites: recent searches, read marks, shuffles, and the last
/// items served. Triggers maintain it (``StateSchema``), for each user and for all.
///
/// User ids are cheap in user namespaces, so the limits of one user do not limit the file.
enum UserState {
    /// Instead of a user id: the sum of all.
    static let all: Int64 = -1
    /// The bytes of all users, as they are estimated for the file.
    static let maximumBytes = 64 << 20

    static let isFull = ResponseError.busy(
        "The read marks, searches and shuffles of all users take \(maximumBytes >> 20) MiB, the limit.",
        hint: "Ask other users of this machine to clear theirs: norrisctl recent --clear")

    static func bytes(of uid: Int64, _ database: Database) throws -> Int {
        try Int.fetchOne(database, "SELECT bytes FROM user_state WHERE uid = ?", [uid]) ?? 0
    }

    static func isOverLimit(_ database: Database) throws -> Bool { try bytes(of: all, database) > maximumBytes }

    /// Changes what a user has. Past the limit of all users nothing grows: such a change is undone.
    ///
    /// - Returns: nil if it was undone.
    static func change<Value>(uid: Int64, _ database: Database, _ body: (Database) throws -> Value) throws -> Value? {
        let before = try bytes(of: uid, database)
        try database.execute("SAVEPOINT user_state")
        let value = try body(database)
        let isRefused = try isOverLimit(database) && bytes(of: uid, database) > before
        if isRefused { try database.execute("ROLLBACK TO user_state") }
        try database.execute("RELEASE user_state")
        return isRefused ? nil : value
    }
}
