import Glibc

/// A day of the proleptic Gregorian calendar, years 1 to 9999.
package struct CivilDate: Sendable, Hashable {
    package let year: Int
    package let month: Int
    package let day: Int

    static let first = CivilDate(validYear: 1, month: 1, day: 1)
    static let last = CivilDate(validYear: 9999, month: 12, day: 31)

    private init(validYear year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// `nil` if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...Self.days(inMonth: month, of: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Exactly `YYYY-MM-DD`; `nil` for anything else and for days that do not exist.
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

extension CivilDate {
    /// Days since 1970-01-01, negative before.
    package var dayNumber: Int {
        var time = tm(year: year, month: month, day: day)
        return timegm(&time) / 86_400
    }

    /// The day that many days after 1970-01-01; `nil` outside the years 1 to 9999.
    package init?(dayNumber: Int) {
        guard -719_162...2_932_896 ~= dayNumber else { return nil }  // 0001-01-01 to 9999-12-31
        var (time, seconds) = (tm(), time_t(dayNumber * 86_400))
        gmtime_r(&seconds, &time)
        self.init(year: Int(time.tm_year) + 1900, month: Int(time.tm_mon) + 1, day: Int(time.tm_mday))
    }
}

extension tm {
    fileprivate init(year: Int, month: Int, day: Int) {
        self.init()
        (tm_year, tm_mon, tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
    }
}

/// Reads fixed-width decimal fields from the front of a text, as dates and times have them.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

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
