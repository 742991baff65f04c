package import Logging
package import NorrisProtocol
import NorrisText
import Synchronization

/// The GIFs in `cache.db`, and the lists in which Giphy gave them.
///
/// The age of a GIF is that of its last fetch. Each read is told how old what it gives may be, for nothing that has
/// passed its time is shown, whether or not ``purge(before:now:)`` has come by.
package final class GifStore: Sendable {
    /// The name that the source has among the fetch records.
    package static let source = "gifs"

    let databases: Databases
    let logger: Logger
    private let stored = Atomic(0)

    /// Counts what is stored; blocking.
    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
        recount()
    }

    /// How many GIFs are stored, expired ones until the next purge included; never waits for the disk.
    package var count: Int { stored.load(ordering: .relaxed) }

    /// Counts again, for a cache that was made anew; blocking.
    package func recount() {
        guard let count = try? databases.read(.gifs, logger: logger, GifRecord.count) else { return }
        stored.store(count, ordering: .relaxed)
    }

    /// - Throws: `failed` or `cancelled`; in both cases nothing has changed.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await databases.write(.gifs, logger: logger) { [self] database in
            let result = try body(database)
            let count = try GifRecord.count(database)
            // Not before it is true, and in the order of the changes.
            database.afterCommit { [self] in stored.store(count, ordering: .relaxed) }
            return result
        }
    }

    func readOr<Result: Sendable>(
        _ fallback: Result, _ body: @escaping @Sendable (Database) throws -> Result
    ) async -> Result {
        (try? await databases.read(.gifs, logger: logger, body)) ?? fallback
    }

    /// Stores GIFs that are of no list.
    ///
    /// - Returns: how many of them are new.
    @discardableResult
    package func put(_ gifs: [Gif], at now: Timestamp = .now()) async throws(StoreError) -> Int {
        try await write { try GifRecord.store(gifs, at: now, $0) }
    }

    /// nil also where the disk cannot be read.
    package func gif(id: String, notBefore: Timestamp) async -> Gif? {
        let sql = "SELECT gif FROM gifs WHERE id = ? AND fetched_at >= ?"
        let text = await readOr(nil) { try String.fetchOne($0, sql: sql, arguments: [id, notBefore.seconds]) }
        return text.flatMap(GifRecord.gif)
    }

    /// Any GIF, each as likely as the others; nil also where the disk cannot be read.
    ///
    /// - Parameters:
    ///   - text: Giphy has given it for this text, or its title or description holds it; nil for any.
    ///   - rating: the strongest that may come.
    package func random(text: String?, rating: String, notBefore: Timestamp) async -> Gif? {
        let query = text.map(GifList.normalized)
        let isAbout = """
            number IN (
                SELECT gif FROM gif_list_items JOIN gif_lists ON gif_lists.number = gif_list_items.list
                WHERE kind = ?1 AND query = ?2 AND gif_lists.fetched_at >= ?5
            )
            OR instr(title, ?3) > 0 OR instr(alt_text, ?3) > 0
            """
        let sql = """
            SELECT gif FROM gifs WHERE rating <= ?4 AND fetched_at >= ?5
            AND (?2 IS NULL OR \(isAbout)) ORDER BY random() LIMIT 1
            """
        let arguments: StatementArguments = [
            GifList.Kind.search.rawValue, query, query.map(caseFolded), GifRating(allowing: rating).rawValue,
            notBefore.seconds,
        ]
        return await readOr(nil) { try String.fetchOne($0, sql: sql, arguments: arguments) }.flatMap(GifRecord.gif)
    }

    /// Which of the ids are not stored, or fetched longer ago; none where the disk cannot be read.
    package func missing(ids: [String], notBefore: Timestamp) async -> [String] {
        await readOr([]) { database in
            let known = try database.cachedStatement(sql: "SELECT 1 FROM gifs WHERE id = ? AND fetched_at >= ?")
            return try ids.filter { try Int.fetchOne(known, arguments: [$0, notBefore.seconds]) == nil }
        }
    }
}
