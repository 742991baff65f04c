import Glibc
import NorrisProtocol

/// The calendar of the daemon's time zone.
enum LocalDay {
    /// Today, as localtime(3) has it.
    static var today: CivilDate {
        let fields = fields(of: time(nil))
        let day = CivilDate(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday)
        )
        guard let day else {
            preconditionFailure("localtime(3) gave a day that is none; the clock is past the year 9999")
        }
        return day
    }

    /// A time as strftime(3) writes it, in at most 63 bytes.
    static func text(of time: Timestamp, format: String) -> String {
        var fields = fields(of: time_t(time.seconds))
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, format, &fields) }
        }
    }

    /// The zone is read again each time, for it may be changed under a running daemon.
    private static func fields(of time: time_t) -> tm {
        var time = time
        var fields = tm()
        tzset()
        localtime_r(&time, &fields)
        return fields
    }
}
