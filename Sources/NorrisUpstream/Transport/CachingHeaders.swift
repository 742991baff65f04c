import CCurl
import NorrisProtocol

/// The remaining freshness of a response: `max-age` less `Age`, else `Expires` (RFC 9111, section 4.2.1). Nil if the
/// response is stale or does not state it; otherwise at most 24 h.
func freshnessLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    let lifetime: Duration
    if let maximumAge = maximumAge(headers) {
        lifetime = maximumAge - (headers["age"].flatMap(delaySeconds) ?? .zero)
    } else if let expires = headers["expires"].flatMap(httpDate) {
        // Uses the clock of the sender, so that a difference between the clocks does not matter.
        let sent = headers["date"].flatMap(httpDate) ?? now
        lifetime = .seconds(expires.seconds - sent.seconds)
    } else {
        return nil
    }
    return lifetime > .zero ? min(lifetime, longestDelay) : nil
}

/// The first `max-age` of `Cache-Control` (RFC 9111, section 5.2).
private func maximumAge(_ headers: HTTPHeaderFields) -> Duration? {
    for directive in headers.all("cache-control").joined(separator: ",").lowercased().split(separator: ",") {
        let pair = directive.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) } }
        if pair.first == "max-age" { return pair.count == 2 ? delaySeconds(pair[1]) : nil }
    }
    return nil
}

/// The longest delay of a request that an upstream can demand.
private let longestDelay = Duration.seconds(86_400)

/// A number of seconds in a header field, at most ``longestDelay``; nil unless the field consists of digits.
private func delaySeconds(_ text: String) -> Duration? {
    guard isNumber(text) else { return nil }
    // A number that overflows an integer is more than a day.
    return Int64(text).map { min(.seconds($0), longestDelay) } ?? longestDelay
}

/// The delay in `Retry-After` (RFC 9110, section 10.2.3), which contains seconds or a date: 0...24 h.
func retryAfter(_ value: String, now: Timestamp) -> Duration? {
    if let delay = delaySeconds(value) { return delay }
    return httpDate(value).map { min(max(.seconds($0.seconds - now.seconds), .zero), longestDelay) }
}

/// The time until the rate limit ends, at most 24 h; nil if unstated or in the past. `X-RateLimit-Reset` has no
/// standard: Mastodon sends RFC 3339, most other servers seconds since 1970.
func rateLimitReset(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    guard let field = headers["x-ratelimit-reset"],
        let reset = isNumber(field) ? Int64(field).map(Timestamp.init(seconds:)) : Timestamp(field), reset > now
    else { return nil }
    return min(.seconds(reset.seconds - now.seconds), longestDelay)
}

/// Parses the three date forms of header fields (RFC 9110, section 5.6.7), and others (curl_getdate(3)). In the
/// obsolete form, which has two digits for the year, 00...70 are 20xx.
func httpDate(_ text: String) -> Timestamp? {
    let seconds = curl_getdate(text, nil)
    return seconds == -1 ? nil : Timestamp(seconds: Int64(seconds))
}
