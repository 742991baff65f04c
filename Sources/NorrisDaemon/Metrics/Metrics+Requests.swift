import NorrisProtocol
import NorrisServer

/// What clients ask.
extension Metrics {
    func writeRequests(to writer: inout OpenMetricsWriter) {
        writer.family("norrisd_connections", .gauge, help: "Connections that are open.")
        writer.sample(status.connections)
        writer.family("norrisd_connections_accepted", .counter, help: "Connections that were served.")
        writer.sample(connections.accepted)
        writer.family("norrisd_connections_refused", .counter, help: "Connections past a limit.")
        writer.sample(connections.refused)
        writer.family("norrisd_subscribers", .gauge, help: "Connections that wait for events.")
        writer.sample(subscribers)

        writer.family("norrisd_requests", .counter, help: "Well-formed requests and notifications that came.")
        for method in requests.methods { writer.sample(method.requests, [("method", method.name)]) }
        writer.sample(requests.unknown, [("method", "unknown")])
        writer.family("norrisd_errors", .counter, help: "Requests that failed, and lines that were none.")
        for (reason, count) in requests.errors { writer.sample(count, [("reason", reason)]) }
        writer.family(
            "norrisd_request_duration_seconds", .histogram, unit: "seconds",
            help: "From a request until its result is ready to be sent."
        )
        for method in requests.methods {
            writer.histogram(
                bounds: Latency.bounds, counts: method.latency.counts, sum: Double(method.latency.nanoseconds) / 1e9,
                [("method", method.name)]
            )
        }
    }
}
