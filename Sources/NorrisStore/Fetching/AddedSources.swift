package import NorrisProtocol

/// A source of posts that an administrator has added.
package struct AddedSource: Sendable, Equatable {
    package var name: String
    package var settings: SourceSettings

    package init(name: String, settings: SourceSettings) { (self.name, self.settings) = (name, settings) }
}

/// The sources that were added, in `state.db`.
package struct AddedSources: Sendable {
    /// The largest number of sources of posts, including the sources of the configuration.
    package static let maximum = 1000

    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// In the order in which they were added; nil if they cannot be read.
    package func all() async -> [AddedSource]? {
        try? await databases.read(databases.state) { database in
            try database.map("SELECT name, settings FROM sources ORDER BY number") { rows in
                try AddedSource(name: rows[0], settings: rows.content(1))
            }
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
            try ReadMarks.endFirstDay(of: name, database)
        }
    }

    /// - Throws: `-32005` if the disk accepts no writes.
    package func add(_ source: AddedSource) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute(
                "INSERT INTO sources (name, settings) VALUES (?, ?)",
                [source.name, String(decoding: source.settings.jsonBytes, as: UTF8.self)])
        }
    }

    /// Stores changed settings.
    ///
    /// - Throws: `-32005` if the disk accepts no writes.
    package func change(_ source: AddedSource) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute(
                "UPDATE sources SET settings = ? WHERE name = ?",
                [String(decoding: source.settings.jsonBytes, as: UTF8.self), source.name])
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
