import NorrisProtocol

/// The sizes of all users' data in `state.db` except favorites: recent searches, read marks, shuffles and the last
/// items served. Triggers maintain the sizes (``StateSchema``), for each user and for all.
///
/// User ids are unlimited in user namespaces, so limits of single users do not limit the file.
enum UserState {
    /// The row with the sum of all users, instead of a user id.
    static let all: Int64 = -1
    /// The limit of all users in bytes, as estimated for the file.
    static let maximumBytes = 64 << 20

    static let isFull = ResponseError.busy(
        "The read marks, searches and shuffles of all users take \(maximumBytes >> 20) MiB, the limit.",
        hint: "Ask other users of this machine to clear theirs: norrisctl recent --clear")

    static func bytes(of uid: Int64, _ database: Database) throws -> Int {
        try Int.fetchOne(database, "SELECT bytes FROM user_state WHERE uid = ?", [uid]) ?? 0
    }

    static func isOverLimit(_ database: Database) throws -> Bool { try bytes(of: all, database) > maximumBytes }

    /// Changes a user's data. Above the limit of all users, a change that adds data is rolled back.
    ///
    /// - Returns: nil if the change was rolled back.
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
