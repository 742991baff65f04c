package import NorrisProtocol

extension Freshness {
    /// What is wrong, as the end of the sentence "the source is …"; nil if nothing is.
    ///
    /// Built-in content without a failure is nothing to be concerned about: no upstream has promised anything yet.
    package func concern(now: Timestamp) -> String? {
        if let error {
            // A used-up quota is no fault to be looked into; when it is back is all there is to know.
            return error.kind == .quota ? error.outlook(now: now) : error.summary(now: now)
        }
        guard state == .stale, origin != .builtin else { return nil }
        return fetchedAt.map { "out of date, last fetched \(pastTime($0, at: now))" } ?? "not fetched yet"
    }

    /// Why content is out of date, where it is.
    func delay(now: Timestamp) -> String? {
        guard state == .stale, origin != .builtin else { return nil }
        return "out of date" + (error.map { ": \($0.outlook(now: now))" } ?? "")
    }

    /// Where content came from: `from the cache, fetched 3 minutes ago`, `from the upstream, just now`.
    func badge(now: Timestamp) -> String {
        let age = fetchedAt.map { pastTime($0, at: now) }
        return switch origin {
        case .upstream: "from the upstream" + (age.map { ", \($0)" } ?? "")
        case .builtin: "built in"
        case .none: "nothing stored"
        case .cache: "from the cache" + (age.map { ", fetched \($0)" } ?? "")
        default: "from \(origin.rawValue)" + (age.map { ", fetched \($0)" } ?? "")
        }
    }
}

extension SourceFailure {
    /// `offline for 3 hours (No route to api.chucknorris.io)`.
    package func summary(now: Timestamp) -> String {
        // Where the daemon was waited for, it happened after the command began.
        let time = timePassed(since: since, at: now).map { "for \($0)" } ?? "just now"
        let detail = message.last == "." ? String(message.dropLast()) : message
        return "\(kind.text) \(time)" + (detail.isEmpty ? "" : " (\(detail))")
    }

    /// The same, and when it is tried again where that is known.
    package func outlook(now: Timestamp) -> String {
        guard let retryAt else { return summary(now: now) }
        return "\(summary(now: now)); next try \(upcomingTime(of: retryAt, at: now))"
    }
}

extension SourceFailure.Kind {
    /// As the end of the sentence "the source is …"; a kind that is not known is told as it came.
    fileprivate var text: String {
        switch self {
        case .timeout: "timing out"
        case .http: "answering with errors"
        case .quota: "out of quota"
        case .decode: "sending unreadable responses"
        case .credentials: "without a valid key"
        default: rawValue
        }
    }
}
