package import NorrisProtocol
import NorrisText

extension Screen {
    /// The state of the daemon: a page for a terminal, else lines with a key, a tab and a value.
    ///
    /// - Parameter isVerbose: whether a page shows what only an administrator needs; the lines always do.
    package mutating func status(_ status: ServerStatus.Result, now: Timestamp, isVerbose: Bool) {
        if let width = layout.width { page(status, isVerbose, width: width, now: now) } else { list(status) }
    }

    // MARK: For a terminal

    private mutating func page(_ status: ServerStatus.Result, _ isVerbose: Bool, width: Int, now: Timestamp) {
        let failing = status.sources.filter(\.isFailing).map(\.name)
        let style: Style = status.state == .ok && failing.isEmpty ? .good : .warning
        // Sources that have failed for a short time do not degrade the daemon.
        let state =
            failing.isEmpty
            ? [status.state.rawValue] : (status.state == .ok ? [] : ["\(status.state.rawValue),"]) + ["failing:"]
        let list = failing.enumerated().map { $1 + ($0 < failing.count - 1 ? "," : "") }
        flow(
            [Span("●", style), Span("norrisd \(status.version)", .bold)] + (state + list).map { Span($0, style) },
            separator: Span(" "), width: width)
        paragraph(status.message)
        line()
        labelled("uptime", [Span(durationText(seconds: status.uptimeSeconds))], width: width)
        if isVerbose {
            labelled("connections", [Span(groupedDigits(status.connections))], width: width)
            labelled("requests", [Span(groupedDigits(status.requestsTotal))], width: width)
        }
        labelled("databases", status.database.parts, width: width)
        sources(status.sources, width: width, now: now)
        let quotas = (isVerbose ? status.sources : []).compactMap { $0.quotaParts(now: now) }
        let errors = status.sources.compactMap { source in source.outlook(now: now).map { (source, $0) } }
        let hosts = status.hosts ?? []
        if !quotas.isEmpty || !hosts.isEmpty || !errors.isEmpty { line() }
        quotas.flatMap { flowed($0, width: width) }.forEach { line($0) }
        for host in hosts {
            let next = clockTime(of: host.until, at: now)
            paragraph("\(host.host): \(host.reason), next request \(next) for \(countText(host.sources, "source"))")
        }
        for (source, outlook) in errors { paragraph("\(source.name): \(outlook)", .warning) }
    }

