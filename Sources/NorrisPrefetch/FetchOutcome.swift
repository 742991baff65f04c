package import NorrisProtocol

/// How long to wait after failures in a row: full jitter, so that those who failed together do not come back together
/// (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
enum Backoff {
    static let base = Duration.seconds(4)
    static let cap = Duration.seconds(3600)

    /// A wait between one second and the limit for so many failures, which doubles from ``base`` up to ``cap``.
    static func delay(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .seconds(Int64.random(in: 1...limit(failures: failures).components.seconds, using: &generator))
    }

    static func limit(failures: Int) -> Duration {
        // Past this many doublings any base is above the cap.
        let doublings = min(max(failures, 1) - 1, 16)
        return min(cap, base * (1 << doublings))
    }
}

/// What the configuration says of a source.
package struct SourcePolicy: Equatable, Sendable {
    package var isEnabled: Bool
    /// One second or more.
    package var refresh: Duration
    /// Stands for whatever the content depends on, such as addresses and queries: content fetched with others is no
    /// content of this source.
    package var settings: String

    package init(isEnabled: Bool, refresh: Duration, settings: String) {
        (self.isEnabled, self.refresh, self.settings) = (isEnabled, refresh, settings)
    }

    /// The age from which content counts as stale.
    package var staleAfter: Duration { refresh * 1.5 }
}

/// Why a source's content could not be fetched, as far as the schedule has to know.
package struct FetchFailure: Error, Equatable, Sendable {
    package var kind: SourceFailure.Kind
    /// One sentence for a person.
    package var message: String
    /// Whether to retry soon: transport errors, 408, 425, 429 and 5xx. Anything else waits for the next run.
    package var isRetryable: Bool
    /// The upstream's `Retry-After`.
    package var retryAfter: Duration?

    package init(kind: SourceFailure.Kind, message: String, isRetryable: Bool, retryAfter: Duration? = nil) {
        (self.kind, self.message, self.isRetryable, self.retryAfter) = (kind, message, isRetryable, retryAfter)
    }
}

/// How the run of a source ended.
package enum FetchOutcome: Equatable, Sendable {
    /// The content is that of the upstream now.
    ///
    /// - Parameters:
    ///   - added: how many items are new; 0 where the upstream had no news.
    ///   - notBefore: how long the upstream's caching headers put the next run off.
    case fetched(added: Int, notBefore: Duration? = nil)
    /// The upstream had no news, but the content it spoke of was cleared meanwhile.
    case contentGone
    case failed(FetchFailure)
    /// The run, or the rest of it, has to wait for `retryAfter`, which is no failure of the upstream.
    case postponed(FetchFailure)
    /// The daemon stops.
    case cancelled
}

/// Why a source is not refreshed at once.
package enum RefreshRefusal: Error, Equatable, Sendable {
    case unknown
    case disabled
    /// The upstream asked for a pause.
    case putOff(until: Timestamp)
    /// The requests of this hour are used up.
    case quotaUsed(until: Timestamp)
    /// It was refreshed a short while ago.
    case tooSoon(until: Timestamp)
}
