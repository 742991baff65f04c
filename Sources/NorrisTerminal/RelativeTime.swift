package import NorrisProtocol
import NorrisText

/// The distance of a moment: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
package func relativeTime(of moment: Timestamp, at now: Timestamp) -> String {
    relativeTime(secondsAgo: now.seconds - moment.seconds)
}

/// The distance of a past moment, according to a clock that may be behind.
func pastTime(_ moment: Timestamp, at now: Timestamp) -> String { relativeTime(of: min(moment, now), at: now) }

/// The time since a moment in the units of `relativeTime`: `3 hours`; nil for less than a minute or a future moment.
func timePassed(since moment: Timestamp, at now: Timestamp) -> String? {
    let seconds = now.seconds - moment.seconds
    return seconds >= 60 ? timeText(seconds: seconds) : nil
}

/// The distance of a future moment in whole minutes, rounded up: `in 5 minutes`; `now` if it has passed.
package func upcomingTime(of moment: Timestamp, at now: Timestamp) -> String {
    let seconds = moment.seconds - now.seconds
    return seconds > 0 ? relativeTime(secondsAgo: -(seconds < 60 ? seconds : seconds + 59)) : "now"
}

/// A future moment within a day as local time: `at 15:22`; otherwise its distance: `in 2 days`, `in a moment`, `now`.
func clockTime(of moment: Timestamp, at now: Timestamp) -> String {
    guard 60..<86_400 ~= moment.seconds - now.seconds else { return upcomingTime(of: moment, at: now) }
    return "at \(moment.localText("%H:%M"))"
}

/// A span of time in its two largest units: `3 days 4 hours`, `5 minutes`; never negative. Years and months are
/// omitted, because their lengths vary.
package func durationText(seconds: Int) -> String {
    let seconds = max(0, seconds)
    guard let first = units.firstIndex(where: { $0.seconds <= seconds }) else { return text(0, "second") }
    let largest = text(seconds / units[first].seconds, units[first].name)
    guard first + 1 < units.endIndex else { return largest }
    let rest = seconds % units[first].seconds / units[first + 1].seconds
    return rest > 0 ? "\(largest) \(text(rest, units[first + 1].name))" : largest
}

private let units: [(name: String, seconds: Int)] = [
    ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
]

private func text(_ count: Int, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }
