/// The directives of the field `Cache-Control` (RFC 9111, section 5.2).
struct CacheControl {
    /// Names in small letters; values without the quotes. The first of a name counts.
    private var directives: [String: String] = [:]

    /// - Parameter fields: the values of all fields of that name.
    init(_ fields: [String]) {
        for field in fields {
            for part in Self.parts(of: field) {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.trimmed(pair[0]).lowercased()
                let value = pair.count == 2 ? Self.trimmed(pair[1]) : ""
                if !name.isEmpty, directives[name] == nil { directives[name] = value }
            }
        }
    }

    /// How long an answer is fresh, from the moment it was made.
    var maximumAge: Duration? {
        directives["max-age"].flatMap(delaySeconds)
    }

    /// The field cut at its commas, but not at those inside quotes.
    private static func parts(of field: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return field.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"" && !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, " \t\"".contains(first) { text.removeFirst() }
        while let last = text.last, " \t\"".contains(last) { text.removeLast() }
        return String(text)
    }
}
