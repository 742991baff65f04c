package import NorrisProtocol

/// How long an answer keeps, as its headers say: `max-age` less `Age`, else `Expires` (RFC 9111, section 4.2.1).
///
/// - Returns: more than 0, 24 h at most; nil where the headers say nothing, or that it is stale already. `no-store`,
///   `no-cache` and `private` are for shared caches and browsers; norrisd is a reader with a copy of its own.
package func freshnessLifetime(_ headers: HTTPHeaderFields, now: Timestamp) -> Duration? {
    let lifetime: Duration
    if let maximumAge = CacheControl(headers.all("cache-control")).maximumAge {
        lifetime = maximumAge - (headers["age"].flatMap { delaySeconds($0) } ?? .zero)
    } else if let expires = headers["expires"].flatMap({ HTTPDate.parse($0, now: now) }) {
        // By the clock that made it, so that a difference between the clocks does not matter.
        let sent = headers["date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        lifetime = .seconds(expires.seconds - sent.seconds)
    } else {
        return nil
    }
    return lifetime > .zero ? min(lifetime, longestDelay) : nil
}
