extension FeedDate {
    /// The offset of a zone in seconds east of UTC: a number of hours and minutes, or a name; nothing is UTC.
    ///
    /// A name that is not known is UTC as well (RFC 5322, section 4.3), military letters too: RFC 822 had their signs
    /// wrong, so nobody knows what is meant by one.
    ///
    /// - Returns: nil for what is no zone.
    static func zoneOffset(_ text: String) -> Int? {
        var name = text.uppercased()
        // `GMT+0100`.
        if name.hasPrefix("GMT") || name.hasPrefix("UTC") { name.removeFirst(3) }
        guard let first = name.first else { return 0 }
        if first == "+" || first == "-" { return numericOffset(name.dropFirst()).map { first == "-" ? -$0 : $0 } }
        guard name.utf8.count <= 5, name.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        return (halfHours[name] ?? 0) * 1800
    }

    /// `0100`, `01:00`, `1:00`, `01` or `1`.
    private static func numericOffset(_ text: Substring) -> Int? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        let hours = fields.count == 1 && text.utf8.count > 2 ? text.dropLast(2) : fields[0]
        let minutes = fields.count == 1 ? (text.utf8.count > 2 ? text.suffix(2) : "00") : fields[1]
        guard fields.count <= 2,
            let hours = number(hours, 1...2), hours < 24, let minutes = number(minutes, 2...2), minutes < 60
        else { return nil }
        return hours * 3600 + minutes * 60
    }

    /// Zones that feeds name, in half hours east of UTC; a name with several meanings is not here.
    private static let halfHours = [
        "AKDT": -16, "AKST": -18, "HST": -20, "PDT": -14, "PST": -16, "MDT": -12, "MST": -14, "CDT": -10, "CST": -12,
        "EDT": -8, "EST": -10, "ART": -6, "BRT": -6, "WEST": 2, "CET": 2, "MEZ": 2, "CEST": 4, "MESZ": 4, "EET": 4,
        "EEST": 6, "MSK": 6, "AWST": 16, "JST": 18, "KST": 18, "ACST": 19, "AEST": 20, "AEDT": 22, "NZST": 24,
        "NZDT": 26,
    ]
}
