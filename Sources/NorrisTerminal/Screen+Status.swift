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
        let database = status.database
        let sizes = "cache \(byteSizeText(database.cacheBytes)), state \(byteSizeText(database.stateBytes))"
        pairs([
            ("state", Span(status.state.rawValue, status.state == .ok ? .good : .warning)),
            ("message", Span(status.message)),
            ("version", Span(status.version)),
            ("uptime", Span(durationText(seconds: status.uptimeSeconds))),
            ("connections", Span(String(status.connections))),
            ("requests", Span(String(status.requestsTotal))),
            ("databases", database.isReadOnly ? Span(sizes + ", read-only", .warning) : Span(sizes)),
        ])
        guard !status.sources.isEmpty else { return }
        line()
        sources(status.sources, width: width, now: now)
        let notes = status.sources.flatMap { $0.notes(now: now) }
        if !notes.isEmpty {
            line()
        }
        for note in notes {
            paragraph(note.text, note.style)
        }
    }

    private mutating func pairs(_ pairs: [(key: String, value: Span)]) {
        for (key, value) in pairs {
            entry([(Span(key, .dim), 11)], value)
        }
    }

    private mutating func sources(_ sources: [SourceStatus], width: Int, now: Timestamp) {
        var table = Table(columns: [
            .left("SOURCE"), .left("KIND"), .right("ITEMS"), .left("STATE"), .left("NEXT RUN"), .right("FAILURES"),
        ])
        table.rows = sources.map { $0.cells(now: now) }
        if table.width <= width {
            line(table.header)
            for row in table.body {
                line(row)
            }
            return
        }
        // Too narrow for a table: each source as a list of its own.
        for (index, cells) in table.rows.enumerated() {
            if index > 0 {
                line()
            }
            pairs(zip(table.columns, cells).map { ($0.title.lowercased(), $1) })
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
        pair("database.cache_bytes", String(database.cacheBytes))
        pair("database.state_bytes", String(database.stateBytes))
        pair("database.read_only", String(database.isReadOnly))
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
