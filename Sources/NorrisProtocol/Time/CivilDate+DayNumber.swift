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
