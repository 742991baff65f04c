import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisUpstream

/// A source of content, as the schedule, the status and the cache see it; created again from each configuration.
protocol ContentSource: Sendable {
    /// The name in `server.status`.
    var name: String { get }
    /// The kind of upstream in `server.status`.
    var kind: String { get }
    /// Whether the configuration enables the source.
    var isEnabled: Bool { get }
    /// The base URL, or the document of a feed.
    var url: String { get }
    var http: HTTPSettings { get }
    var context: SourceContext { get }
    var refresh: Duration { get }
    /// Every value in the configuration on which the content depends.
    var settings: [String] { get }
    /// When runs begin.
    var policy: SourcePolicy { get }

    /// Runs once: makes the stored content equal to the upstream's.
    func fetch() async -> FetchOutcome

    /// Removes the fetched content and its record.
    ///
    /// - Returns: the number of removed items.
    func clear() async throws(StoreError) -> Int
}

extension ContentSource {
    var policy: SourcePolicy { configuredPolicy }

    var configuredPolicy: SourcePolicy {
        SourcePolicy(
            isEnabled: isEnabled, refresh: refresh,
            // Digests, because the database must contain neither the upstream's address nor a key.
            settings: String(stableHash(settings.joined(separator: "\n")), radix: 16),
            upstream: String(stableHash(url), radix: 16))
    }

    var stores: Stores { context.stores }
    var now: Timestamp { context.environment.clock.now }

    /// The record of the last fetch; nil if the last fetch had other settings, because its validators do not apply.
    var lastFetch: FetchRecord? {
        get async {
            guard var record = await stores.records.fetch(of: name), record.settings == policy.settings else {
                return nil
            }
            for (part, known) in record.parts { record.parts[part]?.checkedAt = known.checkedAt.past(now) }
            return record
        }
    }

    /// The record of a fetch with the current settings.
    ///
    /// - Parameter info: the caching headers of the reply, or of all replies combined.
    func newRecord(
        _ info: FetchInfo = FetchInfo(), parts: [String: PartRecord] = [:], categories: [String] = []
    ) -> FetchRecord {
        FetchRecord(
            settings: policy.settings, fetchedAt: now.advanced(by: .zero - info.age), isStale: info.isStale,
            parts: parts, categories: categories)
    }

    /// A new transport to the source's upstream.
    func transport() -> CurlTransport { CurlTransport(baseURL: url, settings: http, logger: context.logger) }

    /// The outcome of a run that failed.
    func outcome(of error: any Error) -> FetchOutcome {
        if Task.isCancelled { return .cancelled }
        if let error = error as? StoreError, error.reason == .contentGone { return .contentGone }
        return .failed(FetchFailure(error))
    }
}

extension PartRecord {
    /// The record of a reply received at `now`.
    init(_ validators: Validators, at now: Timestamp) {
        self.init(etag: validators.etag, lastModified: validators.lastModified, checkedAt: now)
    }

    var validators: Validators { Validators(etag: etag, lastModified: lastModified) }

    var hasValidators: Bool { etag != nil || lastModified != nil }
}

extension FetchOutcome {
    /// The outcome of a run with the caching headers of its replies.
    init(added: Int, newest: [Event.NewItem] = [], _ info: FetchInfo) {
        self = .fetched(
            added: added, newest: newest, notBefore: info.notBefore, age: info.age, isStale: info.isStale)
    }
}

extension FetchFailure {
    /// The failure of a fetch, at the upstream or in the store, for the schedule.
    init(_ error: any Error) {
        switch error {
        case let failure as FetchFailure: self = failure
        case let error as UpstreamError:
            let kind: SourceFailure.Kind =
                switch error.kind {
                case .offline: .offline
                case .timeout: .timeout
                case .http: .http
                case .quota: .quota
                case .decode: .decode
                case .credentials: .credentials
                // The failure of a cancelled request is discarded.
                case .cancelled: .offline
                }
            self.init(
                kind: kind, message: error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter,
                feedURL: error.feedURL)
        default:
            // The store failed. The protocol has no kind for that, and the next run tries again.
            self = .unusable("The fetched content cannot be stored. See why: norrisctl status")
        }
    }

    /// A well-formed reply that cannot be used; a retry would not help.
    static func unusable(_ message: String) -> FetchFailure {
        FetchFailure(kind: .decode, message: message, isRetryable: false)
    }
}
