import GRDB
import Logging
import NorrisProtocol

/// `cache.db`: the facts on disk, and the search over them.
///
/// Blocking; called from the places that may wait.
struct CacheDatabase: Sendable {
    let opened: OpenedDatabase
    private let identity: FileIdentity?
    /// Made with the file, so that a cursor of another cache is told from one of this.
    let cursorKey: UInt64

    init(folder: String?, logger: Logger) throws(StoreError) {
        opened = try OpenedDatabase.open(.cache, folder: folder, logger: logger)
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

    var sizeOnDisk: Int {
        opened.path.map(Folder.size(ofDatabase:)) ?? 0
    }

    func value(forKey key: String) throws -> String? {
        try opened.writer.read { database in
            try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
        }
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

    /// What a replacement changed.
    struct Changes: Equatable {
        /// New facts and facts whose content is another, in the order of storing.
        var stored: [Fact] = []
        var removed: [String] = []
    }

    /// Puts a group's facts in place of those it has, all or nothing.
    ///
    /// - Parameters:
    ///   - keeping: whether a fact of the group stays although it is not among the new ones.
    ///   - marks: entries of `meta` written with them.
    func replace(
        _ group: FactGroup,
        with facts: [Fact],
        keeping: (Fact) -> Bool = { _ in false },
        marks: [String: String] = [:],
        at now: Timestamp
    ) throws -> Changes {
        try opened.writer.write { database in
            var changes = Changes()
            var known: [String: Fact] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT \(FactRecord.columns) FROM facts")
            while let row = try rows.next() {
                let fact = try FactRecord.fact(row)
                if FactGroup(source: fact.source) == group { known[fact.id] = fact }
            }
            // Highest id first, so that within one import the order of storing is that of the contract, backwards.
            for fact in facts.sorted(by: { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }) {
                guard known.removeValue(forKey: fact.id) != fact else { continue }
                try FactRecord.store(fact, at: now, database)
                changes.stored.append(fact)
            }
            for fact in known.values where !keeping(fact) {
                try database.cachedStatement(sql: "DELETE FROM facts WHERE id = ?").execute(arguments: [fact.id])
                changes.removed.append(fact.id)
            }
            for (key, value) in marks {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", arguments: [key, value]
                )
            }
            return changes
        }
    }

    func close() throws {
        try opened.close()
    }

    private static func cursorKey(_ writer: any DatabaseWriter) throws -> UInt64 {
        let known = try writer.read { database in
            try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'cursor_key'")
        }
        if let known = known.flatMap(UInt64.init) { return known }
        let key = UInt64.random(in: .min ... .max)
        try writer.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO meta (key, value) VALUES ('cursor_key', ?)", arguments: [String(key)]
            )
        }
        return key
    }
}
