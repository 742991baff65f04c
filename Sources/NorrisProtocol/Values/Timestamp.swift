import Glibc

/// A moment in whole seconds, as the wire protocol writes it: RFC 3339 in UTC with `Z`.
package struct Timestamp: Sendable, Hashable {
    /// Since 1970-01-01T00:00:00Z, leap seconds not counted.
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    /// The system's wall clock.
    package static func now() -> Timestamp { Timestamp(seconds: Int64(time(nil))) }

    /// A date and time of RFC 3339, section 5.6; `nil` if it is none or does not exist.
    ///
    /// Fractions are dropped, offsets applied; `t` and `z` may be small. A leap second must be the last second of a
    /// day in UTC and is taken for the second after it.
    package init?(_ rfc3339: String) {
        var scanner = DigitScanner(rfc3339)
        guard let date = CivilDate(from: &scanner),
            scanner.take("T") || scanner.take("t"),
            let hour = scanner.number(digits: 2), hour < 24, scanner.take(":"),
            let minute = scanner.number(digits: 2), minute < 60, scanner.take(":"),
            let second = scanner.number(digits: 2), second <= 60,
            Self.skipFraction(&scanner),
            let offset = Self.offset(&scanner),
            scanner.isAtEnd
        else { return nil }
        seconds = Int64(date.dayNumber * Self.secondsOfDay + hour * 3600 + minute * 60 + second - offset)
        if second == 60, seconds % Int64(Self.secondsOfDay) != 0 {
            return nil
        }
    }

    /// False if there is a point without a digit after it.
    private static func skipFraction(_ scanner: inout DigitScanner) -> Bool {
        guard scanner.take(".") else { return true }
        guard scanner.digit() != nil else { return false }
        while scanner.digit() != nil {}
        return true
    }

    /// `Z` or `±HH:MM`, in seconds east of UTC.
    private static func offset(_ scanner: inout DigitScanner) -> Int? {
        if scanner.take("Z") || scanner.take("z") {
            return 0
        }
        let isWest = scanner.take("-")
        guard isWest || scanner.take("+"),
            let hours = scanner.number(digits: 2), hours < 24, scanner.take(":"),
            let minutes = scanner.number(digits: 2), minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static let secondsOfDay = 86_400
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.seconds < right.seconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// `2026-11-21T03:25:04Z`. RFC 3339 knows the years 1 to 9999 only: moments outside them print as the nearest one
    /// inside, so that whatever is written can be read.
    package var description: String {
        let seconds = Int(min(max(seconds, Self.first.seconds), Self.last.seconds))
        let secondOfDay = seconds.modulo(Self.secondsOfDay)
        // The clamp above keeps the day inside the years that a date can have.
        let date = CivilDate(dayNumber: (seconds - secondOfDay) / Self.secondsOfDay)!
        return String(unsafeUninitializedCapacity: 20) { text in
            date.write(to: text)
            text[10] = UInt8(ascii: "T")
            text.write(secondOfDay / 3600, digits: 2, at: 11)
            text[13] = UInt8(ascii: ":")
            text.write(secondOfDay / 60 % 60, digits: 2, at: 14)
            text[16] = UInt8(ascii: ":")
            text.write(secondOfDay % 60, digits: 2, at: 17)
            text[19] = UInt8(ascii: "Z")
            return 20
        }
    }

    /// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
    private static let first = Timestamp(seconds: -62_135_596_800)
    private static let last = Timestamp(seconds: 253_402_300_799)
}

extension Timestamp {
    /// The moment in the system's time zone (localtime(3)), as strftime(3) writes it, in at most 63 bytes. The zone is
    /// read again each time, for it may be changed under a running process.
    package func localText(_ format: String) -> String {
        var (time, fields) = (time_t(seconds), tm())
        tzset()
        localtime_r(&time, &fields)
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, format, &fields) }
        }
    }
}

extension Int {
    /// The remainder that is never negative.
    fileprivate func modulo(_ divisor: Int) -> Int {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

extension Timestamp: WireValue {
    package static var schema: Schema { .timestamp }

    package init(json: JSON) throws(JSONDecodingError) {
        guard case .string(let text) = json, let timestamp = Timestamp(text) else {
            throw JSONDecodingError(message: "must be a time such as \"2026-11-21T03:25:04Z\"")
        }
        self = timestamp
    }

    package func encode(to json: inout JSONWriter) { json.string(description) }
}
