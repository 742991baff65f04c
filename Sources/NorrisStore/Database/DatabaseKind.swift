import CSQLite

/// One of norrisd's two databases: what tells its file from others, and the schema it has by now.
struct DatabaseKind: Sendable {
    /// The file's name in its folder.
    let fileName: String
    /// `PRAGMA application_id` (SQLite: "file format", offset 68): four letters, so that file(1) and we know our own.
    let applicationID: Int32
    /// Whether each commit is on the disk before it returns; else only a clean file is promised, not the last commits.
    let isDurable: Bool
    /// Whether a copy is kept before a migration.
    let keepsCopies: Bool
    /// Named steps, in order. Only ever appended to; a step that has been released is never changed.
    let migrations: [Migration]

    struct Migration: Sendable {
        let name: String
        let apply: @Sendable (Database) throws -> Void
    }

    /// `PRAGMA user_version`: how many migrations a file has behind it.
    var schemaVersion: Int { migrations.count }

    /// A migration of both: earlier versions listed their migrations by name too.
    static func dropMigrationsOfGRDB(_ database: Database) throws {
        try database.execute(sql: "DROP TABLE IF EXISTS grdb_migrations")
    }

    /// Brings a database to the schema of now, one migration a transaction: one that fails has not happened.
    func migrate(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version < migrations.count else { return }
            // A migration may make a table anew to which others refer; what refers to nothing is found at its end.
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            defer { try? database.execute(sql: "PRAGMA foreign_keys = ON") }
            for (index, migration) in migrations.enumerated().dropFirst(version) {
                try database.write { database in
                    try migration.apply(database)
                    guard try Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil else {
                        throw DatabaseError(SQLITE_CONSTRAINT, message: "migration \(migration.name)")
                    }
                    try database.execute(sql: "PRAGMA user_version = \(index + 1)")
                }
            }
        }
    }
}
