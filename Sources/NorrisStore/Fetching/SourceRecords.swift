package import NorrisFetchProtocol
package import NorrisProtocol

/// The last successful fetch of a source; removed together with its content.
package struct FetchRecord: Sendable, Equatable {
    /// The settings of the fetch, in the caller's form.
    package var settings: String
    /// The time when the upstream sent the last reply, including replies without changes, to norrisd or to a cache.
    package var fetchedAt: Timestamp
    /// Whether a cache sent the reply although it was no longer fresh.
    package var isStale: Bool
    /// The validators of each request of the fetch, by the caller's names.
    package var parts: [String: PartRecord]
    /// The upstream's list of categories.
    package var categories: [String]
    /// The host that sent the last reply, after all redirects.
    package var host: String?
    /// The title of the document, in one line.
    package var title: String?
    /// The address to which permanent redirects have led since the last answer without; nil if there was none.
    package var move: Move?

    /// An address to which all answers of a time have led.
    package struct Move: Sendable, Equatable {
        /// The time, and the number of answers, after which the address counts as the new one.
        private static let (shortestTime, fewestAnswers) = (Duration.seconds(7 * 86_400), 3)

        var address: String
        var since: Timestamp
        var answers = 1

        func isFinal(_ now: Timestamp) -> Bool {
            answers >= Move.fewestAnswers && since.duration(to: now) >= Move.shortestTime
        }
    }

    package init(
        settings: String, fetchedAt: Timestamp, isStale: Bool = false, parts: [String: PartRecord] = [:],
        categories: [String] = [], host: String? = nil, title: String? = nil, move: Move? = nil
    ) {
        self.settings = settings
        self.fetchedAt = fetchedAt
        self.isStale = isStale
        self.parts = parts
        self.categories = categories
        (self.host, self.title, self.move) = (host, title, move)
    }
}

/// The validators of one reply (RFC 9110, section 8.8), byte for byte.
package struct PartRecord: Sendable, Equatable {
    package var etag: String?
    package var lastModified: String?
    /// The time when the upstream last sent or confirmed the validators.
    package var checkedAt: Timestamp

    package init(etag: String? = nil, lastModified: String? = nil, checkedAt: Timestamp) {
        self.etag = etag
        self.lastModified = lastModified
        self.checkedAt = checkedAt
    }
}

