package import NorrisProtocol

/// A moment as seen from another: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
///
/// Counted in whole units, rounded down; months have 30 days, years 365.
package func relativeTime(of moment: Timestamp, at now: Timestamp) -> String {
    let seconds = difference(moment, now)
    guard seconds >= 60 else { return moment <= now ? "just now" : "in a moment" }
    let text = TimeUnit.text(ofLargestIn: seconds)
    return moment <= now ? "\(text) ago" : "in \(text)"
}

/// The same for a moment that has passed, but by a clock that may be behind.
func pastTime(_ moment: Timestamp, at now: Timestamp) -> String {
    relativeTime(of: min(moment, now), at: now)
}

/// How long ago a moment was, as `relativeTime` counts it: `3 hours`; nil for less than a minute, and for one to come.
func timePassed(since moment: Timestamp, at now: Timestamp) -> String? {
    let seconds = difference(moment, now)
    return now > moment && seconds >= 60 ? TimeUnit.text(ofLargestIn: seconds) : nil
}

/// A moment that is to come, as seen from another: `in 5 minutes`; `now` where it should have come already.
package func upcomingTime(of moment: Timestamp, at now: Timestamp) -> String {
    moment > now ? relativeTime(of: moment, at: now) : "now"
}

/// A span of time in its two largest units: `3 days 4 hours`, `5 minutes`; never negative.
package func durationText(seconds: Int) -> String {
    let seconds = UInt64(max(0, seconds))
    let units: [TimeUnit] = [.day, .hour, .minute, .second]
    guard let first = units.firstIndex(where: { $0.seconds <= seconds }) else { return TimeUnit.second.text(0) }
    let text = units[first].text(seconds / units[first].seconds)
    guard first + 1 < units.count else { return text }
    let rest = seconds % units[first].seconds / units[first + 1].seconds
    return rest > 0 ? "\(text) \(units[first + 1].text(rest))" : text
}

/// In seconds, whichever comes first. Where the ends of time would overflow it is the most there is.
private func difference(_ first: Timestamp, _ second: Timestamp) -> UInt64 {
    let (difference, overflow) = second.seconds.subtractingReportingOverflow(first.seconds)
    return overflow ? UInt64(Int64.max) : difference.magnitude
}

private enum TimeUnit: String {
    case year, month, day, hour, minute, second

    var seconds: UInt64 {
        switch self {
        case .year: 365 * 86_400
        case .month: 30 * 86_400
        case .day: 86_400
        case .hour: 3_600
        case .minute: 60
        case .second: 1
        }
    }

    static func text(ofLargestIn seconds: UInt64) -> String {
        let unit = [year, month, day, hour, minute].first { seconds >= $0.seconds } ?? .second
        return unit.text(seconds / unit.seconds)
    }

    func text(_ count: UInt64) -> String { "\(count) \(rawValue)\(count == 1 ? "" : "s")" }
}
