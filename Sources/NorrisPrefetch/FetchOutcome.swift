package import NorrisProtocol

/// How long to wait after failures in a row: full jitter, so that those who failed together do not come back together
/// (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
enum Backoff {
    static let base = Duration.seconds(4)
    static let cap = Duration.seconds(3600)

    /// A random wait between one second and ``limit(failures:)``.
    static func delay(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .seconds(Int64.random(in: 1...limit(failures: failures).components.seconds, using: &generator))
    }

    /// The longest wait after consecutive failures: ``base``, doubled with each failure up to ``cap``.
    static func limit(failures: Int) -> Duration {
        // Past this many doublings any base is above the cap.
        let doublings = min(max(failures, 1) - 1, 16)
        return min(cap, base * (1 << doublings))
    }
}

/// The part of a source's configuration that affects its schedule.
package struct SourcePolicy: Equatable, Sendable {
    package var isEnabled: Bool
    /// One second or more.
    package var refresh: Duration
    /// Represents the settings that the content depends on, such as addresses and queries. Content that was fetched with
    /// other settings is no content of this source.
    package var settings: String
    /// Identifies the URL. The failures of another URL do not delay a run.
    package var upstream: String

    package init(isEnabled: Bool, refresh: Duration, settings: String, upstream: String = "") {
        (self.isEnabled, self.refresh, self.settings, self.upstream) = (isEnabled, refresh, settings, upstream)
    }

    /// The age from which content is stale.
    package var staleAfter: Duration { refresh * 1.5 }
}

/// The reason why a source's content could not be fetched, in the terms of the schedule.
package struct FetchFailure: Error, Equatable, Sendable {
    package var kind: SourceFailure.Kind
    /// One sentence for the user.
    package var message: String
    /// Whether a retry follows soon: after transport errors, 408, 425, 429 and 5xx. Other failures wait for the next
    /// run.
    package var isRetryable: Bool
    /// The upstream's `Retry-After`.
    package var retryAfter: Duration?
    /// The address of the feed that a web page names, if the upstream sent a web page.
    package var feedURL: String?

    package init(
        kind: SourceFailure.Kind, message: String, isRetryable: Bool, retryAfter: Duration? = nil,
        feedURL: String? = nil
    ) {
        (self.kind, self.message, self.isRetryable, self.retryAfter) = (kind, message, isRetryable, retryAfter)
        self.feedURL = feedURL
    }
}

/// The outcome of a run.
package enum FetchOutcome: Equatable, Sendable {
    /// The stored content equals the upstream's.
    ///
    /// - Parameters:
    ///   - added: the number of new items; 0 if the upstream had no news.
    ///   - newest: some of the new items, newest first.
    ///   - notBefore: the delay of the next run in the upstream's caching headers.
    ///   - age: the age of the content, which a cache may have sent.
    ///   - isStale: whether a cache sent the content although it was no longer fresh.
    case fetched(
        added: Int, newest: [Event.NewItem] = [], notBefore: Duration? = nil, age: Duration = .zero,
        isStale: Bool = false)
    /// The upstream had no news, but the content was cleared in the meantime.
    case contentGone
    case failed(FetchFailure)
    /// The run, or the rest of it, waits for `retryAfter`; not a failure of the upstream.
    case postponed(FetchFailure)
    /// The daemon stops.
    case cancelled
}

/// The reason why a source is not refreshed.
package enum RefreshRefusal: Error, Equatable, Sendable {
    case unknown
    case disabled
    /// The upstream asked for a pause.
    case putOff(until: Timestamp)
    /// The requests of this hour are used up.
    case quotaUsed(until: Timestamp)
    /// The source was refreshed less than ``SourceSchedule/refreshPause`` ago.
    case tooSoon(until: Timestamp)
}
