/// A day of the proleptic Gregorian calendar, years 1 to 9999.
package struct CivilDate: Sendable, Hashable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// `nil` if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...Self.days(inMonth: month, of: year) ~= day else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Exactly `YYYY-MM-DD`; `nil` for anything else and for days that do not exist.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let date = CivilDate(from: &scanner), scanner.isAtEnd else { return nil }
        self = date
    }

    init?(from scanner: inout DigitScanner) {
        guard let year = scanner.number(digits: 4), scanner.take("-"),
            let month = scanner.number(digits: 2), scanner.take("-"),
            let day = scanner.number(digits: 2)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// A year is a leap year if 4 divides it, except centuries that 400 does not divide.
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
    package var description: String {
        String(unsafeUninitializedCapacity: 10) { text in
            write(to: text)
            return 10
        }
    }

    /// Fills the first ten bytes.
    func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        text.write(year, digits: 4, at: 0)
        text[4] = UInt8(ascii: "-")
        text.write(month, digits: 2, at: 5)
        text[7] = UInt8(ascii: "-")
        text.write(day, digits: 2, at: 8)
    }
}

extension CivilDate: WireValue {
    package static var schema: Schema { .date }

    package init(json: JSON) throws(JSONDecodingError) {
        guard case .string(let text) = json, let date = CivilDate(text) else {
            throw JSONDecodingError(message: "must be a date such as \"2026-11-21\"")
        }
        self = date
    }

    package func encode(to json: inout JSONWriter) { json.string(description) }
}

// The proleptic Gregorian calendar (ISO 8601, section 4.2.1) repeats every 400 years, which are 146,097 days: 97 leap
// days and 400 × 365. Years are counted from 1 March, so that the leap day is the last day of its year and the months
// before it have the same place in every year: from March on, month m (0...11) begins on day (153 m + 2) / 5.

extension CivilDate {
    /// Days since 1970-01-01, negative before.
    package var dayNumber: Int {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        // Years are 1 or more, so the year of the era's arithmetic is 0 or more and plain division rounds down.
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + (day - 1) - Self.epoch
    }

    /// The day that many days after 1970-01-01; `nil` outside the years 1 to 9999.
    package init?(dayNumber: Int) {
        guard Self.first...Self.last ~= dayNumber else { return nil }
        let sinceMarchOfYear0 = dayNumber + Self.epoch
        let (era, dayOfEra) = sinceMarchOfYear0.quotientAndRemainder(dividingBy: 146_097)
        // Taking away the leap days passed so far (one in 1,461 days, none in the last of 36,524, one again in the
        // last of 146,097) leaves years of 365 days.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        self.init(
            year: era * 400 + yearOfEra + (month > 2 ? 0 : 1),
            month: month,
            day: dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }

    /// Days from 1 March of the year 0 to 1 January 1970.
    private static let epoch = 719_468

    /// 0001-01-01 and 9999-12-31 as day numbers.
    private static let first = -719_162
    private static let last = 2_932_896
}

/// Reads fixed-width decimal fields from the front of a text, as dates and times have them.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The number in exactly that many digits.
    mutating func number(digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The value of the next byte, which is stepped over, if it is a digit.
    mutating func digit() -> Int? {
        guard let byte = rest.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        rest.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }

    /// Steps over the character if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == character.value else { return false }
        rest.removeFirst()
        return true
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the last `digits` decimal digits of a number that is not negative, at the offset.
    func write(_ number: Int, digits: Int, at offset: Int) {
        var rest = number
        for index in (offset..<offset + digits).reversed() {
            self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}
