import Logging
package import NorrisProtocol

/// Taking in what a source gives.
extension PostStore {
    /// Stores what a fetch brought; other posts of the source stay until they were kept long enough.
    ///
    /// - Parameters:
    ///   - authors: those whom the source tells of besides or instead of posts.
    ///   - isComplete: false where the absence of a post proves nothing: then this fetch counts as the last that held
    ///     it, and the next as one that does not.
    ///   - keep: how long a post stays after the last fetch that held it; nil where none is to go for its age.
    ///   - fetch: is written together with them.
    ///   - isCancelled: asked every now and then until all is stored.
    /// - Throws: `cancelled` or `failed`.
    @discardableResult
    package func replace(
        source: String,
        posts: [Post],
        authors: [Post.Author] = [],
        isComplete: Bool,
        keep: Duration?,
        fetch: FetchRecord,
        at now: Timestamp = .now(),
        isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) throws(StoreError) -> PostChanges {
        try change { database in
            var run = PostImport(source: source, at: now, isCancelled: isCancelled, database)
            try run.take(posts, authors: authors)
            let last = isComplete ? try PostStore.lastFetch(of: source, database) : nil
            try run.leaveOthers(last: last ?? now, isComplete: isComplete)
            try run.removeExpired(keep: keep)
            try fetch.write(for: source, database)
            return try run.changes.counted(source, database)
        }
    }

    /// Notes that the source answered without news, and takes out what was kept long enough.
    ///
    /// - Returns: nil where there is no record of a fetch any more: the content that the reply speaks of is gone.
    package func confirm(
        source: String, keep: Duration, fetch: FetchRecord, at now: Timestamp = .now()
    ) -> PostChanges? {
        do throws(StoreError) {
            return try change { database in
                guard try PostStore.lastFetch(of: source, database) != nil else { return nil }
                var run = PostImport(source: source, at: now, isCancelled: { false }, database)
                try run.removeExpired(keep: keep)
                try fetch.write(for: source, database)
                return try run.changes.counted(source, database)
            }
        } catch {
            // Said already. The content is there, or each failing write would cost a fetch.
            return PostChanges(total: count(source: source))
        }
    }

    /// Takes out all posts of a source, and forgets that it was ever fetched. Read marks stay with the state.
    ///
    /// - Returns: how many posts went.
    /// - Throws: `failed`.
    @discardableResult
    package func clear(source: String) throws(StoreError) -> Int {
        try change { try PostStore.remove(source, $0).count }
    }

    /// Takes out the posts of sources that are not configured any more.
    ///
    /// - Parameter before: a source that was fetched at this time or later keeps its posts for now.
    /// - Returns: the ids of the posts that went.
    /// - Throws: `failed`.
    @discardableResult
    package func purgeSources(keeping names: [String], before: Timestamp) throws(StoreError) -> [String] {
        try change { database in
            // Every post has an author of its source.
            let sources = try String.fetchAll(database, sql: "SELECT DISTINCT source FROM authors")
            return try sources.flatMap { source -> [String] in
                if names.contains(where: { $0.hasSameBytes(as: source) }) { return [] }
                if let last = try PostStore.lastFetch(of: source, database), last >= before { return [] }
                return try PostStore.remove(source, database)
            }
        }
    }

    /// - Returns: the ids of the posts that went.
    private static func remove(_ source: String, _ database: Database) throws -> [String] {
        let ids = try String.fetchAll(
            database, sql: "DELETE FROM posts WHERE source = ? RETURNING id", arguments: [source]
        )
        try database.execute(sql: "DELETE FROM authors WHERE source = ?", arguments: [source])
        try FetchRecord.remove(source, database)
        return ids
    }

    private static func lastFetch(of source: String, _ database: Database) throws -> Timestamp? {
        try Int64.fetchOne(
            database, sql: "SELECT fetched_at FROM fetches WHERE source = ?", arguments: [source]
        ).map(Timestamp.init(seconds:))
    }
}

extension PostChanges {
    fileprivate func counted(_ source: String, _ database: Database) throws -> PostChanges {
        var changes = self
        changes.total =
            try Int.fetchOne(database, sql: "SELECT count(*) FROM posts WHERE source = ?", arguments: [source]) ?? 0
        return changes
    }
}
