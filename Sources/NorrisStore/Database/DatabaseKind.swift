import CSQLite

/// One of norrisd's two databases: how its file is recognized, and its schema.
struct DatabaseKind: Sendable {
    /// The file's name in its folder.
    let fileName: String
    /// `PRAGMA application_id` (SQLite: "file format", offset 68): four letters, for file(1) and for norrisd itself.
    let applicationID: Int32
    /// Whether a commit is on the disk before it returns, and a migration begins with a copy. Else only a clean file is
    /// promised, not the last commits.
    let isDurable: Bool
    /// In order. Only ever appended to; a migration that has been released is never changed.
    let migrations: [Migration]

    struct Migration: Sendable {
        let name: String
        let apply: @Sendable (Database) throws -> Void
    }

    /// `PRAGMA user_version`: how many migrations have been applied to a file.
    var schemaVersion: Int { migrations.count }

    /// A migration of both: earlier versions listed their migrations by name too.
    static let dropTableOfGRDB = Migration(name: "no table of GRDB") {
        try $0.execute("DROP TABLE IF EXISTS grdb_migrations")
    }

    /// Brings a database to the current schema, one transaction for each migration.
    func migrate(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            let version = try Int.fetchOne(database, "PRAGMA user_version") ?? 0
            guard version < migrations.count else { return }
            // A migration may recreate a table to which others refer; dangling references are found at its end.
            try database.execute("PRAGMA foreign_keys = OFF")
            defer { try? database.execute("PRAGMA foreign_keys = ON") }
            for (index, migration) in migrations.enumerated().dropFirst(version) {
                try database.write { database in
                    try migration.apply(database)
                    guard try database.first("PRAGMA foreign_key_check", [], { _ in }) == nil else {
                        throw DatabaseError(SQLITE_CONSTRAINT, message: "migration \(migration.name)")
                    }
                    try database.execute("PRAGMA user_version = \(index + 1)")
                }
            }
        }
    }
}
