import NorrisProtocol

/// Dates of feeds and APIs: RFC 822 and its successors, RFC 3339, ctime(3), JavaScript's, and forms between them.
///
/// A text is read word by word. Each word must have a meaning, and day, month and year must occur once, so that a text
/// that is not understood is no date instead of a wrong one.
struct UpstreamDate {
    /// - Returns: nil for an invalid date, and for dates before 1970 and exactly at its begin, which are placeholders.
    ///   A time without a zone is UTC.
    static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 100 else { return nil }
        var date = UpstreamDate()
        let words = withoutComments(text).uppercased().split { $0.isWhitespace || $0 == "," }
        guard words.allSatisfy({ date.read($0) }) else { return nil }
        return date.timestamp
    }

    private var year, month, day: Int?
    /// In seconds since midnight.
    private var time: Int?
    private var isAfternoon: Bool?
    /// In seconds east of UTC.
    private var zone: Int?
    private var hasWeekday = false

    private var timestamp: Timestamp? {
        guard let year, let month, let day, let date = CivilDate(year: year, month: month, day: day) else { return nil }
        var seconds = time ?? 0
        if let isAfternoon {
            guard time != nil else { return nil }
            // `20:28 PM` is a common mistake; `20:28 AM` could be either.
            let hour = seconds / 3600
            guard hour <= 12 || isAfternoon else { return nil }
            if hour <= 12 { seconds += ((isAfternoon ? 12 : 0) - (hour == 12 ? 12 : 0)) * 3600 }
        }
        let moment = date.dayNumber * 86_400 + seconds - (zone ?? 0)
        return moment > 0 ? Timestamp(seconds: Int64(moment)) : nil
    }

    /// Reads a word. Returns false if it has no meaning after the words before it.
    private mutating func read(_ word: Substring) -> Bool {
        guard let first = word.utf8.first else { return true }
        if first == "+" || first == "-" { return readZone(word) }
        if isDigit(first) { return readNumbers(word) }
        if first == "T", word.utf8.dropFirst().first.map(isDigit) == true { return readNumbers(word.dropFirst()) }
        // `a.m.`, `Nov.`
        let name = word.filter { $0 != "." }
        if let month = UpstreamDate.number(of: name, in: UpstreamDate.months) { return set(&self.month, month) }
        if name == "AM" || name == "PM" { return set(&isAfternoon, name == "PM") }
        if name == "AT" { return true }
        // Days of the week are ignored, because feeds with a wrong day have correct dates. In other languages, they are
        // short words at the beginning.
        let isFirst = month == nil && day == nil && year == nil
        if !hasWeekday, UpstreamDate.number(of: name, in: UpstreamDate.days) != nil || isFirst && name.utf8.count <= 3 {
            hasWeekday = true
            return true
        }
        return readZone(word)
    }

    /// Reads a date, a time, or a part of a date.
    private mutating func readNumbers(_ word: Substring) -> Bool {
        if word.utf8.prefix(3).contains(UInt8(ascii: ":")) { return readTime(word) }
        // `2026-11-21`, `2026/11/21`, `21-Nov-2026`, and what follows in the same word.
        let end = word.firstIndex(of: "T") ?? word.endIndex
        let isISO = word.prefix(4).utf8.allSatisfy(isDigit) && word.utf8.count > 4
        let date = isISO ? word[..<end] : word
        let parts = date.split(separator: date.contains("/") ? "/" : "-", omittingEmptySubsequences: false)
        if parts.count == 3 {
            if isISO {
                guard parts[0].utf8.count == 4, parts[1].utf8.count <= 2, parts[2].utf8.count <= 2,
                    readInteger(parts[0], &year), readInteger(parts[1], &month), readInteger(parts[2], &day)
                else { return false }
                let rest = word[end...].dropFirst()
                return end == word.endIndex || !rest.isEmpty && readNumbers(rest)
            }
            return parts[1].utf8.first.map(isLetter) == true && parts.allSatisfy { read($0) }
        }
        guard parts.count == 1 else { return false }
        // `21st`, but `8PM` is a time.
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard ["", "ST", "ND", "RD", "TH"].contains(word[digits.endIndex...]) else { return false }
        switch digits.utf8.count {
        case 1,
            2 where day == nil:
            return readInteger(digits, &day)
        case 2 where month != nil && year == nil:
            guard let number = Int(digits) else { return false }
            return set(&year, number < 70 ? 2000 + number : 1900 + number)
        case 4: return readInteger(digits, &year)
        default: return false
        }
    }

    /// Reads `03:25`, `03:25:04.5`, or the same with `AM`, `PM` or a zone directly after it.
    private mutating func readTime(_ word: Substring) -> Bool {
        let end = word.firstIndex { !$0.isASCII || !$0.isNumber && $0 != ":" && $0 != "." } ?? word.endIndex
        let parts = word[..<end].prefix { $0 != "." }.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.map { $0.utf8.count <= 2 && isNumber($0) ? Int($0) ?? 60 : 60 }
        // 60 is a leap second.
        guard (2...3).contains(numbers.count), numbers[0] < 24, numbers[1] < 60, (numbers.last ?? 0) <= 60,
            numbers.count == 3 && parts[2].utf8.count == 2 || numbers.count == 2 && numbers[1] < 60
        else { return false }
        guard set(&time, numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)) else {
            return false
        }
        let isLeap = numbers.count == 3 && numbers[2] == 60
        if isLeap, numbers[1] != 59 { return false }
        return end == word.endIndex || read(word[end...])
    }

    /// Reads a zone: a name, an offset, or both as in `GMT+0100`. A name that is not known, or has several meanings, is
    /// UTC (RFC 5322, section 4.3).
    private mutating func readZone(_ word: Substring) -> Bool {
        guard time != nil else { return false }
        let name = word.prefix { $0.isLetter }
        let offset = word[name.endIndex...]
        if offset.isEmpty {
            guard name.utf8.count <= 5, name.utf8.allSatisfy(isLetter) else { return false }
            let offset = UpstreamDate.zones[String(name)]
            // `+0100 CET` has both.
            return zone != nil && offset != nil || set(&zone, offset ?? 0)
        }
        guard ["", "GMT", "UT", "UTC"].contains(name), let sign = offset.first, sign == "+" || sign == "-" else {
            return false
        }
        // `+0100`, `+01:00`, `+1:00`, `+01` or `+1`.
        let parts = offset.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts.joined()
        guard parts.count <= 2, isNumber(digits), digits.utf8.count <= 4, let number = Int(digits) else { return false }
        let (hours, minutes) = digits.utf8.count <= 2 ? (number, 0) : (number / 100, number % 100)
        guard hours <= 14, minutes < 60 else { return false }
        return set(&zone, (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
    }

    private func readInteger(_ digits: Substring, _ value: inout Int?) -> Bool {
        guard isNumber(digits), let number = Int(digits) else { return false }
        return set(&value, number)
    }

    /// Sets a part of the date, which may occur once.
    private func set<Value>(_ part: inout Value?, _ value: Value) -> Bool {
        if part != nil { return false }
        part = value
        return true
    }

    /// The number of a name of which the text is a beginning of at least three letters.
    private static func number(of text: String, in names: [String]) -> Int? {
        guard text.utf8.count >= 3 else { return nil }
        return names.firstIndex { $0.hasPrefix(text) || text == "SEPT" && $0 == "SEPTEMBER" }.map { $0 + 1 }
    }

    private static let months = [
        "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER",
        "DECEMBER",
    ]
    private static let days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"]

    /// The names of zones that have one meaning, in seconds east of UTC.
    private static let zones: [String: Int] = {
        let hours: [Double: String] = [
            -11: "SST", -10: "HST", -9: "AKST", -8: "PST AKDT", -7: "MST PDT", -6: "CST MDT", -5: "EST CDT",
            -4: "EDT AST",
            -3.5: "NST", -3: "ADT ART BRT", -2.5: "NDT", 0: "GMT UT UTC WET Z", 1: "CET MET MEZ MEWT BST WEST WAT",
            2: "CEST MEST MESZ CAT EET SAST WAST",
            3: "EEST MSK EAT", 4: "GST", 7: "WIB ICT", 8: "AWST HKT SGT", 9: "JST KST", 9.5: "ACST", 10: "AEST",
            10.5: "ACDT", 11: "AEDT", 12: "NZST NZT", 13: "NZDT",
        ]
        var zones: [String: Int] = [:]
        for (offset, names) in hours {
            for name in names.split(separator: " ") { zones[String(name)] = Int(offset * 3600) }
        }
        return zones
    }()

    /// Removes comments in parentheses (RFC 5322, section 3.2.2).
    private static func withoutComments(_ text: String) -> String {
        var depth = 0
        return text.filter { character in
            if character == "(" { depth += 1 }
            defer { if character == ")", depth > 0 { depth -= 1 } }
            return depth == 0
        }
    }
}
