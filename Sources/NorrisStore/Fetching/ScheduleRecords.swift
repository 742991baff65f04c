import GRDB
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
        do {
            return try databases.state.opened.writer.read { database in
                var records: [String: ScheduleRecord] = [:]
                let sql = "SELECT source, \(ScheduleRecords.columns) FROM schedules"
                let rows = try Row.fetchCursor(database, sql: sql)
                while let row = try rows.next() { records[row[0]] = ScheduleRecord(row) }
                return records
            }
        } catch {
            logger.error("schedules.unreadable", metadata: ["error": "\(error)"])
            return [:]
        }
    }

    /// Keeps a source's schedule; on the disk when this returns, unless the status says that the state takes no writes.
    package func write(_ record: ScheduleRecord, for source: String) {
        do {
            try databases.state.opened.writer.write { database in
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
            databases.noteWriteSuccess(of: .state, logger)
        } catch {
            databases.noteWriteFailure(error, of: .state, logger)
        }
    }

    private static let columns = """
        next_run_at, backoff_until, retry_at, failures, failure_kind, failure_message, failure_since, failed_at,
        settings, had_content
        """
}

extension ScheduleRecord {
    fileprivate init(_ row: Row) {
        func time(_ column: String) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(seconds:)) }
        self.init(
            nextRunAt: time("next_run_at"),
            backoffUntil: time("backoff_until"),
            retryAt: time("retry_at"),
            failures: row["failures"],
            failureKind: row["failure_kind"],
            failureMessage: row["failure_message"],
            failureSince: time("failure_since"),
            failedAt: time("failed_at"),
            settings: row["settings"],
            hadContent: row["had_content"]
        )
    }
}
