import CCurl
package import NorrisProtocol

/// How long an answer keeps, as its headers say: `max-age` less `Age`, else `Expires` (RFC 9111, section 4.2.1).
///
/// - Returns: more than 0, 24 h at most; nil where the headers say nothing, or that it is stale already. `no-store`,
///   `no-cache` and `private` are for shared caches and browsers; norrisd is a reader with a copy of its own.
package func freshnessLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    let lifetime: Duration
    if let maximumAge = CacheControl(headers.all("cache-control")).maximumAge {
        lifetime = maximumAge - (headers["age"].flatMap { delaySeconds($0) } ?? .zero)
    } else if let expires = headers["expires"].flatMap({ httpDate($0) }) {
        // By the clock that made it, so that a difference between the clocks does not matter.
        let sent = headers["date"].flatMap { httpDate($0) } ?? now
        lifetime = .seconds(expires.seconds - sent.seconds)
    } else {
        return nil
    }
    return lifetime > .zero ? min(lifetime, longestDelay) : nil
}

/// How far an upstream can put off a request, whatever it says.
package let longestDelay = Duration.seconds(86_400)

/// A number of seconds from a header field: digits alone; nil for anything else. Never more than ``longestDelay``.
func delaySeconds(_ text: some StringProtocol) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
        return nil
    }
    // More digits than an integer holds are more than a day as well.
    return Int64(text).map { min(.seconds($0), longestDelay) } ?? longestDelay
}

/// The value of `Retry-After` (RFC 9110, section 10.2.3), seconds or a date, as a time from now: 0...24 h.
package func retryAfter(_ value: String, now: Timestamp) -> Duration? {
    if let delay = delaySeconds(value) { return delay }
    guard let date = httpDate(value) else { return nil }
    return min(max(.seconds(date.seconds - now.seconds), .zero), longestDelay)
}

/// When the upstream's allowance is full again, as a time from now: more than 0, 24 h at most; nil where it does not
/// say so, or that moment has passed.
///
/// No standard has `X-RateLimit-Reset`: Mastodon writes RFC 3339 there, most others seconds since 1970.
func rateLimitReset(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    guard let field = headers["x-ratelimit-reset"] else { return nil }
    let isNumber = field.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let reset = isNumber ? Int64(field).map(Timestamp.init(seconds:)) : Timestamp(field), reset > now else {
        return nil
    }
    return min(.seconds(reset.seconds - now.seconds), longestDelay)
}

/// The three forms of a date in a header field (RFC 9110, section 5.6.7), and more (curl_getdate(3)); nil for what is
/// no date.
///
/// Of a year of two digits, which only the obsolete form has, those up to 70 count as 20xx.
func httpDate(_ text: String) -> Timestamp? {
    let seconds = curl_getdate(text, nil)
    return seconds == -1 ? nil : Timestamp(seconds: Int64(seconds))
}

/// The directives of the field `Cache-Control` (RFC 9111, section 5.2).
private struct CacheControl {
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