    private mutating func sources(_ sources: [SourceStatus], width: Int, now: Timestamp) {
        guard !sources.isEmpty else { return }
        line()
        let hasFailures = sources.contains { $0.consecutiveFailures > 0 }
        let titles = ["SOURCE", "ITEMS", "STATE", "NEXT RUN"] + (hasFailures ? ["FAILURES"] : []) + ["KIND"]
        let rows = sources.map { $0.cells(now: now, withFailures: hasFailures) }
        let right: Set = ["ITEMS", "FAILURES"]
        if let lines = table([titles.map { Span($0, .dim) }] + rows, right: right, width: width) {
            lines.forEach { line($0) }
            return
        }
        // Too narrow for a table: a few lines for each source.
        for source in sources {
            line([Span(source.name, .bold)])
            for row in flowed(source.parts(now: now), width: max(1, width - 2)) {
                line([.spaces(2)] + row)
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
        pair("database.cache_bytes", String(database.cacheBytes))
        pair("database.state_bytes", String(database.stateBytes))
        pair("database.read_only", String(database.isReadOnly))
        if let free = database.freeBytes { pair("database.free_bytes", String(free)) }
        for source in status.sources {
            for case (let key, let value?) in source.pairs { pair("source.\(source.name).\(key)", value) }
        }
        for host in status.hosts ?? [] {
            pair("host.\(host.host)", "until \(host.until), \(host.reason), \(countText(host.sources, "source"))")
        }
    }

    private mutating func pair(_ key: String, _ value: String, _ style: Style = .normal) {
        fields([Span(key, .dim), Span(value, style)])
    }
}

extension ServerStatus.Database {
    /// The free space in bytes below which soon nothing can be stored, including the copy before a migration.
    package static let scarceBytes = 64 << 20

    /// The sizes of the databases, the free space, and whether they can be written.
    fileprivate var parts: [Span] {
        let free = freeBytes.map { Span("\(byteSizeText($0)) free", $0 < Self.scarceBytes ? .warning : .normal) }
        let sizes = [Span("cache \(byteSizeText(cacheBytes))"), Span("state \(byteSizeText(stateBytes))"), free]
        return sizes.compactMap { $0 } + (isReadOnly ? [Span("read-only", .warning)] : [])
    }
}

extension SourceStatus {
    /// The failure of a source that is expected to work, with the time of ``nextTry``.
    private var failure: SourceFailure? {
        guard isEnabled, isConfigured != false, var failure = freshness.error else { return nil }
        failure.retryAt = nextTry
        return failure
    }

    /// The time of the next run. The failure may have an earlier time, at which a search of a user may be sent.
    private var nextTry: Timestamp? { nextRunAt ?? freshness.error?.retryAt }

    /// Whether the source has a fault. A used-up quota is no fault.
    fileprivate var isFailing: Bool { failure.map { $0.kind != .quota } ?? false }

    /// The fault, the next attempt, and the age of the content; nil without a fault.
    fileprivate func outlook(now: Timestamp) -> String? {
        guard let failure else { return nil }
        let age = isFailing ? freshness.fetchedAt.map { "; last fetched \(pastTime($0, at: now))" } : nil
        return failure.outlook(now: now) + (age ?? "")
    }

    /// Name, items, state, next run, failures on request, kind.
    fileprivate func cells(now: Timestamp, withFailures: Bool) -> [Span] {
        let failures = Span(consecutiveFailures > 0 ? groupedDigits(consecutiveFailures) : "", .warning)
        return [Span(name, .bold), Span(groupedDigits(items)), state(now: now), Span(nextRun(now: now) ?? "-")]
            + (withFailures ? [failures] : []) + [Span(kind, .dim)]
    }

    /// The cells without name and kind, separated by dots.
    fileprivate func parts(now: Timestamp) -> [(gap: Span, span: Span)] {
        var parts = [Span(countText(items, "item")), state(now: now)]
        if let time = nextRun(now: now) { parts.append(Span("next run \(time)")) }
        if consecutiveFailures > 0 { parts.append(Span(countText(consecutiveFailures, "failure"), .warning)) }
        return parts.map { (.dot, $0) }
    }

    private func state(now: Timestamp) -> Span {
        guard isEnabled else { return Span("off", .dim) }
        if isConfigured == false { return Span("not set up", .dim) }
        if isFailing, let failure {
            let time = timePassed(since: failure.since, at: now).map { " for \($0)" } ?? ""
            return Span("failing\(time)", .warning)
        }
        if freshness.origin == .builtin, freshness.error == nil { return Span("built in") }
        let age = freshness.fetchedAt.map { ", " + pastTime($0, at: now) } ?? ""
        return Span(freshness.state.rawValue + age, freshness.state == .fresh ? .good : .warning)
    }

    private func nextRun(now: Timestamp) -> String? {
        nextTry.map { upcomingTime(of: $0, at: now) }
    }

    /// The quota in words; nil if there is none.
    fileprivate func quotaParts(now: Timestamp) -> [(gap: Span, span: Span)]? {
        guard let quota else { return nil }
        // The last fifth is reserved for searches.
        let isScarce = Double(quota.used) >= 0.8 * Double(quota.limit)
        let words = "\(groupedDigits(quota.used)) of \(countText(quota.limit, "request"))"
        let parts = [Span(name, .bold), Span(words, isScarce ? .warning : .good)].map { (gap: Span(" "), span: $0) }
        guard quota.used > 0 else { return parts }
        return parts + [(.dot, Span("all back \(upcomingTime(of: quota.resetsAt, at: now))"))]
    }

    /// Keys and values for programs, with times as in the protocol; nil for unknown values.
    fileprivate var pairs: [(key: String, value: String?)] {
        [
            ("kind", kind), ("enabled", String(isEnabled)), ("configured", isConfigured.map { String($0) }),
            ("items", String(items)), ("origin", freshness.origin.rawValue), ("state", freshness.state.rawValue),
            ("fetched_at", freshness.fetchedAt?.description),
            ("error", freshness.error.map { "\($0.kind.rawValue): \($0.message)" }),
            ("error_since", freshness.error?.since.description), ("retry_at", freshness.error?.retryAt?.description),
            ("next_run_at", nextRunAt?.description), ("consecutive_failures", String(consecutiveFailures)),
            ("quota.limit", quota.map { String($0.limit) }), ("quota.used", quota.map { String($0.used) }),
            ("quota.resets_at", quota?.resetsAt.description),
        ]
    }
}

/// Rows of cells in aligned columns, two spaces apart; nil if they are too wide.
///
/// - Parameters:
///   - rows: the first contains the titles.
///   - right: the titles of right-aligned columns.
private func table(_ rows: [[Span]], right: Set<String>, width: Int) -> [[Span]]? {
    let widths = rows[0].indices.map { column in rows.map { $0[column].width }.max() ?? 0 }
    guard widths.reduce(2 * (widths.count - 1), +) <= width else { return nil }
    return rows.map { cells in
        cells.enumerated().flatMap { column, cell in
            let space = Span.spaces(widths[column] - cell.width)
            let isLast = column == cells.count - 1
            if right.contains(rows[0][column].text) { return [space, cell] + (isLast ? [] : [.spaces(2)]) }
            return isLast ? [cell] : [cell, space, .spaces(2)]
        }
    }
}
