import CSQLite

/// Why a folder or a database cannot be used, with what to do about it.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Another daemon uses the folder; its process id where it is known.
        case locked(pid: Int?)
        /// The file was written by a newer norrisd.
        case newerSchema(found: Int, known: Int)
        /// A database of another program.
        case foreign
        /// The folder or file cannot be created or written.
        case notWritable(String)
        /// A change failed, with SQLite's message.
        case failed(String)
        case cancelled
    }

    package let path: String
    package let reason: Reason

    package init(path: String, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .locked(let pid?):
            "\(path): the norrisd with process id \(pid) uses this folder; stop it, or give another --state-dir"
        case .locked(nil):
            "\(path): another norrisd uses this folder; stop it, or give another --state-dir"
        case .newerSchema(let found, let known):
            "\(path): written by a newer norrisd (schema \(found), this one knows \(known)); "
                + "it was left untouched: install that version again, or give another folder"
        case .foreign:
            "\(path): is a database of another program; it was left untouched: move it away, or give another folder"
        case .notWritable(let detail):
            "\(path): cannot be written (\(detail)); check the folder's owner and permissions, and the disk's space"
        case .failed(let detail):
            "\(path): could not be changed (\(detail)); check the disk, its space, and who owns the file"
        case .cancelled: "\(path): the change was cancelled, and nothing was written; try again"
        }
    }
}

extension DatabaseError {
    /// The error for a status: without the statement.
    ///
    /// - Parameter path: that of the database; nil in memory.
    static func summary(of error: any Error, path: String?) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        let summary = "\(error.message) (SQLite error \(error.extendedResultCode))"
        // A full disk shows itself in several errors, of which only SQLITE_FULL says so.
        guard error.resultCode != SQLITE_FULL, path.flatMap(Folder.freeBytes(besides:)) == 0 else { return summary }
        return summary + ": the disk is full"
    }
}
