import Glibc

/// A moment in whole seconds of the years 1 to 9999, in the wire form of RFC 3339 in UTC with `Z`.
///
/// RFC 3339 has no other years. A moment outside this range, from whatever clock, database or upstream, becomes the
/// nearest moment inside. Every written moment can therefore be read, and no difference overflows.
package struct Timestamp: Sendable, Hashable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = min(max(seconds, Self.firstSecond), Self.lastSecond) }

    /// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
    private static let firstSecond: Int64 = -62_135_596_800
    private static let lastSecond: Int64 = 253_402_300_799

    /// The last moment, which is also each later moment.
    package static let last = Timestamp(seconds: .max)

    package static func now() -> Timestamp { Timestamp(seconds: Int64(time(nil))) }

    /// Parses a date and time of RFC 3339, section 5.6. Returns `nil` for other forms and for times that do not exist.
    ///
    /// Drops fractions and applies offsets; accepts lowercase `t` and `z`. A leap second is valid only at the end of a
    /// day in UTC and becomes the following second.
    package init?(_ rfc3339: String) {
        var scanner = DigitScanner(rfc3339)
        guard let date = CivilDate(from: &scanner), scanner.take("T") || scanner.take("t"),
            let hour = scanner.number(digits: 2), hour < 24, scanner.take(":"), let minute = scanner.number(digits: 2),
            minute < 60, scanner.take(":"), let second = scanner.number(digits: 2), second <= 60,
            Self.skipFraction(&scanner), let offset = Self.offset(&scanner), scanner.isAtEnd
        else { return nil }
        self.init(seconds: Int64(date.dayNumber * Self.secondsOfDay + hour * 3600 + minute * 60 + second - offset))
        if second == 60, seconds % Int64(Self.secondsOfDay) != 0 { return nil }
    }

    /// Returns false if no digit follows the decimal point.
    private static func skipFraction(_ scanner: inout DigitScanner) -> Bool {
        guard scanner.take(".") else { return true }
        guard scanner.digit() != nil else { return false }
        while scanner.digit() != nil {}
        return true
    }

    /// Parses `Z` or `±HH:MM`. Returns seconds east of UTC.
    private static func offset(_ scanner: inout DigitScanner) -> Int? {
        if scanner.take("Z") || scanner.take("z") { return 0 }
        let isWest = scanner.take("-")
        guard isWest || scanner.take("+"), let hours = scanner.number(digits: 2), hours < 24, scanner.take(":"),
            let minutes = scanner.number(digits: 2), minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static let secondsOfDay = 86_400
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.seconds < right.seconds }
}

extension Timestamp: CustomStringConvertible {
    /// `2026-11-21T03:25:04Z`.
    package var description: String {
        let seconds = Int(seconds)
        let secondOfDay = seconds.modulo(Self.secondsOfDay)
        // Not nil: the year is always in the range of a date.
        let date = CivilDate(dayNumber: (seconds - secondOfDay) / Self.secondsOfDay)!
        let (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        return "\(date)T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))Z"
    }
}

extension Timestamp {
    /// The moment in the system's time zone (localtime(3)), formatted by strftime(3), in at most 63 bytes. Reads the
    /// time zone again at each call, because it can change while the process runs.
    package func localText(_ format: String) -> String {
        var fields = localFields
        return String(unsafeUninitializedCapacity: 64) { buffer in
            // Not nil: the buffer has 64 bytes or more. Newer C libraries declare the parameter as not null.
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress!, $0.count, format, &fields) }
        }
    }
}

extension Timestamp {
    /// The day in the system's time zone; the nearest valid day if the time zone leads to year 0 or 10000.
    package var localDay: CivilDate {
        let fields = localFields
        let day = CivilDate(year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday))
        // nil occurs only for the years 0 and 10000.
        return day ?? (seconds < 0 ? .first : .last)
    }

    private var localFields: tm {
        var (time, fields) = (time_t(seconds), tm())
        tzset()
        localtime_r(&time, &fields)
        return fields
    }
}

extension Timestamp {
    /// Returns the first whole second after the duration.
    package func advanced(by duration: Duration) -> Timestamp {
        let bounded = Timestamp.bounded(duration)
        return Timestamp(seconds: seconds + bounded.components.seconds + (bounded.components.attoseconds > 0 ? 1 : 0))
    }

    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        time.advanced(by: .zero - bounded(duration))
    }

    /// Clamps a duration to ±2^40 seconds, which exceeds the difference of any two moments.
    private static func bounded(_ duration: Duration) -> Duration {
        let most = Duration.seconds(1 << 40)
        return min(max(duration, .zero - most), most)
    }

    /// The earlier of this moment and now. A past event is later than now only after the clock was set back. Its age is
    /// then unknown and counts as 0.
    package func past(_ now: Timestamp) -> Timestamp { min(self, now) }

    package func duration(to other: Timestamp) -> Duration { .seconds(other.seconds - seconds) }
}

extension Int {
    /// Returns the nonnegative remainder.
    fileprivate func modulo(_ divisor: Int) -> Int {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

extension Timestamp: TextValue { package static var schema: Schema { .timestamp } }
