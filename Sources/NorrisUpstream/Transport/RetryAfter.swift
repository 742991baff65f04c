package import NorrisProtocol

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
    guard let date = HTTPDate.parse(value, now: now) else { return nil }
    return min(max(.seconds(date.seconds - now.seconds), .zero), longestDelay)
}
