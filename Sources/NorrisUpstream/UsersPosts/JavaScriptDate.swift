import NorrisProtocol

/// A date as JavaScript's `Date.prototype.toString` writes it (ECMA-262, section 21.4.4.41), with or without the name
/// of the time zone: `Tue Mar 08 2022 06:56:06 GMT-0500 (Colombia Standard Time)`.
///
/// - Returns: nil for anything else, and for days and times that do not exist. Names in any case; the day of the week
///   is not compared with the date.
func javaScriptDate(_ text: String) -> Timestamp? {
    let date = text.prefix { $0 != "(" }
    guard date.endIndex == text.endIndex || text.last == ")" else { return nil }
    let fields = date.split(separator: " ").map { $0.lowercased() }
    guard fields.count == 6, weekdays.contains(fields[0]), let month = months.firstIndex(of: fields[1]),
        let day = number(fields[2]), let year = number(fields[3], digits: 4),
        let date = CivilDate(year: year, month: month + 1, day: day),
        let second = secondOfDay(fields[4]), let offset = offset(fields[5])
    else { return nil }
    return Timestamp(seconds: Int64(date.dayNumber * 86_400 + second - offset))
}

private func secondOfDay(_ time: String) -> Int? {
    let fields = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
    guard fields.count == 3, let hour = fields[0], hour < 24, let minute = fields[1], minute < 60,
        let second = fields[2], second < 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
}

/// `gmt-0500`, in seconds east of Greenwich.
private func offset(_ zone: String) -> Int? {
    let isWest = zone.hasPrefix("gmt-")
    guard isWest || zone.hasPrefix("gmt+"), let digits = number(zone.dropFirst(4), digits: 4),
        digits / 100 < 24, digits % 100 < 60
    else { return nil }
    return (isWest ? -1 : 1) * (digits / 100 * 3600 + digits % 100 * 60)
}

/// The number in exactly that many digits.
private func number(_ text: some StringProtocol, digits: Int = 2) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(text)
}

private let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
private let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
