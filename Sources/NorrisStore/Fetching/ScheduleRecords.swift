package import NorrisProtocol

/// What of a source's schedule outlives the process.
package struct ScheduleRecord: Sendable, Equatable {
    package var nextRunAt: Timestamp?
    package var backoffUntil: Timestamp?
    /// When the upstream allows the next request.
    package var retryAt: Timestamp?
    /// How many fetches have failed since the last success.
    package var failures: Int
    package var failureKind: String?
    package var failureMessage: String?
    /// When the first of the failures was.
    package var failureSince: Timestamp?
    /// When the last of the failures was.
    package var failedAt: Timestamp?
    /// The settings that the schedule was made with.
    package var settings: String?
    /// Whether the source had content then.
    package var hadContent: Bool

    package init(
        nextRunAt: Timestamp? = nil, backoffUntil: Timestamp? = nil, retryAt: Timestamp? = nil, failures: Int = 0,
        failureKind: String? = nil, failureMessage: String? = nil, failureSince: Timestamp? = nil,
        failedAt: Timestamp? = nil, settings: String? = nil, hadContent: Bool = false
    ) {
        self.nextRunAt = nextRunAt
        self.backoffUntil = backoffUntil
        self.retryAt = retryAt
        self.failures = failures
        self.failureKind = failureKind
        self.failureMessage = failureMessage
        self.failureSince = failureSince
        self.failedAt = failedAt
        self.settings = settings
        self.hadContent = hadContent
    }

    /// From the columns behind the source.
    fileprivate init(_ row: Rows) {
        func time(_ column: Int) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(seconds:)) }
        self.init(
            nextRunAt: time(1), backoffUntil: time(2), retryAt: time(3), failures: row[4], failureKind: row[5],
            failureMessage: row[6], failureSince: time(7), failedAt: time(8), settings: row[9], hadContent: row[10]
        )
    }
}

/// The schedules of all sources, in `state.db`, so that a restart makes no request sooner than they say.
///
/// Blocking. Nothing is thrown: where the disk fails, the schedules last for the run.
package struct ScheduleRecords: Sendable {
    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// By source; empty where they cannot be read.
    package func all() -> [String: ScheduleRecord] {
        let records = try? databases.read(.state) { database in
            let sql = "SELECT source, \(ScheduleRecords.columns) FROM schedules"
            return try database.map(sql) { (source: $0[0] as String, record: ScheduleRecord($0)) }
        }
        return Dictionary(uniqueKeysWithValues: (records ?? []).map { ($0.source, $0.record) })
    }

    /// Stores a source's schedule.
    package func write(_ record: ScheduleRecord, for source: String) {
        _ = try? databases.write(.state) { database in
            try database.execute(
                """
                INSERT OR REPLACE INTO schedules (source, \(ScheduleRecords.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    source, record.nextRunAt?.seconds, record.backoffUntil?.seconds, record.retryAt?.seconds,
                    record.failures, record.failureKind, record.failureMessage, record.failureSince?.seconds,
                    record.failedAt?.seconds, record.settings, record.hadContent,
                ]
            )
        }
    }

    private static let columns = """
        next_run_at, backoff_until, retry_at, failures, failure_kind, failure_message, failure_since, failed_at,
        settings, had_content
        """
}
