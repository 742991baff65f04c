package import NorrisProtocol

/// How GIFs come to an end, and how a run does.
extension GifStore {
    /// Takes out what was fetched longer ago, GIFs and lists. A disk that takes no writes is noted.
    ///
    /// - Returns: how many GIFs went.
    @discardableResult
    package func purge(before oldest: Timestamp, now: Timestamp = .now()) async -> Int {
        let removed = try? await write { database in
            for table in ["gifs", "gif_lists"] {
                // What is of the future was fetched before the clock was set back, and would stay for too long.
                try database.execute(
                    sql: "UPDATE \(table) SET fetched_at = ? WHERE fetched_at > ?",
                    arguments: [now.seconds, now.seconds]
                )
            }
            try database.execute(sql: "DELETE FROM gif_lists WHERE fetched_at < ?", arguments: [oldest.seconds])
            try database.execute(sql: "DELETE FROM gifs WHERE fetched_at < ?", arguments: [oldest.seconds])
            return database.changesCount
        }
        return removed ?? 0
    }

    /// Takes out all GIFs and lists, and forgets that they were ever fetched.
    ///
    /// - Returns: how many GIFs went.
    @discardableResult
    package func clear() async throws(StoreError) -> Int {
        try await write { database in
            try FetchRecord.remove(GifStore.source, database)
            try database.execute(sql: "DELETE FROM gif_lists")
            try database.execute(sql: "DELETE FROM gifs")
            return database.changesCount
        }
    }

    /// Writes down that a run has brought these lists.
    ///
    /// - Returns: false where one of them is gone again, as after clearing: then the run has brought nothing.
    package func finishRun(_ fetch: FetchRecord, of lists: [GifList]) async throws(StoreError) -> Bool {
        try await databases.write(.gifs, .fetches, logger: logger) { database in
            guard try lists.allSatisfy({ try StoredGifList.find($0, database) != nil }) else { return false }
            try fetch.write(for: GifStore.source, database)
            return true
        }
    }
}
