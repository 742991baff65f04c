package import NorrisProtocol

/// A source of posts that an administrator has added.
package struct AddedSource: Sendable, Equatable {
    package var name: String
    /// A kind of the configuration.
    package var kind: String
    package var url: String
    /// The values of the source, in seconds; nil for those of `posts`.
    package var refresh, keep: Int?

    package init(name: String, kind: String, url: String, refresh: Int? = nil, keep: Int? = nil) {
        (self.name, self.kind, self.url, self.refresh, self.keep) = (name, kind, url, refresh, keep)
    }
}

/// The sources that `source.add` has added, in `state.db`.
package struct AddedSources: Sendable {
    /// The largest number of sources of posts, including the sources of the configuration.
    package static let maximum = 1000

    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// In the order in which they were added; nil if they cannot be read.
    package func all() async -> [AddedSource]? {
        try? await databases.read(databases.state) { database in
            let rows = try database.rows("SELECT name, kind, url, refresh, keep FROM sources ORDER BY number", [])
            var sources: [AddedSource] = []
            while try rows.next() {
                sources.append(
                    try AddedSource(name: rows[0], kind: rows[1], url: rows[2], refresh: rows[3], keep: rows[4]))
            }
            return sources
        }
    }

    /// Gives the name of a new source the read marks of a removed source with its identity, and nothing of another
    /// source that had the name. ``remove(_:identity:)`` undoes it.
    ///
    /// - Parameter identity: equal for sources with equal content.
    /// - Throws: `-32005` if the disk accepts no writes.
    package func prepare(_ name: String, identity: String) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute("DELETE FROM schedules WHERE source = ?", [name])
            try ReadMarks.move(from: ReadMarks.removed(identity), to: name, database)
        }
    }

    /// - Throws: `-32005` if the disk accepts no writes.
    package func add(_ source: AddedSource) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute(
                "INSERT INTO sources (name, kind, url, refresh, keep) VALUES (?, ?, ?, ?, ?)",
                [source.name, source.kind, source.url, source.refresh, source.keep])
        }
    }

    /// Removes a source with its schedule. Its read marks wait for a source with its identity.
    ///
    /// - Throws: `-32005` if the disk accepts no writes.
    package func remove(_ name: String, identity: String) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute("DELETE FROM sources WHERE name = ?", [name])
            try database.execute("DELETE FROM schedules WHERE source = ?", [name])
            try ReadMarks.move(from: name, to: ReadMarks.removed(identity), database)
        }
    }
}
