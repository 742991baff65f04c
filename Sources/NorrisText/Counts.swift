/// A number with a noun: `9,000 items`, `1 item`.
///
/// - Parameter plural: nil for the noun with an s.
package func countText(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(groupedDigits(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `1,234,567`.
package func groupedDigits(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        text += index > 0 && (digits.count - index).isMultiple(of: 3) ? "," : ""
        text.append(digit)
    }
    return text
}

/// The distance of a moment from now: `3 hours ago`, `in 2 days`, `just now`, `in a moment`.
///
/// - Parameter age: the distance in seconds, negative for a future moment; of moments in the years 1 to 9999, whose
///   distances do not overflow.
package func relativeTime(secondsAgo age: Int64) -> String {
    guard age.magnitude >= 60 else { return age >= 0 ? "just now" : "in a moment" }
    return age >= 0 ? "\(timeText(seconds: age)) ago" : "in \(timeText(seconds: -age))"
}

/// A span of time in its largest unit, rounded down: `3 hours`. A month has 30 days, a year 365.
package func timeText(seconds: Int64) -> String {
    let units: [(name: String, seconds: Int64)] = [
        ("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60),
    ]
    let unit = units.first { seconds >= $0.seconds } ?? ("second", 1)
    let count = seconds / unit.seconds
    return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
}

/// The length of a sound or video: `4:33`, `1:02:03`.
package func lengthText(seconds: Int) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60)
    let start = minutes < 60 ? "\(minutes)" : "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    return "\(start):\(rest < 10 ? "0" : "")\(rest)"
}

/// A rounded number of bytes: `512 B`, `1.2 MiB`, `36 KiB`; with one decimal below ten, never negative.
package func byteSizeText(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var tenths = Double(bytes) * 10 / 1024
    // The largest value, 2^63, is 8 EiB.
    var unit = 0
    // 1,023.5 and more would be rounded to 1,024, which is one of the next unit.
    while tenths >= 10_235 {
        tenths /= 1024
        unit += 1
    }
    let name = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit]
    guard tenths < 99.5 else { return "\(Int((tenths / 10).rounded())) \(name)" }
    let rounded = Int(tenths.rounded())
    return "\(rounded / 10).\(rounded % 10) \(name)"
}
