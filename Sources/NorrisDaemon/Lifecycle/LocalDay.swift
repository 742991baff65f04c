import Glibc
import NorrisProtocol

/// The calendar of the daemon's time zone.
enum LocalDay {
    /// Today, as localtime(3) has it.
    static var today: CivilDate {
        guard let day = CivilDate(text(of: .now(), format: "%Y-%m-%d")) else {
            preconditionFailure("The clock is past the year 9999")
        }
        return day
    }

    /// A time as strftime(3) writes it, in at most 63 bytes. The zone is read again each time, for it may be changed
    /// under a running daemon.
    static func text(of time: Timestamp, format: String) -> String {
        var (time, fields) = (time_t(time.seconds), tm())
        tzset()
        localtime_r(&time, &fields)
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, format, &fields) }
        }
    }
}
