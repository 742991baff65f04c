import NorrisProtocol

/// Dates of feeds and APIs: RFC 822 and its successors, RFC 3339, ctime(3), JavaScript's, seconds since 1970, and forms
/// between them, with the names of months and days in several languages.
///
/// A text is read word by word. Each word must have a meaning, and day, month and year must occur once, so that a text
/// that is not understood is no date instead of a wrong one.
struct UpstreamDate {
    /// - Returns: nil for an invalid date, and for dates before 1970 and exactly at its begin, which are placeholders.
    ///   A time without a zone is UTC.
    static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 100 else { return nil }
        var letters = withoutComments(text).uppercased()
        if !letters.utf8.allSatisfy({ $0 < 0x80 }) { letters = String(letters.map { plainLetters[$0] ?? $0 }) }
        let words = letters.split { $0.isWhitespace || $0 == "," }
        guard let first = words.first else { return nil }
        if words.count == 1, let moment = unixTime(first) { return moment }
        // A day of the week can also be the beginning of a month: `mar, 21 nov 2024`.
        let isDay = days.contains(first.filter { $0 != "." })
        guard let date = UpstreamDate(words[...]) ?? (isDay ? UpstreamDate(words.dropFirst()) : nil) else { return nil }
        // A place is no zone without its rules: `09:15[Europe/Paris]`.
        return text.contains("[") && date.zone == nil && date.zoneName == nil ? nil : date.timestamp
    }

    /// Seconds or milliseconds since 1970, between 2001 and 2033. Other numbers can be digits of a date.
    private static func unixTime(_ word: Substring) -> Timestamp? {
        let digits = word.prefix { $0 != "." }
        guard digits.first == "1", [10, 13].contains(digits.utf8.count), isNumber(word.filter { $0 != "." }) else {
            return nil
        }
        return Int64(digits).map { Timestamp(seconds: digits.utf8.count == 10 ? $0 : $0 / 1000) }
    }

    /// Returns nil if a word has no meaning.
    private init?(_ words: ArraySlice<Substring>) { guard words.allSatisfy({ read($0) }) else { return nil } }

    private var year, month, day: Int?
    /// In seconds since midnight.
    private var time: Int?
    private var isAfternoon: Bool?
    /// In seconds east of UTC, by its number.
    private var zone: Int?
    private var zoneName: String?
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
        // A letter is UTC (RFC 5322, section 4.3).
        let named = zoneName.flatMap { $0.utf8.count == 1 ? 0 : UpstreamDate.zones[$0] }
        guard let offset = zone ?? (zoneName == nil ? 0 : named) else { return nil }
        // A number after GMT counts from there. Names often omit summer time.
        if let named, named != 0, abs(named - offset) > 3600 { return nil }
        let moment = date.dayNumber * 86_400 + seconds - offset
        return moment > 0 ? Timestamp(seconds: Int64(moment)) : nil
    }

    /// Reads a word. Returns false if it has no meaning after the words before it.
    private mutating func read(_ word: Substring) -> Bool {
        guard let first = word.utf8.first, word != "-", word != "–" else { return true }
        if first == "+" || first == "-" { return readZone(word) }
        if isDigit(first) { return readNumbers(word) }
        if first == "T", word.utf8.dropFirst().first.map(isDigit) == true { return readNumbers(word.dropFirst()) }
        // `a.m.`, `Nov.`
        let name = word.filter { $0 != "." }
        if let month = UpstreamDate.months[name] { return set(&self.month, month) }
        if name == "AM" || name == "PM" { return set(&isAfternoon, name == "PM") }
        // After a time, `A` is a zone.
        if UpstreamDate.joiningWords.contains(name), name != "A" || time == nil { return true }
        // Days of the week are ignored, because feeds with a wrong day have correct dates. In further languages, they
        // are short words at the beginning.
        let isFirst = month == nil && day == nil && year == nil
        if !hasWeekday, UpstreamDate.days.contains(name) || isFirst && name.utf8.count <= 3 {
            hasWeekday = true
            return true
        }
        return readZone(word)
    }

    /// Reads a date, a time, or a part of a date.
    private mutating func readNumbers(_ word: Substring) -> Bool {
        if word.utf8.prefix(3).contains(UInt8(ascii: ":")) { return readTime(word) }
        // `2026-11-21`, `2026/11/21`, `2026-11`, `21-Nov-2026`, `21.11.2026`, and what follows in the same word.
        let end = word.firstIndex(of: "T") ?? word.endIndex
        let isISO = word.prefix(4).utf8.allSatisfy(isDigit) && word.utf8.count > 4
        let date = isISO ? word[..<end] : word
        let separator = ["/", "-"].first { date.contains($0) } ?? "."
        let parts = date.split(separator: separator, omittingEmptySubsequences: false)
        if parts.count == 2, isISO, separator == "-", end == word.endIndex {
            return parts.allSatisfy { [2, 4].contains($0.utf8.count) } && readInteger(parts[0], &year)
                && readInteger(parts[1], &month) && set(&day, 1)
        }
        if parts.count == 3 {
            if isISO {
                guard parts[0].utf8.count == 4, parts[1].utf8.count <= 2, parts[2].utf8.count <= 2,
                    readInteger(parts[0], &year), readInteger(parts[1], &month), readInteger(parts[2], &day)
                else { return false }
                let rest = word[end...].dropFirst()
                return end == word.endIndex || !rest.isEmpty && readNumbers(rest)
            }
            if parts[1].utf8.first.map(isLetter) == true { return parts.allSatisfy { read($0) } }
            // With slashes, the month comes first in some countries.
            return separator != "/" && parts[2].utf8.count == 4 && parts[..<2].allSatisfy { $0.utf8.count <= 2 }
                && readInteger(parts[0], &day) && readInteger(parts[1], &month) && readInteger(parts[2], &year)
        }
        guard parts.count == 1 || parts.count == 2 && parts[1].isEmpty && separator == "." else { return false }
        // `21st`, `21.`, but `8PM` is a time.
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard ["", "ST", "ND", "RD", "TH", ".", "ER"].contains(word[digits.endIndex...]) else { return false }
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
            numbers.count == 3 || numbers[1] < 60
        else { return false }
        guard set(&time, numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)) else {
            return false
        }
        let isLeap = numbers.count == 3 && numbers[2] == 60
        if isLeap, numbers[1] != 59 { return false }
        return end == word.endIndex || read(word[end...])
    }

    /// Reads a zone: a name, an offset, or both as in `GMT+0100` and `+01:00Z`.
    private mutating func readZone(_ word: Substring) -> Bool {
        guard time != nil else { return false }
        let name = word.prefix { $0.isLetter }
        if !name.isEmpty {
            guard name.utf8.count <= 5, name.utf8.allSatisfy(isLetter), set(&zoneName, String(name)) else {
                return false
            }
            let offset = word[name.endIndex...]
            return offset.isEmpty
                || ["GMT", "UT", "UTC"].contains(name) && ["+", "-"].contains(offset.first) && read(offset)
        }
        // `+0100`, `+01:00`, `+1:00`, `+01` or `+1`.
        let end = word.firstIndex { $0.isLetter } ?? word.endIndex
        let parts = word[..<end].dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts.joined()
        guard parts.count <= 2, isNumber(digits), digits.utf8.count <= 4, let number = Int(digits) else { return false }
        let (hours, minutes) = digits.utf8.count <= 2 ? (number, 0) : (number / 100, number % 100)
        guard hours <= 14, minutes < 60 else { return false }
        return set(&zone, (word.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
            && (end == word.endIndex || readZone(word[end...]))
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

    /// The months by the beginnings of their names in English, German, French, Spanish, Italian, Portuguese and Dutch,
    /// of at least three letters; 0 for an ambiguous beginning.
    private static let months: [String: Int] = {
        let names = [
            "JANUARY JANUAR JANNER JANVIER ENERO GENNAIO JANEIRO JANUARI",
            "FEBRUARY FEVRIER FEBRERO FEBBRAIO FEVEREIRO FEBRUARI", "MARCH MARZ MAERZ MRZ MARS MARZO MARCO MAART MRT",
            "APRIL AVRIL ABRIL APRILE", "MAY MAI MAYO MAGGIO MAIO MEI", "JUNE JUNI JUIN JUNIO GIUGNO JUNHO",
            "JULY JULI JUILLET JULIO LUGLIO JULHO", "AUGUST AOUT AGOSTO AUGUSTUS",
            "SEPTEMBER SEPTEMBRE SEPTIEMBRE SETTEMBRE SETEMBRO SETIEMBRE",
            "OCTOBER OKTOBER OCTOBRE OCTUBRE OTTOBRE OUTUBRO",
            "NOVEMBER NOVEMBRE NOVIEMBRE NOVEMBRO", "DECEMBER DEZEMBER DECEMBRE DICIEMBRE DICEMBRE DEZEMBRO",
        ]
        let numbered = names.enumerated().flatMap { index, names in beginnings(names).map { ($0, index + 1) } }
        return Dictionary(numbered) { $0 == $1 ? $0 : 0 }
    }()

    private static let days = Set(
        beginnings(
            """
            MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY MONTAG DIENSTAG MITTWOCH DONNERSTAG FREITAG \
            SAMSTAG SONNABEND SONNTAG LUNDI MARDI MERCREDI JEUDI VENDREDI SAMEDI DIMANCHE LUNES MARTES MIERCOLES \
            JUEVES VIERNES SABADO DOMINGO LUNEDI MARTEDI MERCOLEDI GIOVEDI VENERDI SABATO DOMENICA SEGUNDA-FEIRA \
            TERCA-FEIRA QUARTA-FEIRA QUINTA-FEIRA SEXTA-FEIRA MAANDAG DINSDAG WOENSDAG DONDERDAG VRIJDAG ZATERDAG \
            ZONDAG
            """))

    /// The words without a meaning, as in `21 de noviembre de 2024 a las 9:15` and `9:15 Uhr`.
    private static let joiningWords: Set = [
        "A", "ALLE", "AS", "AT", "DE", "DEL", "LAS", "OM", "ORE", "UHR", "UM", "UUR",
    ]

    private static let plainLetters: [Character: Character] = [
        "Ä": "A", "Á": "A", "À": "A", "Ç": "C", "É": "E", "È": "E", "Ì": "I", "Û": "U",
    ]

    private static func beginnings(_ names: String) -> [String] {
        names.split(separator: " ").flatMap { name in (3...name.utf8.count).map { String(name.prefix($0)) } }
    }

    /// The names of zones that have one meaning, in seconds east of UTC.
    private static let zones: [String: Int] = {
        let hours: [Double: String] = [
            -11: "SST", -10: "HST", -9: "AKST", -8: "PST AKDT", -7: "MST PDT", -6: "CST MDT", -5: "EST CDT COT PET",
            -4: "EDT AST BOT CLT VET",
            -3.5: "NST", -3: "ADT ART BRT CLST UYT", -2.5: "NDT", 0: "GMT UT UTC WET Z",
            1: "CET MET MEZ MEWT BST WEST WAT",
            2: "CEST MEST MESZ CAT EET SAST WAST",
            3: "EEST MSK EAT IDT TRT", 4: "GST", 5: "PKT", 7: "WIB ICT", 8: "AWST HKT MYT PHT SGT", 9: "JST KST",
            9.5: "ACST", 10: "AEST",
            10.5: "ACDT", 11: "AEDT", 12: "NZST NZT", 13: "NZDT",
        ]
        var zones: [String: Int] = [:]
        for (offset, names) in hours {
            for name in names.split(separator: " ") { zones[String(name)] = Int(offset * 3600) }
        }
        return zones
    }()

    /// Removes comments in parentheses (RFC 5322, section 3.2.2), and suffixes in brackets (RFC 9557).
    private static func withoutComments(_ text: String) -> String {
        if !text.utf8.contains(where: { $0 == "(" || $0 == "[" }) { return text }
        var depth = 0
        return text.filter { character in
            if character == "(" || character == "[" { depth += 1 }
            defer { if character == ")" || character == "]", depth > 0 { depth -= 1 } }
            return depth == 0
        }
    }
}
