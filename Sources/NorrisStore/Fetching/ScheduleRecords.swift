package import NorrisProtocol

/// The schedules of all sources in `state.db`, so that a restart causes no earlier request.
///
/// Nothing is thrown: if the disk fails, the schedules are lost with the process.
package struct ScheduleRecords: Sendable {
    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// The records by source; empty if they cannot be read.
    package func all() async -> [String: ScheduleRecord] {
        let records = try? await databases.read(.state) { database in
            let sql = "SELECT source, \(ScheduleRecords.columns) FROM schedules"
            return try database.map(sql) { ($0[0] as String, ScheduleRecord($0)) }
        }
        return Dictionary(uniqueKeysWithValues: records ?? [])
    }

    /// Stores a source's schedule.
    package func write(_ record: ScheduleRecord, for source: String) async {
        // Also for a cancelled run.
        _ = try? await databases.write(.state, isCancellable: false) { database in
            try database.execute(
                """
                INSERT OR REPLACE INTO schedules (source, \(ScheduleRecords.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    source, record.nextRunAt?.seconds, record.backoffUntil?.seconds, record.retryAt?.seconds,
                    min(record.failures, Int(Int32.max)), record.failure?.kind.rawValue, record.failure?.message,
                    record.failure?.since.seconds, record.failedAt?.seconds, record.settings, record.hadContent,
                    record.upstream,
                ])
        }
    }

    private static let columns = """
        next_run_at, backoff_until, retry_at, failures, failure_kind, failure_message, failure_since, failed_at,
        settings, had_content, upstream
        """
}

extension ScheduleRecord {
    /// Reads the columns after the source.
    fileprivate init(_ row: Rows) {
        func time(_ column: Int) -> Timestamp? { row[column] }
        self.init(
            nextRunAt: time(1), backoffUntil: time(2), retryAt: time(3), failures: row[4], failedAt: time(8),
            settings: row[9], upstream: row[11], hadContent: row[10])
        if let kind = (row[5] as String?).map(SourceFailure.Kind.init), let since = time(7) {
            failure = SourceFailure(kind: kind, message: row[6] ?? "", since: since)
        }
    }
}
