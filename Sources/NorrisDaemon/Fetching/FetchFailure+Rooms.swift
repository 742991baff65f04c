import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream

extension FetchFailure {
    /// What went wrong at the upstream, as the schedule sees it.
    init(_ error: UpstreamError) {
        let kind: SourceFailure.Kind =
            switch error.kind {
            case .offline: .offline
            case .timeout: .timeout
            case .http: .http
            case .quota: .quota
            case .decode: .decode
            case .credentials: .credentials
            // Whoever calls a request off does not look at its failure.
            case .cancelled: .offline
            }
        self.init(
            kind: kind, message: error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter
        )
    }

    /// What was fetched could not be stored: the protocol has no kind of its own for that. To fetch it again and again
    /// would not help; the next run tries again.
    init(_ error: StoreError) {
        let message = "What was fetched cannot be stored; norrisctl status says why."
        self.init(kind: .decode, message: message, isRetryable: false)
    }
}
