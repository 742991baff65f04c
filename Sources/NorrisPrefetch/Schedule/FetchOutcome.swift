package import NorrisProtocol

/// Why a source's content could not be fetched, as far as the schedule has to know.
package struct FetchFailure: Error, Equatable, Sendable {
    package var kind: SourceFailure.Kind
    /// One sentence for a person.
    package var message: String
    /// Whether to try again soon: transport errors, 408, 425, 429 and 5xx. Anything else waits for the next run.
    package var isRetryable: Bool
    /// What the upstream asked for (`Retry-After`).
    package var retryAfter: Duration?

    package init(kind: SourceFailure.Kind, message: String, isRetryable: Bool, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
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
    /// The upstream had no news, but what it spoke of was cleared meanwhile.
    case contentGone
    case failed(FetchFailure)
    /// The run, or the rest of it, has to wait for `retryAfter`: which is no failure of the upstream.
    case postponed(FetchFailure)
    /// The daemon stops.
    case cancelled
}
