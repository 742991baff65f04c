package import NorrisProtocol

/// The three forms of a date in a header field (RFC 9110, section 5.6.7).
package enum HTTPDate {
    /// - Parameter now: decides the century of the obsolete form with two digits of a year.
    /// - Returns: nil for anything else, and for days and times that do not exist. The day of the week is not checked.
    package static func parse(_ text: String, now: Timestamp) -> Timestamp? {
        let parts = text.split(separator: " ")
        switch parts.count {
        case 6 where parts[5] == "GMT" && isWeekday(parts[0], short: true, comma: true):
            // Sun, 06 Nov 1994 08:49:37 GMT
            return timestamp(year: number(parts[3], 4), parts[2], day: number(parts[1], 2), parts[4])
        case 4 where parts[3] == "GMT" && isWeekday(parts[0], short: false, comma: true):
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, let short = number(date[2], 2) else { return nil }
            return twoDigitYear(short, month: date[1], day: number(date[0], 2), time: parts[2], now: now)
        case 5 where isWeekday(parts[0], short: true, comma: false):
            // Sun Nov  6 08:49:37 1994
            let day = number(parts[2], 2) ?? number(parts[2], 1)
            return timestamp(year: number(parts[4], 4), parts[1], day: day, parts[3])
        default:
            return nil
        }
    }

    /// A date more than 50 years ahead is the last one in the past with the same two digits.
    private static func twoDigitYear(
        _ short: Int, month: Substring, day: Int?, time: Substring, now: Timestamp
    ) -> Timestamp? {
        // A timestamp prints as a year of four digits first.
        let thisYear = Int(now.description.prefix(4))!
        let year = thisYear - thisYear % 100 + short
        return timestamp(year: year > thisYear + 50 ? year - 100 : year, month, day: day, time)
    }

    private static func timestamp(year: Int?, _ month: Substring, day: Int?, _ time: Substring) -> Timestamp? {
        let fields = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let year, let month = months.firstIndex(of: month), let day,
            let date = CivilDate(year: year, month: month + 1, day: day),
            fields.count == 3,
            let hour = number(fields[0], 2), hour < 24,
            let minute = number(fields[1], 2), minute < 60,
            // A leap second is the second after it.
            let second = number(fields[2], 2), second <= 60
        else { return nil }
        return Timestamp(seconds: Int64(date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// The number in exactly that many digits.
    private static func number(_ text: Substring, _ digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    private static func isWeekday(_ text: Substring, short: Bool, comma: Bool) -> Bool {
        let names = short ? weekdays.map { String($0.prefix(3)) } : weekdays
        return names.contains { text == (comma ? $0 + "," : $0) }
    }

    private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
