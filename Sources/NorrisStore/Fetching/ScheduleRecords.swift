package import Logging
import NorrisProtocol

/// The schedules of all sources, in `state.db`: a restart asks no upstream sooner than they say.
///
/// Blocking. Nothing is thrown: where the disk fails, the schedules last for the run.
package struct ScheduleRecords: Sendable {
    private let databases: Databases
    private let logger: Logger

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// By source; empty where they cannot be read.
    package func all() -> [String: ScheduleRecord] {
        let records = try? databases.read(.state, logger: logger) { database in
            var records: [String: ScheduleRecord] = [:]
            let sql = "SELECT source, \(ScheduleRecords.columns) FROM schedules"
            let rows = try Rows(database.statement(sql))
            while try rows.next() { records[rows[0]] = ScheduleRecord(rows) }
            return records
        }
        return records ?? [:]
    }

    /// Keeps a source's schedule; on the disk when this returns, unless the status says that the state takes no writes.
    package func write(_ record: ScheduleRecord, for source: String) {
        _ = try? databases.write(.state, logger: logger) { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO schedules (source, \(ScheduleRecords.columns))
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
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

extension ScheduleRecord {
    /// From the columns behind the source.
    fileprivate init(_ rows: Rows) {
        func time(_ column: Int) -> Timestamp? { (rows[column] as Int64?).map(Timestamp.init(seconds:)) }
        self.init(
            nextRunAt: time(1),
            backoffUntil: time(2),
            retryAt: time(3),
            failures: rows[4],
            failureKind: rows[5],
            failureMessage: rows[6],
            failureSince: time(7),
            failedAt: time(8),
            settings: rows[9],
            hadContent: rows[10]
        )
    }
}
