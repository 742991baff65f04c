package import NorrisProtocol

/// A moment as seen from another: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
///
/// Counted in whole units, rounded down; months have 30 days, years 365.
package func relativeTime(of moment: Timestamp, at now: Timestamp) -> String {
    let seconds = difference(moment, now)
    guard seconds >= 60 else { return moment <= now ? "just now" : "in a moment" }
    let text = textInLargestUnit(seconds)
    return moment <= now ? "\(text) ago" : "in \(text)"
}

/// The same for a moment that has passed, but by a clock that may be behind.
func pastTime(_ moment: Timestamp, at now: Timestamp) -> String { relativeTime(of: min(moment, now), at: now) }

/// How long ago a moment was, as `relativeTime` counts it: `3 hours`; nil for less than a minute, and for one to come.
func timePassed(since moment: Timestamp, at now: Timestamp) -> String? {
    let seconds = difference(moment, now)
    return now > moment && seconds >= 60 ? textInLargestUnit(seconds) : nil
}

/// A moment that is to come, as seen from another: `in 5 minutes`; `now` where it should have come already.
package func upcomingTime(of moment: Timestamp, at now: Timestamp) -> String {
    moment > now ? relativeTime(of: moment, at: now) : "now"
}

/// A span of time in its two largest units: `3 days 4 hours`, `5 minutes`; never negative.
package func durationText(seconds: Int) -> String {
    let seconds = UInt64(max(0, seconds))
    // Neither years nor months, which are not all of one length.
    let units = units.dropFirst(2)
    guard let first = units.firstIndex(where: { $0.seconds <= seconds }) else { return text(0, "second") }
    let largest = text(seconds / units[first].seconds, units[first].name)
    guard first + 1 < units.endIndex else { return largest }
    let rest = seconds % units[first].seconds / units[first + 1].seconds
    return rest > 0 ? "\(largest) \(text(rest, units[first + 1].name))" : largest
}

/// In seconds, whichever comes first. Where the ends of time would overflow it is the most there is.
private func difference(_ first: Timestamp, _ second: Timestamp) -> UInt64 {
    let (difference, overflow) = second.seconds.subtractingReportingOverflow(first.seconds)
    return overflow ? UInt64(Int64.max) : difference.magnitude
}

private let units: [(name: String, seconds: UInt64)] = [
    ("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
]

private func text(_ count: UInt64, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }

/// In the largest unit of which there is one; of seconds there may be none.
private func textInLargestUnit(_ seconds: UInt64) -> String {
    let unit = units.first { seconds >= $0.seconds } ?? ("second", 1)
    return text(seconds / unit.seconds, unit.name)
}
