import Glibc
import Logging
import NorrisThreads

/// One of the three files of the cache.
struct CacheDatabase: Sendable {
    /// One more than the concurrent requests of one user, four for a disk and four for a network, so that one user
    /// cannot occupy all readers.
    static let readers = 9

    let opened: OpenedDatabase
    /// Created with the file, so that a cursor of another cache is invalid.
    let cursorKey: UInt64

    var writer: DatabasePool { opened.writer }

    init(_ opened: OpenedDatabase, _ logger: Logger, _ access: BlockingAccess) {
        self.opened = opened
        do {
            cursorKey = try CacheDatabase.cursorKey(opened.writer, access)
        } catch {
            // A file that cannot be written can still be read; its cursors are valid only in this process.
            logger.error("database.unwritable", metadata: ["path": "\(opened.path ?? "")", "error": "\(error)"])
            cursorKey = UInt64.random(in: .min ... .max)
        }
    }

    var sizeOnDisk: Int { opened.sizeOnDisk }

    func value(forKey key: String, _ access: BlockingAccess) throws -> String? {
        try writer.read(access) { try CacheDatabase.value(forKey: key, $0) }
    }

    static func value(forKey key: String, _ database: Database) throws -> String? {
        try String.fetchOne(database, "SELECT value FROM meta WHERE key = ?", [key])
    }

    /// - Parameter value: nil removes the key.
    static func set(_ value: String?, forKey key: String, _ database: Database) throws {
        if let value {
            try database.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [key, value])
        } else {
            try database.execute("DELETE FROM meta WHERE key = ?", [key])
        }
    }

    private static func cursorKey(_ writer: DatabasePool, _ access: BlockingAccess) throws -> UInt64 {
        let known = try writer.read(access) { try value(forKey: "cursor_key", $0) }
        if let known = known.flatMap(UInt64.init) { return known }
        let key = UInt64.random(in: .min ... .max)
        try writer.write(access) { try set(String(key), forKey: "cursor_key", $0) }
        return key
    }
}
