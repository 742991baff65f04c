import CCurl
import NorrisProtocol

/// How long a response is fresh: `max-age` less `Age`, else `Expires` (RFC 9111, section 4.2.1); more than 0, at most
/// 24 h; nil if the headers say nothing, or that it is stale already.
func freshnessLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    let lifetime: Duration
    if let maximumAge = maximumAge(headers) {
        lifetime = maximumAge - (headers["age"].flatMap(delaySeconds) ?? .zero)
    } else if let expires = headers["expires"].flatMap(httpDate) {
        // By the clock that made it, so that a difference between the clocks does not matter.
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

/// The longest time that an upstream can put off a request.
private let longestDelay = Duration.seconds(86_400)

/// A number of seconds from a header field, at most ``longestDelay``; nil for anything but digits.
private func delaySeconds(_ text: String) -> Duration? {
    guard isNumber(text) else { return nil }
    // More digits than an integer holds are more than a day as well.
    return Int64(text).map { min(.seconds($0), longestDelay) } ?? longestDelay
}

/// The value of `Retry-After` (RFC 9110, section 10.2.3), seconds or a date, as a time from now: 0...24 h.
func retryAfter(_ value: String, now: Timestamp) -> Duration? {
    if let delay = delaySeconds(value) { return delay }
    return httpDate(value).map { min(max(.seconds($0.seconds - now.seconds), .zero), longestDelay) }
}

/// When the rate limit ends, as a time from now: more than 0, at most 24 h; nil if the headers do not say so, or that
/// moment has passed. No standard has `X-RateLimit-Reset`: Mastodon writes RFC 3339 there, most others seconds since
/// 1970.
func rateLimitReset(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    guard let field = headers["x-ratelimit-reset"],
        let reset = isNumber(field) ? Int64(field).map(Timestamp.init(seconds:)) : Timestamp(field), reset > now
    else { return nil }
    return min(.seconds(reset.seconds - now.seconds), longestDelay)
}

/// The three forms of a date in a header field (RFC 9110, section 5.6.7), and more (curl_getdate(3)); else nil. Of a
/// year of two digits, which only the obsolete form has, those up to 70 count as 20xx.
func httpDate(_ text: String) -> Timestamp? {
    let seconds = curl_getdate(text, nil)
    return seconds == -1 ? nil : Timestamp(seconds: Int64(seconds))
}
