package import NorrisProtocol
import NorrisText

extension Freshness {
    /// The fault of a source, for a line that begins with its name; nil without a fault.
    ///
    /// Built-in content without a failure is no fault, because no upstream was asked yet.
    package func concern(now: Timestamp) -> String? {
        if let error {
            // A used-up quota is no fault to correct, so only the time of its end is shown.
            return error.kind == .quota ? error.outlook(now: now) : error.summary(now: now)
        }
        guard state == .stale, origin != .builtin else { return nil }
        return fetchedAt.map { "out of date, last fetched \(pastTime($0, at: now))" } ?? "not fetched yet"
    }

    /// The age of content that is out of date, and the reason; nil for other content.
    func delay(now: Timestamp) -> String? {
        guard state == .stale, origin != .builtin else { return nil }
        let reason = error.map { ": \($0.outlook(now: now))" } ?? ""
        guard let fetchedAt else { return "not fetched yet" + reason }
        // Content that was fetched just now is stale if another source has no content yet, or if an HTTP cache has sent
        // a stale copy.
        guard let age = timePassed(since: fetchedAt, at: now) else { return "some content is out of date" + reason }
        return "out of date, last fetched \(age) ago" + reason
    }
}

extension SourceFailure {
    /// `failing for 3 hours: HTTP 503 from api.chucknorris.io`, `not a feed (text/html)`.
    package func summary(now: Timestamp) -> String {
        // If the command waited for the daemon, the failure may be later than the start of the command.
        let time = timePassed(since: since, at: now).map { " for \($0)" }
        let detail = message.last == "." ? String(message.dropLast()) : message
        if kind == .offline { return "offline\(time ?? "")" + (detail.isEmpty ? "" : ": \(detail)") }
        if detail.isEmpty { return "failing\(time ?? "")" }
        return (time.map { "failing\($0): " } ?? "") + detail
    }

    /// The summary with the time of the next attempt, if known: `rate limit (HTTP 429), next try at 15:22`.
    package func outlook(now: Timestamp) -> String {
        let summary = summary(now: now)
        guard let retryAt else { return summary }
        // After several sentences, another one follows.
        return summary + (message.hasPart(". ") ? ". Next" : ", next") + " try \(clockTime(of: retryAt, at: now))"
    }
}
