import NorrisPrefetch
import NorrisProtocol
import NorrisServer

/// What `server.metrics` tells, gathered at one moment; all of it from memory but what `server.status` looks up and
/// `/proc/self/statm`.
struct Metrics: Sendable {
    var status: ServerStatus.Result
    var startedAt: Timestamp
    /// Bytes; nil where the kernel does not say.
    var residentMemory: Int?
    var requests: RequestCounts
    /// Connections that were ever served, and those past a limit.
    var connections: (accepted: Int, refused: Int)
    var subscribers: Int
    /// How the runs of each source ended.
    var runs: [String: SourceSchedule.Runs]

    /// OpenMetrics. What is not known has no sample.
    var text: String {
        var writer = OpenMetricsWriter()
        writeDaemon(to: &writer)
        writeRequests(to: &writer)
        writeSources(to: &writer)
        return writer.text
    }

    // Names begin with norrisd_, also those that others call process_…: node_exporter has these of itself, and a file
    // that brings them again spoils its whole page.
    private func writeDaemon(to writer: inout OpenMetricsWriter) {
        writer.family("norrisd_build_info", .gauge, help: "Always 1; the label is the version of norrisd.")
        writer.sample(1, [("version", status.version)])
        writer.family(
            "norrisd_start_time_seconds", .gauge, unit: "seconds", help: "When the daemon began, since 1970 in UTC."
        )
        writer.sample(Int(startedAt.seconds))
        writer.family(
            "norrisd_resident_memory_bytes", .gauge, unit: "bytes", help: "The daemon's memory that is not swapped out."
        )
        if let residentMemory { writer.sample(residentMemory) }
        writer.family("norrisd_degraded", .gauge, help: "Whether something is wrong; norrisctl status says what.")
        writer.sample(status.state == .degraded ? 1 : 0)
        writer.family(
            "norrisd_database_size_bytes", .gauge, unit: "bytes", help: "Databases on disk, with their logs."
        )
        writer.sample(status.database.cacheBytes, [("database", "cache")])
        writer.sample(status.database.stateBytes, [("database", "state")])
        writer.family(
            "norrisd_database_free_bytes", .gauge, unit: "bytes", help: "What the daemon may still write to its disks."
        )
        if let free = status.database.freeBytes { writer.sample(free) }
        writer.family("norrisd_database_read_only", .gauge, help: "Whether a database takes no writes.")
        writer.sample(status.database.isReadOnly ? 1 : 0)
    }
}
