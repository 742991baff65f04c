import NorrisProtocol

/// Dates in RFC 822 and its successors, RFC 3339, JavaScript and similar forms, rewritten for curl_getdate(3).
enum UpstreamDate {
    /// - Returns: nil for an invalid date; but 31 Feb in the mail format is 3 Mar. A time without a zone is UTC.
    static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 100 else { return nil }
        var words = withoutComments(text).split { $0.isWhitespace || $0 == "," }[...]
        guard let first = words.first else { return nil }
        var date: String
        if CivilDate(String(first.prefix(10))) != nil {
            // `2026-11-21T03:25:04.5+01:00`; the `T` may be a space, and time, seconds or zone may be missing.
            date = first.prefix(10).filter { $0 != "-" }
            let rest = first.dropFirst(10)
            guard rest.isEmpty || rest.first == "T" || rest.first == "t" else { return nil }
            words[words.startIndex] = rest.dropFirst()
            words = rest.isEmpty ? words.dropFirst() : words
        } else {
            // `Sat, 21 Nov 2026 03:25:04 +0100`: the weekday may be missing or wrong, and the month may have its long
            // name. Also `21-Nov-2026`, and `Sat Nov 21 2026 03:25:04 GMT+0100` (ECMA-262, `Date.prototype.toString`).
            if first.allSatisfy(\.isLetter) { words.removeFirst() }
            let fields = words.prefix(words.first?.contains("-") == true ? 1 : 3)
            date = fields.map { $0.first?.isLetter == true ? $0.prefix(3) : $0 }.joined(separator: " ")
            // curl_getdate(3) would read the `T` before a time as a zone.
            guard !date.contains(":") else { return nil }
            words = words.dropFirst(fields.count)
        }
        guard let word = words.first else { return httpDate(date) }
        let end = word.firstIndex { !$0.isWholeNumber && $0 != ":" && $0 != "." } ?? word.endIndex
        let time = word[..<end].prefix { $0 != "." }
        guard time.contains(":"), let zone = zone(([word[end...]] + words.dropFirst()).joined()) else { return nil }
        date += " \(time)"
        return httpDate("\(date) \(zone)") ?? (zone.allSatisfy(\.isLetter) ? httpDate(date) : nil)
    }

    /// The zone in a form that curl_getdate(3) reads; nil if the text is not a zone. An empty zone, or a name that the
    /// function does not know, is UTC (RFC 5322, section 4.3).
    private static func zone(_ text: String) -> String? {
        var name = text.uppercased()
        // `GMT+0100`.
        if name.hasPrefix("GMT") || name.hasPrefix("UTC") { name.removeFirst(3) }
        guard let sign = name.first, sign == "+" || sign == "-" else {
            guard name.utf8.count <= 5, name.utf8.allSatisfy(isLetter) else { return nil }
            // Single letters have no agreed meaning.
            return name.utf8.count > 1 ? zones[name] ?? name : ""
        }
        // `+0100`, `+01:00`, `+1:00`, `+01` or `+1`.
        let digits = name.dropFirst().filter { $0 != ":" }
        guard isNumber(digits), digits.utf8.count <= 4 else { return nil }
        let padded = digits.utf8.count > 2 ? digits : digits + "00"
        return "\(sign)\(padded.utf8.count == 3 ? "0" : "")\(padded)"
    }

    /// Zones that curl_getdate(3) does not know or takes for another; empty for names with several meanings.
    private static let zones = [
        "ACST": "+0930", "AEDT": "+1100", "AEST": "+1000", "AKDT": "-0800", "AKST": "-0900", "ART": "-0300",
        "AWST": "+0800", "BRT": "-0300", "CAT": "+0200", "CCT": "", "EAST": "", "EEST": "+0300", "FST": "", "FWT": "",
        "GST": "+0400", "IDLE": "", "IDLW": "", "KST": "+0900", "MEZ": "+0100", "MSK": "+0300", "NT": "",
        "WAST": "+0200", "WAT": "+0100", "WEST": "+0100",
    ]

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
