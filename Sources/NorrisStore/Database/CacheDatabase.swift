import Glibc
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
    /// The encoded facts, beside the database.
    let factFile: FactFile

    /// - Parameter reason: why there is no folder.
    init(
        folder: String?, reason: String = "no folder is given", logger: Logger, willTakeLong: () -> Void = {}
    ) throws(StoreError) {
        let opened = try OpenedDatabase.open(
            .cache, folder: folder, reason: reason, logger: logger, willTakeLong: willTakeLong
        )
        self.init(opened, logger)
    }

    init(_ opened: OpenedDatabase, _ logger: Logger) {
        self.opened = opened
        identity = opened.path.flatMap(Folder.identity(of:))
        let path = opened.path.map { CacheDatabase.factFile(besides: $0) }
        do {
            cursorKey = try CacheDatabase.cursorKey(opened.writer, facts: path)
        } catch {
            // A file that cannot be written is read all the same; its cursors end with this process.
            logger.error("database.unwritable", metadata: ["path": "\(opened.path ?? "")", "error": "\(error)"])
            cursorKey = UInt64.random(in: .min ... .max)
        }
        factFile = FactFile(path: path, key: cursorKey)
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
        opened.path.map { Folder.size(ofDatabase: $0) + Folder.size(of: CacheDatabase.factFile(besides: $0)) } ?? 0
    }

    private static func factFile(besides path: String) -> String { path + "-facts" }

    func value(forKey key: String) throws -> String? {
        try opened.writer.read { try CacheDatabase.value(forKey: key, $0) }
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

    private static func cursorKey(_ writer: DatabasePool, facts path: String?) throws -> UInt64 {
        let known = try writer.read { try value(forKey: "cursor_key", $0) }
        if let known = known.flatMap(UInt64.init) { return known }
        let key = UInt64.random(in: .min ... .max)
        try writer.write { try set(String(key), forKey: "cursor_key", $0) }
        // The cache is a new one: such a file is what is left of another.
        if let path { unlink(path) }
        return key
    }
}
