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

extension CivilDate: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        guard case .string(let text) = json, let date = CivilDate(text) else {
            throw JSONDecodingError(message: "must be a date such as \"2026-11-21\"")
        }
        self = date
    }

    package func encode(to json: inout JSONWriter) { json.string(description) }
}
