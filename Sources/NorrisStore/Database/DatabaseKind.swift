import GRDB

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

    var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (index, migration) in migrations.enumerated() {
            migrator.registerMigration(migration.name) { database in
                try migration.apply(database)
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
        }
        return migrator
    }
}
