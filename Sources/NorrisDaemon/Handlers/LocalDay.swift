import Glibc
import NorrisProtocol

/// The calendar of the daemon's time zone.
enum LocalDay {
    /// Today, as localtime(3) has it; the zone is read again each time, for it may be changed under a running daemon.
    static var today: CivilDate {
        var now = time(nil)
        var fields = tm()
        tzset()
        localtime_r(&now, &fields)
        let day = CivilDate(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday)
        )
        guard let day else {
            preconditionFailure("localtime(3) gave a day that is none; the clock is past the year 9999")
        }
        return day
    }
}
