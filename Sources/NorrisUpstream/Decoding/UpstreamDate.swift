import NorrisProtocol

/// The dates of all upstreams: RFC 822 and its successors, RFC 3339, JavaScript's, and what comes close to them.
enum UpstreamDate {
    /// - Returns: nil for nonsense, and for days and times that do not exist. A time without a zone is UTC.
    static func parse(_ text: String) -> Timestamp? {
        // No date is as long.
        guard text.utf8.count <= 100 else { return nil }
        let text = withoutComments(text).drop(while: \.isWhitespace)
        return isoDate(text) ?? mailDate(text)
    }

    /// `2026-11-21T03:25:04.5+01:00`, also with a space for the T, without seconds or zone, or the day alone (RFC 3339;
    /// <https://www.w3.org/TR/NOTE-datetime>).
    private static func isoDate(_ text: Substring) -> Timestamp? {
        guard let date = CivilDate(String(text.prefix(10))) else { return nil }
        var rest = text.dropFirst(10)
        if let first = rest.first {
            guard first == "T" || first == "t" || first.isWhitespace else { return nil }
            rest.removeFirst()
        }
        return timestamp(date, time: rest.split(whereSeparator: \.isWhitespace)[...])
    }

    /// `Sat, 21 Nov 2026 03:25:04 +0100`: the weekday, the time, the seconds and the zone may be missing, the names may
    /// be long, the year may have two digits (RFC 5322, sections 3.3 and 4.3). Or `Sat Nov 21 2026 03:25:04 GMT+0100`
    /// (ECMA-262, `Date.prototype.toString`).
    private static func mailDate(_ text: Substring) -> Timestamp? {
        var words = text.split { $0.isWhitespace || $0 == "," }[...]
        if let first = words.first, first.allSatisfy(\.isLetter) { words.removeFirst() }
        // `21-Nov-2026` was usual once.
        if let first = words.first, first.contains("-") {
            words.replaceSubrange(words.startIndex...words.startIndex, with: first.split(separator: "-"))
        }
        var fields = Array(words.prefix(3))
        if fields.first?.first?.isLetter == true, fields.count == 3 { fields.swapAt(0, 1) }
        guard fields.count == 3,
            let day = number(fields[0], 1...2), let month = month(fields[1]), let year = year(fields[2]),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        return timestamp(date, time: words.dropFirst(3))
    }

    /// - Parameter words: what follows the date: nothing, the time, or the time and its zone.
    private static func timestamp(_ date: CivilDate, time words: ArraySlice<Substring>) -> Timestamp? {
        let day = Int64(date.dayNumber) * 86_400
        guard let word = words.first else { return Timestamp(seconds: day) }
        // The zone may follow the time without a space.
        let end = word.firstIndex { !$0.isWholeNumber && $0 != ":" && $0 != "." } ?? word.endIndex
        let zone = ([word[end...]] + words.dropFirst()).joined()
        guard let seconds = timeOfDay(word[..<end]), let offset = zoneOffset(zone) else { return nil }
        return Timestamp(seconds: day + Int64(seconds - offset))
    }

    /// `03:25`, `3:25:04` or `03:25:04.123`, in seconds.
    private static func timeOfDay(_ text: Substring) -> Int? {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        let fields = halves[0].split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count),
            halves.count == 1 || halves.count == 2 && fields.count == 3 && isNumber(halves[1]),
            let hour = number(fields[0], 1...2), hour < 24, let minute = number(fields[1], 2...2), minute < 60,
            // A leap second is the second after it.
            let second = fields.count == 3 ? number(fields[2], 2...2) : 0, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// Three letters tell a month apart, and more must be right: `Nov`, `Sept`, `November`.
    private static func month(_ name: Substring) -> Int? {
        guard name.utf8.count >= 3 else { return nil }
        return months.firstIndex { $0.hasPrefix(name.lowercased()) }.map { $0 + 1 }
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    /// Two digits up to 49 are of this century; three were counted from 1900 (RFC 5322, section 4.3).
    private static func year(_ text: Substring) -> Int? {
        guard let number = number(text, 2...4) else { return nil }
        return switch text.utf8.count {
        case 2: number < 50 ? 2000 + number : 1900 + number
        case 3: 1900 + number
        default: number
        }
    }

    /// The offset of a zone in seconds east of UTC: hours and minutes, or a name; nothing is UTC, and so is a name that
    /// is not known (RFC 5322, section 4.3). Nil for what is no zone.
    private static func zoneOffset(_ text: String) -> Int? {
        var name = text.uppercased()
        // `GMT+0100`.
        if name.hasPrefix("GMT") || name.hasPrefix("UTC") { name.removeFirst(3) }
        guard let first = name.first else { return 0 }
        if first == "+" || first == "-" { return numericOffset(name.dropFirst()).map { first == "-" ? -$0 : $0 } }
        return name.utf8.count <= 5 && name.utf8.allSatisfy(isLetter) ? (halfHours[name] ?? 0) * 1800 : nil
    }

    /// `0100`, `01:00`, `1:00`, `01` or `1`.
    private static func numericOffset(_ text: Substring) -> Int? {
        let digits = text.filter { $0 != ":" }
        guard let number = number(digits[...], 1...4) else { return nil }
        let (hours, minutes) = digits.utf8.count > 2 ? number.quotientAndRemainder(dividingBy: 100) : (number, 0)
        return hours < 24 && minutes < 60 ? hours * 3600 + minutes * 60 : nil
    }

    /// Zones that feeds name, in half hours east of UTC; a name with several meanings is not here.
    private static let halfHours = [
        "AKDT": -16, "AKST": -18, "HST": -20, "PDT": -14, "PST": -16, "MDT": -12, "MST": -14, "CDT": -10, "CST": -12,
        "EDT": -8, "EST": -10, "ART": -6, "BRT": -6, "WEST": 2, "CET": 2, "MEZ": 2, "CEST": 4, "MESZ": 4, "EET": 4,
        "EEST": 6, "MSK": 6, "AWST": 16, "JST": 18, "KST": 18, "ACST": 19, "AEST": 20, "AEDT": 22, "NZST": 24,
        "NZDT": 26,
    ]

    /// The number in that many decimal digits, and nothing else.
    private static func number(_ text: Substring, _ digits: ClosedRange<Int>) -> Int? {
        digits.contains(text.utf8.count) && isNumber(text) ? Int(text) : nil
    }

    /// Without what stands in round brackets (RFC 5322, section 3.2.2).
    private static func withoutComments(_ text: String) -> String {
        var depth = 0
        return text.filter { character in
            if character == "(" { depth += 1 }
            defer { if character == ")", depth > 0 { depth -= 1 } }
            return depth == 0
        }
    }
}
