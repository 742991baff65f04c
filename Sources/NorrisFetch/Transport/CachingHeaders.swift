import CCurl
import NorrisProtocol

/// The remaining freshness of a response in seconds: ``statedLifetime(_:now:)`` less ``responseAge(_:now:)``. Nil if
/// the response is stale or does not state it; otherwise at most 24 h.
func freshnessLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Int? {
    guard let lifetime = statedLifetime(headers, now: now).map({ $0 - responseAge(headers, now: now) }) else {
        return nil
    }
    return lifetime > 0 ? min(lifetime, longestDelay) : nil
}

/// The time for which a response is fresh after its creation: `max-age`, else `Expires` (RFC 9111, section 4.2.1).
private func statedLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Int? {
    if let maximumAge = seconds(of: "max-age", headers) { return maximumAge }
    return headers["expires"].flatMap(httpDate).map { expires in
        // Uses the clock of the sender, so that a difference between the clocks does not matter.
        Int(expires.seconds - (headers["date"].flatMap(httpDate) ?? now).seconds)
    }
}

/// The age of a response from a cache (RFC 9111, section 4.2.3): the larger one of `Age` and the time since `Date`, at
/// most a year.
///
/// `Date` counts if a field names a cache, because nginx sends no `Age`. Without such a field, `Date` counts only
/// between ``clockErrors`` and ``longestStorage``, because other differences are errors of a clock.
func responseAge(_ headers: HTTPHeaderFields, now: Timestamp) -> Int {
    let stated = headers["age"].flatMap(seconds) ?? 0
    let sinceDate = headers["date"].flatMap(httpDate).map { Int(now.seconds - $0.seconds) } ?? 0
    let isFromCache = cacheFields.contains { headers[$0] != nil }
    let counts = isFromCache || (clockErrors...longestStorage).contains(sinceDate)
    return min(max(stated, counts ? sinceDate : 0, 0), longestAge)
}

/// A day and a half: the largest difference between two clocks, which may be in any time zone.
private let clockErrors = 129_600
/// A month: the longest storage in a cache that no field names.
private let longestStorage = 2_592_000
private let longestAge = 31_536_000

/// The fields by which a cache shows itself (RFC 9110, section 7.6.3; RFC 9111, section 5; RFC 9211).
private let cacheFields = ["age", "cache-status", "via", "warning", "x-cache"]

/// Whether the lifetime of a response is over, or a cache marks the response as stale (RFC 7234, sections 5.5.1 and
/// 5.5.2).
///
/// A lifetime of 0 does not count: with `max-age=0` an upstream only asks browsers to revalidate their copies.
func isStale(_ headers: HTTPHeaderFields, now: Timestamp) -> Bool {
    let warnings = headers.all("warning").joined(separator: ",").split(separator: ",")
    let codes = warnings.map { $0.drop { $0 == " " }.prefix { $0 != " " } }
    if codes.contains("110") || codes.contains("111") { return true }
    let lifetime = seconds(of: "s-maxage", headers) ?? statedLifetime(headers, now: now) ?? 0
    return lifetime > 0 && responseAge(headers, now: now) > lifetime
}

/// The seconds of the first directive of that name in `Cache-Control` (RFC 9111, section 5.2).
private func seconds(of name: String, _ headers: HTTPHeaderFields) -> Int? {
    for directive in headers.all("cache-control").joined(separator: ",").lowercased().split(separator: ",") {
        let pair = directive.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) } }
        if pair.first == name { return pair.count == 2 ? seconds(pair[1]) : nil }
    }
    return nil
}

/// The longest delay of a request that an upstream can demand.
private let longestDelay = 86_400

/// A number of seconds in a header field, at most 2³¹ (RFC 9111, section 1.2.2); nil unless the field consists of
/// digits.
private func seconds(_ text: String) -> Int? {
    isNumber(text) ? min(Int(text) ?? .max, 1 << 31) : nil
}

/// The delay in `Retry-After` (RFC 9110, section 10.2.3), which contains seconds or a date: 0...24 h.
func retryAfter(_ value: String, now: Timestamp) -> Int? {
    if let delay = seconds(value) { return min(delay, longestDelay) }
    return httpDate(value).map { min(max(Int($0.seconds - now.seconds), 0), longestDelay) }
}

/// The time until the rate limit ends, at most 24 h; nil if unstated or in the past. `X-RateLimit-Reset` has no
/// standard: Mastodon sends RFC 3339, most other servers seconds since 1970.
func rateLimitReset(_ headers: HTTPHeaderFields, now: Timestamp) -> Int? {
    guard let field = headers["x-ratelimit-reset"],
        let reset = isNumber(field) ? Int64(field).map(Timestamp.init(seconds:)) : Timestamp(field), reset > now
    else { return nil }
    return min(Int(reset.seconds - now.seconds), longestDelay)
}

/// Parses the three date forms of header fields (RFC 9110, section 5.6.7), and others (curl_getdate(3)). In the
/// obsolete form, which has two digits for the year, 00...70 are 20xx.
func httpDate(_ text: String) -> Timestamp? {
    let seconds = curl_getdate(text, nil)
    return seconds == -1 ? nil : Timestamp(seconds: Int64(seconds))
}
