import GRDB
import Logging
import NorrisProtocol

/// `cache.db`: the facts on disk, and the search over them.
///
/// Blocking; called from the places that may wait.
struct CacheDatabase: Sendable {
    /// One more than the requests of one user that may wait at a time, four for a disk and four for a network: nobody
    /// holds the last free reader.
    static let readers = 9

    let opened: OpenedDatabase
    private let identity: FileIdentity?
    /// Made with the file, so that a cursor of another cache is told from one of this.
    let cursorKey: UInt64

    init(folder: String?, logger: Logger, willTakeLong: () -> Void = {}) throws(StoreError) {
        opened = try OpenedDatabase.open(.cache, folder: folder, logger: logger, willTakeLong: willTakeLong)
        identity = opened.path.flatMap(Folder.identity(of:))
        do {
            cursorKey = try CacheDatabase.cursorKey(opened.writer)
        } catch {
            // A file that cannot be written is read all the same; its cursors end with this process.
            logger.error("database.unwritable", metadata: ["path": "\(opened.path ?? "")", "error": "\(error)"])
            cursorKey = UInt64.random(in: .min ... .max)
        }
    }

    /// Whether the file this database was opened from is gone from its path.
    var isDeleted: Bool {
        guard let path = opened.path else { return false }
        return Folder.identity(of: path) != identity
    }

    /// How messages name the database.
    var name: String {
        opened.path ?? "\(DatabaseKind.cache.fileName) in memory"
    }

    var sizeOnDisk: Int {
        opened.path.map(Folder.size(ofDatabase:)) ?? 0
    }

    func value(forKey key: String) throws -> String? {
        try opened.writer.read { try CacheDatabase.value(forKey: key, $0) }
    }

    /// Calls the body with every fact, oldest stored first.
    func forEachFact(_ body: (Fact) throws -> Void) throws {
        try opened.writer.read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT \(FactRecord.columns) FROM facts ORDER BY number")
            while let row = try rows.next() {
                try body(try FactRecord.fact(row))
            }
        }
    }

    /// The categories that facts have.
    func categories() throws -> Set<String> {
        try opened.writer.read { try String.fetchSet($0, sql: "SELECT DISTINCT category FROM fact_categories") }
    }

    /// Takes facts in by rules, all or nothing.
    ///
    /// - Parameter completing: what is written together with them.
    func take(
        _ facts: [Fact], _ rules: FactImport.Rules, at now: Timestamp, completing: (Database) throws -> Void
    ) throws -> FactChanges {
        try opened.writer.write { database in
            let changes = try FactImport.run(facts, rules, at: now, database)
            try completing(database)
            return changes
        }
    }

    static func value(forKey key: String, _ database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
    }

    /// - Parameter value: nil takes the key out.
    static func set(_ value: String?, forKey key: String, _ database: Database) throws {
        if let value {
            try database.execute(
                sql: "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", arguments: [key, value]
            )
        } else {
            try database.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [key])
        }
    }

    func close() throws {
        try opened.close()
    }

    private static func cursorKey(_ writer: any DatabaseWriter) throws -> UInt64 {
        let known = try writer.read { try value(forKey: "cursor_key", $0) }
        if let known = known.flatMap(UInt64.init) { return known }
        let key = UInt64.random(in: .min ... .max)
        try writer.write { try set(String(key), forKey: "cursor_key", $0) }
        return key
    }
}
