import NorrisProtocol

extension SourceStatus {
    /// Name, kind, items, state, next run, failures.
    func cells(now: Timestamp) -> [Span] {
        [
            Span(name, .bold),
            Span(kind),
            Span(String(items)),
            state(now: now),
            Span(nextRunAt.map { upcomingTime(of: $0, at: now) } ?? "-"),
            Span(String(consecutiveFailures), consecutiveFailures > 0 ? .warning : .normal),
        ]
    }

    private func state(now: Timestamp) -> Span {
        guard isEnabled else { return Span("off", .dim) }
        if freshness.origin == .builtin, freshness.error == nil {
            return Span("built in")
        }
        let age = freshness.fetchedAt.map { ", " + relativeTime(of: $0, at: now) } ?? ""
        return Span(freshness.state.rawValue + age, freshness.state == .fresh ? .good : .warning)
    }

    /// What does not fit into a table: the failure, and the budget of requests.
    func notes(now: Timestamp) -> [Span] {
        var notes: [Span] = []
        if let error = freshness.error {
            notes.append(Span("\(name): \(error.outlook(now: now))", .warning))
        }
        if let quota {
            let reset = relativeTime(of: quota.resetsAt, at: now)
            notes.append(Span("\(name): \(quota.used) of \(quota.limit) requests used, all back \(reset)", .dim))
        }
        return notes
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
