package import NorrisProtocol

/// The distance of a moment: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
///
/// In whole units, rounded down; a month has 30 days, a year 365.
package func relativeTime(of moment: Timestamp, at now: Timestamp) -> String {
    let seconds = difference(moment, now)
    guard seconds >= 60 else { return moment <= now ? "just now" : "in a moment" }
    let text = textInLargestUnit(seconds)
    return moment <= now ? "\(text) ago" : "in \(text)"
}

/// The distance of a past moment, according to a clock that may be behind.
func pastTime(_ moment: Timestamp, at now: Timestamp) -> String { relativeTime(of: min(moment, now), at: now) }

/// The time since a moment in the units of `relativeTime`: `3 hours`; nil for less than a minute or a future moment.
func timePassed(since moment: Timestamp, at now: Timestamp) -> String? {
    let seconds = difference(moment, now)
    return now > moment && seconds >= 60 ? textInLargestUnit(seconds) : nil
}

/// The distance of a future moment: `in 5 minutes`; `now` if it has passed.
package func upcomingTime(of moment: Timestamp, at now: Timestamp) -> String {
    moment > now ? relativeTime(of: moment, at: now) : "now"
}

/// A future moment within a day as local time: `at 15:22`; otherwise its distance: `in 2 days`, `in a moment`, `now`.
func clockTime(of moment: Timestamp, at now: Timestamp) -> String {
    let seconds = difference(moment, now)
    guard moment > now, 60..<86_400 ~= seconds else { return upcomingTime(of: moment, at: now) }
    return "at \(moment.localText("%H:%M"))"
}

/// A span of time in its two largest units: `3 days 4 hours`, `5 minutes`; never negative.
package func durationText(seconds: Int) -> String {
    let seconds = UInt64(max(0, seconds))
    // Years and months are omitted, because their lengths vary.
    let units = units.dropFirst(2)
    guard let first = units.firstIndex(where: { $0.seconds <= seconds }) else { return text(0, "second") }
    let largest = text(seconds / units[first].seconds, units[first].name)
    guard first + 1 < units.endIndex else { return largest }
    let rest = seconds % units[first].seconds / units[first + 1].seconds
    return rest > 0 ? "\(largest) \(text(rest, units[first + 1].name))" : largest
}

/// The distance in seconds, without overflow.
private func difference(_ first: Timestamp, _ second: Timestamp) -> UInt64 {
    let (difference, overflow) = second.seconds.subtractingReportingOverflow(first.seconds)
    return overflow ? UInt64(Int64.max) : difference.magnitude
}

private let units: [(name: String, seconds: UInt64)] = [
    ("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
]

private func text(_ count: UInt64, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }

/// In the largest unit that is not zero; seconds may be zero.
private func textInLargestUnit(_ seconds: UInt64) -> String {
    let unit = units.first { seconds >= $0.seconds } ?? ("second", 1)
    return text(seconds / unit.seconds, unit.name)
}
