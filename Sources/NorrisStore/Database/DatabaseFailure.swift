import CSQLite

/// Why SQLite did not do something, for whoever reads a status: without the statement.
enum DatabaseFailure {
    /// - Parameter path: that of the database; nil in memory.
    static func summary(of error: any Error, path: String?) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        let message = error.message
        let summary = "\(message) (SQLite error \(error.extendedResultCode))"
        // A disk without room shows itself in several errors, of which this one says so.
        guard error.resultCode != SQLITE_FULL, path.flatMap(Folder.freeBytes(besides:)) == 0 else { return summary }
        return summary + ": the disk is full"
    }
}