/// The fetch records of all sources in `cache.db`, and their schedules in `state.db`, so that a restart causes no
/// earlier request.
package struct SourceRecords: Sendable {
    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// Begins an import into the current generation of a source's content.
    package func beginImport(of source: String) -> SourceImport { SourceImport(of: source, databases) }

    /// Ends the generation of a source's content, because the source goes or gets another address.
    package func endImports(of source: String) { databases.noteCleared(source) }

    /// nil if the source was never fetched, its content was removed, or the record cannot be read.
    package func fetch(of source: String) async -> FetchRecord? {
        try? await databases.read(databases.cache) { try FetchRecord.read(of: source, $0) }
    }

    /// The addresses of moved sources by the settings of their fetches; empty if they cannot be read.
    package func newAddresses(_ now: Timestamp) async -> [String: String] {
        let records = try? await databases.read(databases.cache) { database in
            let sql = "SELECT settings, moved_to, moved_since, answers FROM fetches WHERE moved_to IS NOT NULL"
            return try database.map(sql) { try (settings: $0[0] as String, move: FetchRecord.Move($0, 1)) }
        }
        let moved = (records ?? []).filter { $0.move?.isFinal(now) ?? false }
        return Dictionary(moved.map { ($0.settings, $0.move?.address ?? "") }) { first, _ in first }
    }

    /// The schedule of a source; empty if there is none or it cannot be read.
    package func schedule(of source: String) async -> ScheduleRecord {
        let record = try? await databases.read(databases.state) { database in
            let sql = "SELECT \(SourceRecords.columns) FROM schedules WHERE source = ?"
            return try database.first(sql, [source]) { try ScheduleRecord($0) }
        }
        return record.flatMap { $0 } ?? ScheduleRecord()
    }

    /// The schedules of all names with a prefix, by the rest of the name; empty if they cannot be read.
    package func schedules(of prefix: String) async -> [String: ScheduleRecord] {
        let records = try? await databases.read(databases.state) { database in
            let sql =
                "SELECT \(SourceRecords.columns), substr(source, length(?1) + 1) FROM schedules "
                + "WHERE substr(source, 1, length(?1)) = ?1"
            return try database.map(sql, [prefix]) { try (name: $0[10] as String, record: ScheduleRecord($0)) }
        }
        return Dictionary(uniqueKeysWithValues: (records ?? []).map { ($0.name, $0.record) })
    }

    /// Stores a source's schedule. If the disk fails, the schedule is lost with the process.
    package func write(_ record: ScheduleRecord, for source: String) async {
        // Also for a cancelled run.
        _ = try? await databases.write(databases.state, isCancellable: false) { database in
            // Names of hosts contain a colon. Their holds are forgotten a day after the end.
            if let now = record.failure?.since, source.contains(":") {
                try database.execute(
                    "DELETE FROM schedules WHERE source GLOB '*:*' AND retry_at < ?", [now.seconds - 86_400])
            }
            try database.execute(
                """
                INSERT OR REPLACE INTO schedules (source, \(SourceRecords.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    source, record.lastRunAt, record.wait?.components.seconds, record.retryAt,
                    min(record.failures, Int(Int32.max)), record.failure?.kind.rawValue, record.failure?.message,
                    record.failure?.since, record.settings, record.upstream, record.hadContent,
                ])
        }
    }

    private static let columns = """
        last_run_at, wait, retry_at, failures, failure_kind, failure_message, failure_since, settings, upstream,
        had_content
        """
}

extension ScheduleRecord {
    fileprivate init(_ row: Rows) throws {
        self.init(
            lastRunAt: try row[0], wait: (try row[1] as Int64?).map { .seconds(min(max($0, 0), 1 << 32)) },
            retryAt: try row[2], failures: try row[3], settings: try row[7], upstream: try row[8],
            hadContent: try row[9])
        if let kind: String = try row[4], let since: Timestamp = try row[6] {
            failure = SourceFailure(kind: .init(rawValue: kind), message: try row[5] ?? "", since: since)
        }
    }
}

extension FetchRecord.Move {
    /// The move after one more answer, which has led to an address; nil if it has led to none.
    package init?(to address: String?, after last: Self?, at now: Timestamp) {
        guard let address else { return nil }
        let known = last?.address == address ? last : nil
        self.init(address: address, since: known?.since.past(now) ?? now, answers: (known?.answers ?? 0) + 1)
    }

    /// - Parameter first: the position of its columns.
    fileprivate init?(_ row: Rows, _ first: Int) throws {
        guard let address: String = try row[first] else { return nil }
        self.init(address: address, since: try row[first + 1], answers: try row[first + 2])
    }
}

extension FetchRecord {
    fileprivate static func read(of source: String, _ database: Database) throws -> FetchRecord? {
        let sql = """
            SELECT settings, fetched_at, is_stale, categories, host, title, moved_to, moved_since, answers FROM fetches
            WHERE source = ?
            """
        var record = try database.first(sql, [source]) { row in
            try FetchRecord(
                settings: row[0], fetchedAt: row[1], isStale: row[2], categories: FactTable.categories(row[3]),
                host: row[4], title: row[5], move: Move(row, 6))
        }
        let parts = try database.rows(
            "SELECT part, etag, last_modified, checked_at FROM validators WHERE source = ?", [source])
        while try parts.next() {
            try record?.parts[parts[0]] = PartRecord(etag: parts[1], lastModified: parts[2], checkedAt: parts[3])
        }
        return record
    }

    /// Writes in the caller's transaction, so that content and record agree.
    func write(for source: String, _ database: Database) throws {
        try FetchRecord.remove(source, database)
        try database.execute(
            """
            INSERT INTO fetches (
                source, settings, fetched_at, is_stale, categories, host, title, moved_to, moved_since, answers
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                source, settings, fetchedAt, isStale, categories.joined(separator: " "), host, title,
                move?.address, move?.since, move?.answers,
            ])
        for (name, part) in parts {
            try database.execute(
                "INSERT INTO validators (source, part, etag, last_modified, checked_at) VALUES (?, ?, ?, ?, ?)",
                [source, name, part.etag, part.lastModified, part.checkedAt])
        }
    }

    /// Also removes the validators.
    static func remove(_ source: String, _ database: Database) throws {
        try database.execute("DELETE FROM fetches WHERE source = ?", [source])
    }
}
