import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisUpstream
import SystemdIntegration

/// A source of content as the schedule, the status and the cache see it; made again from each configuration.
protocol ContentSource: Sendable {
    /// As `server.status` names it.
    var name: String { get }
    /// The kind of upstream, as `server.status` shows it.
    var kind: String { get }
    /// Whether the configuration has it fetched.
    var isEnabled: Bool { get }
    /// The base URL, or the document of a feed.
    var url: String { get }
    var http: HTTPSettings { get }
    var context: SourceContext { get }
    var refresh: Duration { get }
    /// Everything in the configuration on which the content depends.
    var settings: [String] { get }
    /// False where it needs a key and was given none, which is no fault.
    var isConfigured: Bool { get }
    /// Why it cannot be fetched at all, whatever its schedule says.
    var unavailableReason: SourceFailure? { get }
    /// The hourly quota of requests, where it has one; from memory.
    var quota: SourceStatus.Quota? { get }
    /// That no request of a user can be sent, for the quota is used up; from memory.
    var quotaFailure: SourceFailure? { get }
    /// When a run may send requests again, where its share of the quota is used up.
    var quotaReturnsAt: Timestamp? { get }
    /// How long a rate limit (429) holds whose reply has no `Retry-After`; nil: no longer than any failure.
    var rateLimitWait: Duration? { get }
    /// Whether users' searches are passed on also while the source is fresh as a whole.
    var isSearchedWhileFresh: Bool { get }

    /// A run: brings what is stored to the state of the upstream.
    func fetch() async -> FetchOutcome

    /// Removes what was fetched, and the record of it.
    ///
    /// - Returns: how many items were removed.
    func clear() async throws(StoreError) -> Int
}

extension ContentSource {
    var isConfigured: Bool { true }
    var unavailableReason: SourceFailure? { nil }
    var quota: SourceStatus.Quota? { nil }
    var quotaFailure: SourceFailure? { nil }
    var quotaReturnsAt: Timestamp? { nil }
    var rateLimitWait: Duration? { nil }
    var isSearchedWhileFresh: Bool { false }

    var policy: SourcePolicy {
        SourcePolicy(
            isEnabled: isEnabled && unavailableReason == nil, refresh: refresh,
            // A digest, because the database need not show where content is from, nor a key.
            settings: String(stableHash(settings.joined(separator: "\n")), radix: 16))
    }

    var stores: Stores { context.stores }
    var now: Timestamp { context.environment.clock.now }

    /// What is known of the last fetch; nil where that had other settings, whose validators say nothing of these.
    var lastFetch: FetchRecord? {
        get async {
            guard var record = await stores.fetches.record(of: name), record.settings == policy.settings else {
                return nil
            }
            for (part, known) in record.parts { record.parts[part]?.checkedAt = known.checkedAt.past(now) }
            return record
        }
    }

    func newRecord(parts: [String: PartRecord] = [:], categories: [String] = []) -> FetchRecord {
        FetchRecord(settings: policy.settings, fetchedAt: now, parts: parts, categories: categories)
    }

    /// The outcome of a run with a transport of its own.
    func run(_ body: (CurlTransport) async throws -> FetchOutcome) async -> FetchOutcome {
        do throws(FetchFailure) { return try await connected(body) } catch {
            return Task.isCancelled ? .cancelled : .failed(error)
        }
    }

    /// Lends a transport, and makes failures of its errors.
    func connected<Value>(_ body: (CurlTransport) async throws -> Value) async throws(FetchFailure) -> Value {
        let transport = CurlTransport(baseURL: url, settings: http, logger: context.logger)
        do {
            return try await body(transport)
        } catch {
            var failure = FetchFailure(error)
            if failure.kind == .quota, failure.retryAfter == nil { failure.retryAfter = rateLimitWait }
            throw failure
        }
    }
}

/// What sources have in common, and what outlives a reload of the configuration.
struct SourceContext: Sendable {
    let stores: Stores
    let environment: FetchingEnvironment
    let knownCategories: KnownCategories
    let gifRun = GifRun()
    let logger: Logger
}

/// The sources that a configuration makes. They are looked up for every reply, so nothing is made then.
final class Sources: Sendable {
    let facts: FactSource
    let gifs: GifSource
    /// In the order of the file.
    let posts: [PostSource]
    /// In the order of the status.
    let all: [any ContentSource]

    /// Reads the file of the API key.
    init(_ configuration: Configuration, _ context: SourceContext, _: BlockingAccess) {
        var http = configuration.http
        http.trustRoots = context.environment.trustRoots
        facts = FactSource(configuration: configuration.facts, http: http, context: context)
        let environment = context.environment
        let key = GiphyKey(configuration.gifs, environment.credentials, now: environment.clock.now)
        gifs = GifSource(configuration: configuration.gifs, key: key, http: http, context: context)
        posts = configuration.posts.sources.map { PostSource(configuration: $0, http: http, context: context) }
        all = [facts, gifs] + posts
        if let reason = gifs.unavailableReason {
            // Most who have no key want none; who configured one expects it to work.
            context.logger.log(
                level: key.isConfigured ? .warning : .notice, "source.unavailable",
                metadata: ["source": "\(gifs.name)", "error": "\(reason.message)"])
        }
    }

    /// nil for a name that none of them has. Names are ASCII, and the configuration lets no two be equal.
    subscript(name: String) -> (any ContentSource)? { all.first { $0.name == name } }

    /// The names of the sources of posts: only theirs are shown.
    var postNames: [String] { posts.map(\.name) }
}

/// What fetching takes from the process, so that tests can replace it.
struct FetchingEnvironment: Sendable {
    var machine: String
    var clock: any WallClock
    var trustRoots: String?
    var credentials = Credentials(directory: nil)
    /// How long a search waits for an upstream.
    var searchTime = Duration.seconds(2)
}

extension PartRecord {
    /// Of a reply that has just come.
    init(_ validators: Validators, at now: Timestamp) {
        self.init(etag: validators.etag, lastModified: validators.lastModified, checkedAt: now)
    }

    var validators: Validators { Validators(etag: etag, lastModified: lastModified) }

    var hasValidators: Bool { etag != nil || lastModified != nil }
}

// Where failures of one module become those of another.

extension FetchFailure {
    /// What went wrong in a fetch, at the upstream or in the store, as the schedule sees it.
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
                // Nobody reads the failure of a cancelled request.
                case .cancelled: .offline
                }
            self.init(kind: kind, message: error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter)
        default:
            // The store: the protocol has no kind for it. A retry would not help; the next run tries again.
            self = .unusable("The fetched content cannot be stored. See why: norrisctl status")
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
                "There is no source \(source.quotedForMessage).", hint: "List the sources: norrisctl status")
        case .disabled:
            self = .notFound(
                "The source \(source.quotedForMessage) is disabled.", hint: "Enable it: norrisctl config edit")
        case .putOff(let until):
            self = .busy(
                "The upstream of \(source) asked norrisd to wait until \(until).", hint: "norrisd fetches it then.",
                retryAt: until)
        case .quotaUsed(let until):
            self = .busy(
                "The requests of this hour to the upstream of \(source) are used up.",
                hint: "norrisd fetches again at \(until), or raise \(source).hourly_quota.", retryAt: until)
        case .tooSoon(let until):
            self = .busy(
                "\(source) was refreshed less than 5 minutes ago.",
                hint: "Wait until \(until), or ask an administrator.", retryAt: until)
        }
    }
}
