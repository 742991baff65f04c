package import NorrisProtocol

extension Freshness {
    /// The fault of a source, as the end of the sentence "the source is …"; nil without a fault.
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

    /// The reason why content is out of date; nil if it is not.
    func delay(now: Timestamp) -> String? {
        guard state == .stale, origin != .builtin else { return nil }
        return "out of date" + (error.map { ": \($0.outlook(now: now))" } ?? "")
    }

    /// The origin of the content: `from the cache, fetched 3 minutes ago`, `from the upstream, just now`.
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
        // If the command waited for the daemon, the failure may be later than the start of the command.
        let time = timePassed(since: since, at: now).map { "for \($0)" } ?? "just now"
        let detail = message.last == "." ? String(message.dropLast()) : message
        return "\(kind.text) \(time)" + (detail.isEmpty ? "" : " (\(detail))")
    }

    /// The summary with the time of the next attempt, if known.
    package func outlook(now: Timestamp) -> String {
        guard let retryAt else { return summary(now: now) }
        return "\(summary(now: now)); next try \(upcomingTime(of: retryAt, at: now))"
    }
}

extension SourceFailure.Kind {
    /// The end of the sentence "the source is …"; an unknown kind is shown unchanged.
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
