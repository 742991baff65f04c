import NorrisProtocol

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
