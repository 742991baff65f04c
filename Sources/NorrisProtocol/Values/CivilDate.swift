import Glibc

/// A day of the proleptic Gregorian calendar, years 1 to 9999.
package struct CivilDate: Sendable, Hashable {
    package let year: Int
    package let month: Int
    package let day: Int

    static let first = CivilDate(validYear: 1, month: 1, day: 1)
    static let last = CivilDate(validYear: 9999, month: 12, day: 31)

    private init(validYear year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// Returns `nil` if the day does not exist.
    package init?(year: Int, month: Int, day: Int) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...Self.days(inMonth: month, of: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Parses exactly `YYYY-MM-DD`. Returns `nil` for other forms and for days that do not exist.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let date = CivilDate(from: &scanner), scanner.isAtEnd else { return nil }
        self = date
    }

    init?(from scanner: inout DigitScanner) {
        guard let year = scanner.number(digits: 4), scanner.take("-"), let month = scanner.number(digits: 2),
            scanner.take("-"), let day = scanner.number(digits: 2)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CivilDate: Comparable {
    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension CivilDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    package var description: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }
}

extension CivilDate: TextValue { package static var schema: Schema { .date } }

extension CivilDate {
    /// The number of days since 1970-01-01; negative before that day.
    package var dayNumber: Int {
        // Years begin in March, so that a leap day is the last day of its year, and five months have 153 days.
        let (year, month) = (month > 2 ? year : year - 1, (month + 9) % 12)
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
    }

    /// Returns the day with this ``dayNumber``; `nil` outside the years 1 to 9999.
    package init?(dayNumber: Int) {
        guard -719_162...2_932_896 ~= dayNumber else { return nil }  // 0001-01-01 to 9999-12-31
        var (time, seconds) = (tm(), time_t(dayNumber * 86_400))
        gmtime_r(&seconds, &time)
        self.init(year: Int(time.tm_year) + 1900, month: Int(time.tm_mon) + 1, day: Int(time.tm_mday))
    }
}

/// Reads decimal fields of fixed width from the start of a text.
struct DigitScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// Consumes exactly this number of digits and returns their value.
    mutating func number(digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Consumes the next byte if it is a digit, and returns its value.
    mutating func digit() -> Int? {
        guard position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[position] else { return nil }
        position += 1
        return Int(bytes[position - 1] - UInt8(ascii: "0"))
    }

    /// Consumes the next character if it is this character.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }
}

/// A nonnegative number of at most this many digits, with zeros before it.
func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: digits - text.utf8.count) + text
}
