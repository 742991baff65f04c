import CCurl
import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

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

extension HostReply {
    /// The pause is `Retry-After` (RFC 9110, section 10.2.3), else the end of a rate limit; a time that has come counts
    /// as unstated.
    init(_ response: HTTPResponse) {
        let (status, headers, now) = (response.status, response.headers, response.receivedAt)
        self.init(host: response.url.host, status: status)
        let retryAfter = headers["retry-after"]
        let limits = rateLimits(headers)
        let spent = limits.filter { $0.remaining ?? 1 < 1 }
        isLimit = status == 429 || (status == 503 && retryAfter != nil) || (isSuccess && !spent.isEmpty)
        if isSuccess && !isLimit { return }
        let resets = isLimit || status == 403 ? (spent.isEmpty ? limits : spent).compactMap(\.reset) : []
        pause = retryAfter.flatMap { delay($0, now) } ?? resets.compactMap { delay($0, now) }.max()
    }
}

/// The rate limits that a response states: pairs of fields with one of two prefixes, and items of the field
/// `RateLimit`, such as `"default";r=0;t=30`, or in older drafts `limit=9, remaining=0, reset=30`
/// (draft-ietf-httpapi-ratelimit-headers).
private func rateLimits(_ headers: HTTPHeaderFields) -> [(remaining: Double?, reset: String?)] {
    var limits = ["ratelimit", "x-ratelimit"].map { prefix in
        (remaining: headers["\(prefix)-remaining"].flatMap(number), reset: headers["\(prefix)-reset"])
    }
    let field = headers.all("ratelimit").joined(separator: ",").filter { $0 != " " && $0 != "\t" }
    for item in field.contains(";") ? field.split(separator: ",") : [field[...]] {
        let pairs = item.split { $0 == ";" || $0 == "," }.map { $0.split(separator: "=") }
        func value(_ names: Substring...) -> String? {
            pairs.first { $0.count == 2 && names.contains($0[0]) }.map { String($0[1]) }
        }
        limits.append((value("r", "remaining").flatMap(number), value("t", "reset")))
    }
    return limits.filter { $0.remaining != nil || $0.reset != nil }
}

/// A decimal number, such as `0.0`; nil unless the text consists of digits and a point.
private func number(_ text: String) -> Double? {
    text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") } ? Double(text) : nil
}

/// The seconds until a stated moment, 1...24 h: a number of seconds, from 10⁹ on a Unix time, or a date. Nil for
/// other texts, and for moments that have come.
private func delay(_ text: String, _ now: Timestamp) -> Int? {
    let stated = number(text).map { $0 < 1e9 ? $0 : $0 - Double(now.seconds) }
    let date = stated == nil ? Timestamp(text) ?? httpDate(text) : nil
    guard let seconds = stated ?? date.map({ Double($0.seconds - now.seconds) }), seconds > 0 else { return nil }
    return Int(min(seconds.rounded(.up), Double(longestDelay)))
}

/// Parses the three date forms of header fields (RFC 9110, section 5.6.7), and others (curl_getdate(3)). In the
/// obsolete form, which has two digits for the year, 00...70 are 20xx.
func httpDate(_ text: String) -> Timestamp? {
    let seconds = curl_getdate(text, nil)
    return seconds == -1 ? nil : Timestamp(seconds: Int64(seconds))
}
