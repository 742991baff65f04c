import NorrisFetchProtocol
import NorrisProtocol

/// Decides when a host may be asked, without side effects: a gap follows each fetch, measured on the monotonic clock,
/// and none begins while the host holds norrisd back, which a clock that may jump decides.
struct HostTurns: Sendable {
    /// The limits of the pause after a refusal that states none, in seconds.
    private static let (shortestPause, longestPause) = (60, 3600)

    /// The time between the end of a fetch and the begin of the next one; zero for no turns.
    var gap = Duration.zero
    /// The hosts that have asked for a pause: its end, the reply as a failure, the number of refusals since the last
    /// success, and as last run the last 429, or a 403 that counts as one. A hold is forgotten a day after its end.
    var holds: [String: ScheduleRecord] = [:]
    /// The end of the last fetch, in the time of ``WallClock/elapsed``.
    private var ends: [String: Duration] = [:]
    /// The host that sent the last reply to a request of another one, for sources that have not been fetched yet.
    private var targets: [String: String] = [:]

    func gapLeft(_ host: String, _ elapsed: Duration) -> Duration {
        ends[host].map { max($0 + gap - elapsed, .zero) } ?? .zero
    }

    mutating func end(_ host: String, _ elapsed: Duration) {
        ends = ends.filter { $0.value + gap > elapsed }
        ends[host] = elapsed
    }

    /// The hold that ends last, of a configured host and of the one to which its redirects lead.
    func hold(of host: String?, answeredBy target: String?) -> (host: String, record: ScheduleRecord)? {
        guard let host else { return nil }
        let hosts = [host, target ?? targets[host] ?? host]
        let known = hosts.compactMap { host in holds[host].map { (host: host, record: $0) } }
        return known.max { $0.record.retryAt?.seconds ?? 0 < $1.record.retryAt?.seconds ?? 0 }
    }

    /// Notes a reply to a request of `host`.
    ///
    /// - Returns: whether the reply is a refusal, which a 403 within a day after a 429 is too.
    mutating func note(_ reply: HostReply, to host: String, _ now: Timestamp) -> Bool {
        targets[host] = reply.host == host ? nil : reply.host
        var hold = holds[reply.host] ?? ScheduleRecord()
        let isHeld = hold.retryAt.map { $0 > now } ?? false
        let wasRefused = hold.lastRunAt.map { $0.duration(to: now) < SourceSchedule.maximumPutOff } ?? false
        let isRefusal = !reply.isSuccess && (reply.isLimit || reply.status == 403 && wasRefused)
        // Of several replies within one hold, only the first doubles the pause.
        if reply.isSuccess { hold.failures = 0 } else if isRefusal, !isHeld { hold.failures += 1 }
        if isRefusal, reply.status != 503 { hold.lastRunAt = now }
        if isRefusal || reply.isLimit {
            let unstated = min(HostTurns.shortestPause << min(max(hold.failures, 1) - 1, 6), HostTurns.longestPause)
            let pause = min(.seconds(reply.pause ?? unstated), SourceSchedule.maximumPutOff)
            hold.retryAt = max(hold.retryAt ?? now, now.advanced(by: pause))
            let reason = reply.isSuccess ? "no requests left" : "HTTP \(reply.status)"
            hold.failure = SourceFailure(kind: .http, message: reason, since: now)
        }
        holds = holds.filter { ($0.value.retryAt ?? now).advanced(by: SourceSchedule.maximumPutOff) >= now }
        if hold != ScheduleRecord() { holds[reply.host] = hold }
        return isRefusal
    }

    /// Keeps the length of each hold if the clock was set back.
    mutating func noticeClock(_ now: Timestamp) {
        for (host, hold) in holds {
            guard let since = hold.failure?.since, since > now, let end = hold.retryAt else { continue }
            holds[host]?.retryAt = now.advanced(by: min(since.duration(to: end), SourceSchedule.maximumPutOff))
            holds[host]?.failure?.since = now
            holds[host]?.lastRunAt = hold.lastRunAt?.past(now)
        }
    }
}
