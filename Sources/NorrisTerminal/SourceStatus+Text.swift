import NorrisProtocol

extension SourceStatus {
    /// Name, items, state, next run, failures if asked for, kind.
    func cells(now: Timestamp, withFailures: Bool) -> [Span] {
        let failures = Span(consecutiveFailures > 0 ? groupedDigits(consecutiveFailures) : "", .warning)
        return [Span(name, .bold), Span(groupedDigits(items)), state(now: now), Span(nextRun(now: now) ?? "-")]
            + (withFailures ? [failures] : []) + [Span(kind, .dim)]
    }

    /// The same without name and kind, with dots between them.
    func parts(now: Timestamp) -> [(gap: Span, span: Span)] {
        var parts = [Span(countText(items, "item")), state(now: now)]
        if let time = nextRun(now: now) {
            parts.append(Span("next run \(time)"))
        }
        if consecutiveFailures > 0 {
            parts.append(Span(countText(consecutiveFailures, "failure"), .warning))
        }
        return parts.map { (Span(" · ", .dim), $0) }
    }

    private func state(now: Timestamp) -> Span {
        guard isEnabled else { return Span("off", .dim) }
        if freshness.origin == .builtin, freshness.error == nil {
            return Span("built in")
        }
        let age = freshness.fetchedAt.map { ", " + relativeTime(of: min($0, now), at: now) } ?? ""
        return Span(freshness.state.rawValue + age, freshness.state == .fresh ? .good : .warning)
    }

    private func nextRun(now: Timestamp) -> String? {
        (nextRunAt ?? freshness.error?.retryAt).map { upcomingTime(of: $0, at: now) }
    }

    /// What is wrong with it; nil if nothing is.
    func failureNote(now: Timestamp) -> String? {
        freshness.error.map { "\(name): \($0.outlook(now: now))" }
    }

    /// Its budget of requests as a bar and in words; nil if it has none.
    func quotaParts(now: Timestamp) -> [(gap: Span, span: Span)]? {
        guard let quota else { return nil }
        // The last fifth is kept for searches.
        let isScarce = Double(quota.used) >= 0.8 * Double(quota.limit)
        var parts = [Span(name, .bold), Span(gauge(quota.used, of: quota.limit), isScarce ? .warning : .good)]
            .map { (gap: Span(" "), span: $0) }
        parts.append((Span(" "), Span("\(groupedDigits(quota.used)) of \(countText(quota.limit, "request"))")))
        if quota.used > 0 {
            parts.append((Span(" · ", .dim), Span("all back \(upcomingTime(of: quota.resetsAt, at: now))")))
        }
        return parts
    }

    /// For programs: what is known, times as on the wire.
    var pairs: [(key: String, value: String)] {
        let all: [(String, String?)] = [
            ("kind", kind),
            ("enabled", String(isEnabled)),
            ("items", String(items)),
            ("origin", freshness.origin.rawValue),
            ("state", freshness.state.rawValue),
            ("fetched_at", freshness.fetchedAt?.description),
            ("error", freshness.error.map { "\($0.kind.rawValue): \($0.message)" }),
            ("error_since", freshness.error?.since.description),
            ("retry_at", freshness.error?.retryAt?.description),
            ("next_run_at", nextRunAt?.description),
            ("consecutive_failures", String(consecutiveFailures)),
            ("quota.limit", quota.map { String($0.limit) }),
            ("quota.used", quota.map { String($0.used) }),
            ("quota.resets_at", quota?.resetsAt.description),
        ]
        return all.compactMap { key, value in value.map { (key, $0) } }
    }
}
