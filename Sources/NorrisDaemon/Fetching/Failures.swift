import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream

// Where failures of one module become those of another.

extension FetchFailure {
    /// What went wrong in a fetch, at the upstream or in the store, as the schedule sees it.
    init(_ error: any Error) {
        switch error {
        case let failure as FetchFailure:
            self = failure
        case let error as UpstreamError:
            let kind: SourceFailure.Kind =
                switch error.kind {
                case .offline: .offline
                case .timeout: .timeout
                case .http: .http
                case .quota: .quota
                case .decode: .decode
                case .credentials: .credentials
                // Nobody reads the failure of a cancelled request.
                case .cancelled: .offline
                }
            self.init(kind: kind, message: error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter)
        default:
            // The store: the protocol has no kind for it. A retry would not help; the next run tries again.
            self = .unusable("What was fetched cannot be stored; norrisctl status says why.")
        }
    }

    /// A reply that is well-formed but of no use; a retry would not help.
    static func unusable(_ message: String) -> FetchFailure {
        FetchFailure(kind: .decode, message: message, isRetryable: false)
    }
}

extension ResponseError {
    /// Why a source is not refreshed, and when it may be.
    init(_ refusal: RefreshRefusal, of source: String) {
        switch refusal {
        case .unknown:
            self = .notFound(
                "There is no source \(source.quotedForMessage).", hint: "norrisctl status lists the sources."
            )
        case .disabled:
            self = .notFound(
                "The source \(source.quotedForMessage) is not fetched.",
                hint: "Set its enabled to true in the daemon's configuration."
            )
        case .putOff(let until):
            self = .busy(
                "The upstream of \(source) asked to be left alone until \(until).",
                hint: "It is fetched then by itself.", retryAt: until
            )
        case .tooSoon(let until):
            self = .busy(
                "\(source) was refreshed less than 5 minutes ago.",
                hint: "Wait until \(until), or ask an administrator.", retryAt: until
            )
        }
    }
}
