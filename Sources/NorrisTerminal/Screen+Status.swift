package import NorrisProtocol

extension Screen {
    /// How the daemon is: a page for a terminal, else lines of a key, a tab and a value.
    package mutating func status(_ status: ServerStatus.Result, now: Timestamp) {
        if let width = layout.width {
            page(status, width: width, now: now)
        } else {
            list(status)
        }
    }

    // MARK: For a terminal

    private mutating func page(_ status: ServerStatus.Result, width: Int, now: Timestamp) {
        let style: Style = status.state == .ok ? .good : .warning
        flow(
            [Span("●", style), Span("norrisd \(status.version)", .bold), Span(status.state.rawValue, style)],
            separator: Span(" "), width: width
        )
        paragraph(status.message)
        line()
        labelled("uptime", [Span(durationText(seconds: status.uptimeSeconds))], width: width)
        labelled("connections", [Span(groupedDigits(status.connections))], width: width)
        labelled("requests", [Span(groupedDigits(status.requestsTotal))], width: width)
        minutes(Array((status.requestsPerMinute ?? []).suffix(60)), width: width)
        labelled("databases", status.database.parts, width: width)
        sources(status.sources, width: width, now: now)
        let quotas = status.sources.compactMap { $0.quotaParts(now: now) }
        let failures = status.sources.compactMap { $0.failureNote(now: now) }
        if !quotas.isEmpty || !failures.isEmpty {
            line()
        }
        for row in quotas.flatMap({ flowed($0, width: width) }) {
            line(row)
        }
        for failure in failures {
            paragraph(failure, .warning)
        }
    }

    /// The requests of the last minutes as a curve, with how high it is.
    private mutating func minutes(_ counts: [Int], width: Int) {
        guard let largest = counts.max() else { return }
        let scale = Span("at most \(groupedDigits(max(0, largest))) a minute")
        let room = width - Self.labelColumns
        // Beside the scale if it is not too short there.
        let beside = room - scale.width - 3
        let curve = sparkline(counts, columns: beside >= 20 ? beside : room)
        let label = counts.count == 60 ? "last hour" : "last \(counts.count) min"
        labelled(label, [Span(curve, .good), scale], width: width)
    }

    private mutating func sources(_ sources: [SourceStatus], width: Int, now: Timestamp) {
        guard !sources.isEmpty else { return }
        line()
        let hasFailures = sources.contains { $0.consecutiveFailures > 0 }
        let titles: [Table.Column] = [.left("SOURCE"), .right("ITEMS"), .left("STATE"), .left("NEXT RUN")]
        var table = Table(columns: titles + (hasFailures ? [.right("FAILURES")] : []) + [.left("KIND")])
        table.rows = sources.map { $0.cells(now: now, withFailures: hasFailures) }
        if table.width <= width {
            line(table.header)
            for row in table.body {
                line(row)
            }
            return
        }
        // Too narrow for a table: each source as a few lines of its own.
        for source in sources {
            line([Span(source.name, .bold)])
            for row in flowed(source.parts(now: now), width: max(1, width - 2)) {
                line([Span("  ")] + row)
            }
        }
    }

    // MARK: For a pipe

    private mutating func list(_ status: ServerStatus.Result) {
        let database = status.database
        pair("state", status.state.rawValue, status.state == .ok ? .good : .warning)
        pair("message", status.message)
        pair("version", status.version)
        pair("uptime_seconds", String(status.uptimeSeconds))
        pair("connections", String(status.connections))
        pair("requests_total", String(status.requestsTotal))
        if let minutes = status.requestsPerMinute {
            pair("requests_per_minute", minutes.map(String.init).joined(separator: " "))
        }
        pair("database.cache_bytes", String(database.cacheBytes))
        pair("database.state_bytes", String(database.stateBytes))
        pair("database.read_only", String(database.isReadOnly))
        if let free = database.freeBytes {
            pair("database.free_bytes", String(free))
        }
        for source in status.sources {
            for (key, value) in source.pairs {
                pair("source.\(source.name).\(key)", value)
            }
        }
    }

    private mutating func pair(_ key: String, _ value: String, _ style: Style = .normal) {
        fields([Span(key, .dim), Span(value, style)])
    }
}
