package import NorrisProtocol

/// A moment as seen from another: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
///
/// Counted in whole units, rounded down; months have 30 days, years 365.
package func relativeTime(of moment: Timestamp, at now: Timestamp) -> String {
    let (difference, overflow) = now.seconds.subtractingReportingOverflow(moment.seconds)
    // Both ends of an overflow lie billions of years apart; the sign is all that can be told.
    let isPast = overflow ? now > moment : difference >= 0
    let seconds = overflow ? UInt64(Int64.max) : difference.magnitude
    guard seconds >= 60 else { return isPast ? "just now" : "in a moment" }
    let text = TimeUnit.text(ofLargestIn: seconds)
    return isPast ? "\(text) ago" : "in \(text)"
}

/// How long ago a moment was, as `relativeTime` counts it: `3 hours`; nil for less than a minute, and for one to come.
func timePassed(since moment: Timestamp, at now: Timestamp) -> String? {
    let (seconds, overflow) = now.seconds.subtractingReportingOverflow(moment.seconds)
    guard overflow ? now > moment : seconds >= 60 else { return nil }
    return TimeUnit.text(ofLargestIn: overflow ? UInt64(Int64.max) : seconds.magnitude)
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
    let count = seconds / units[first].seconds
    var text = units[first].text(count)
    if first + 1 < units.count {
        let second = seconds % units[first].seconds / units[first + 1].seconds
        text += second > 0 ? " " + units[first + 1].text(second) : ""
    }
    return text
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
        let units: [TimeUnit] = [.year, .month, .day, .hour, .minute]
        let unit = units.first { seconds >= $0.seconds } ?? .second
        return unit.text(seconds / unit.seconds)
    }

    func text(_ count: UInt64) -> String {
        "\(count) \(rawValue)\(count == 1 ? "" : "s")"
    }
}
