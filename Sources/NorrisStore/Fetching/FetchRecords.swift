package import Logging
import NorrisProtocol

/// The fetch records of all sources, in `cache.db`.
///
/// Blocking. Nothing is thrown: a record that cannot be read is as none, and costs a fetch.
package struct FetchRecords: Sendable {
    let databases: Databases
    private let logger: Logger

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// nil where the source was never fetched, or its content has been cleared since.
    package func record(of source: String) -> FetchRecord? {
        try? databases.read(.fetches, logger: logger) { try FetchRecord.read(of: source, $0) }
    }

    /// Puts a record in place of the source's last one, for a reply without news.
    ///
    /// - Returns: false where there is none any more: the content that the reply speaks of is gone.
    package func renew(_ record: FetchRecord, for source: String) -> Bool {
        let isThere = try? databases.write(.fetches, logger: logger) { database in
            guard try FetchRecord.read(of: source, database) != nil else { return false }
            try record.write(for: source, database)
            return true
        }
        return isThere ?? true
    }
}

extension FetchRecord {
    fileprivate static func read(of source: String, _ database: Database) throws -> FetchRecord? {
        guard
            let fetch = try Row.fetchOne(
                database, sql: "SELECT settings, fetched_at, categories FROM fetches WHERE source = ?",
                arguments: [source]
            )
        else { return nil }
        var record = FetchRecord(
            settings: fetch[0],
            fetchedAt: Timestamp(seconds: fetch[1]),
            // Names without spaces.
            categories: (fetch[2] as String).split(separator: " ").map(String.init)
        )
        let parts = try Rows(
            database.statement("SELECT part, etag, last_modified, checked_at FROM validators WHERE source = ?"), [source]
        )
        while try parts.next() {
            record.parts[parts[0]] = PartRecord(
                etag: parts[1], lastModified: parts[2], checkedAt: Timestamp(seconds: parts[3])
            )
        }
        return record
    }

    /// In a transaction of the caller's, so that content and record agree.
    func write(for source: String, _ database: Database) throws {
        try FetchRecord.remove(source, database)
        try database.execute(
            sql: "INSERT INTO fetches (source, settings, fetched_at, categories) VALUES (?, ?, ?, ?)",
            arguments: [source, settings, fetchedAt.seconds, categories.joined(separator: " ")]
        )
        for (name, part) in parts {
            try database.execute(
                sql: """
                    INSERT INTO validators (source, part, etag, last_modified, checked_at) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [source, name, part.etag, part.lastModified, part.checkedAt.seconds]
            )
        }
    }

    static func remove(_ source: String, _ database: Database) throws {
        // The validators go with it.
        try database.execute(sql: "DELETE FROM fetches WHERE source = ?", arguments: [source])
    }

    /// Makes the next fetch of a source a full one, without making it due.
    static func removeValidators(of source: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM validators WHERE source = ?", arguments: [source])
    }
}
