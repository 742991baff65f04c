import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import NorrisUpstream
import Synchronization
import SystemdIntegration

/// Giphy: how GIFs are fetched, by schedule and for users, within the hourly quota of requests and its rate limit.
struct GifSource: ContentSource {
    static let name = "gifs"
    /// As many as Giphy returns at once for a free key.
    private static let pageSize = 50
    /// Bytes of the ids in one URL: few servers take URLs that are much longer.
    private static let maximumIDBytes = 2_000
    private static let maximumFavorites = 300

    let configuration: Configuration.Gifs
    let key: GiphyKey
    let http: HTTPSettings
    let context: SourceContext

    var name: String { GifSource.name }
    var kind: String { "giphy" }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.baseURL }
    var isSearchedWhileFresh: Bool { true }
    var isConfigured: Bool { key.isConfigured }
    /// Where GIFs are switched off nobody misses a key.
    var unavailableReason: SourceFailure? { isEnabled ? key.failure : nil }

    var refresh: Duration { configuration.refresh }
    var settings: [String] { [configuration.baseURL, rating, key.secret?.value ?? ""] + configuration.queries }

    private var rating: String { configuration.rating.rawValue }

    /// What was fetched before is not shown any more.
    var notBefore: Timestamp { now - configuration.keep }

    var trending: GifList { .trending(rating: rating) }

    func clear() async throws(StoreError) -> Int { try await stores.gifs.clear() }

    // MARK: The hourly quota and the rate limit

    var quota: SourceStatus.Quota? {
        key.secret == nil ? nil : stores.quota.status(limit: configuration.hourlyQuota, now: now)
    }

    var quotaFailure: SourceFailure? {
        guard let next = quotaReturns(for: .user) else { return nil }
        let message = "All \(configuration.hourlyQuota) requests of this hour are used (gifs.hourly_quota)"
        return SourceFailure(kind: .quota, message: message, since: now, retryAt: next)
    }

    /// That no request of this user can be sent, for its share of the quota is used up; from memory.
    func quotaFailure(of uid: UInt32) -> SourceFailure? {
        if let quotaFailure { return quotaFailure }
        guard let next = quotaReturns(for: .user, uid) else { return nil }
        let message = "This user's share of the requests of this hour is used (gifs.hourly_quota)"
        return SourceFailure(kind: .quota, message: message, since: now, retryAt: next)
    }

    var quotaReturnsAt: Timestamp? { key.secret == nil ? nil : quotaReturns(for: .background) }

    /// nil while a request may be sent.
    private func quotaReturns(for purpose: QuotaWindow.Purpose, _ uid: UInt32? = nil) -> Timestamp? {
        let next = stores.quota.nextFree(purpose, by: uid, limit: configuration.hourlyQuota, now: now)
        return next.flatMap { $0 > now ? $0 : nil }
    }

    /// Counts a request of a run.
    ///
    /// - Returns: why the run has to wait, and for how long; nil if the request may be sent.
    private func takeQuota() async -> FetchFailure? {
        let limit = configuration.hourlyQuota
        guard case .exhausted(let until) = await stores.quota.take(.background, limit: limit, now: now) else {
            return nil
        }
        // All of a very small quota is the users'.
        let wait = until.map { now.duration(to: $0) } ?? configuration.refresh
        let message = "This hour's requests for prefetching are used up; the rest follows (gifs.hourly_quota)"
        return FetchFailure(kind: .quota, message: message, isRetryable: true, retryAfter: wait)
    }

    /// Giphy's rate limit counts by the hour, but a 429 does not say from when: wait for the next full hour.
    var rateLimitWait: Duration? { .seconds(3600 - now.seconds % 3600) }

    private func giphy(_ transport: CurlTransport) throws(FetchFailure) -> Giphy {
        guard let secret = key.secret else {
            let message = key.failure?.message ?? "There is no key"
            throw FetchFailure(kind: .credentials, message: message, isRetryable: false)
        }
        return Giphy(
            baseURL: url, key: secret.value, rating: rating, transport: transport, timeout: http.timeout,
            decodingOn: BackgroundThreads.decoding)
    }

    // MARK: A run

    func fetch() async -> FetchOutcome {
        await run { try await fetch(from: try giphy($0)) }
    }

    /// Fetches the lists of the configuration, for as long as the quota lasts.
    private func fetch(from giphy: Giphy) async throws -> FetchOutcome {
        var added = 0
        let lists = [trending] + configuration.queries.map { .search($0, rating: rating) }
        let oldest = now - configuration.refresh
        context.gifRun.begin(policy.settings)
        for list in lists where !context.gifRun.has(list, notBefore: oldest) {
            if let wait = await takeQuota() { return .postponed(wait) }
            let limit = GifSource.pageSize
            added += try await fetchPage(of: list, offset: 0, limit: limit, from: giphy, within: http.timeout) ?? 0
            context.gifRun.note(list, at: now)
        }
        context.gifRun.end()
        await stores.gifs.purge(before: notBefore, now: now)
        guard try await stores.gifs.finishRun(newRecord(), of: lists) else { return .contentGone }
        added += try await fetchFavorites(from: giphy)
        context.logger.info("gifs.fetched", metadata: ["added": "\(added)", "total": "\(stores.gifs.count)"])
        return .fetched(added: added)
    }

    /// Fetches users' favorites again, of which nothing but id and title is kept.
    private func fetchFavorites(from giphy: Giphy) async throws -> Int {
        var added = 0
        let favorites = await stores.favorites.gifIDs(limit: GifSource.maximumFavorites)
        var missing = await stores.gifs.missing(ids: favorites, notBefore: now - configuration.refresh)[...]
        while !missing.isEmpty, await takeQuota() == nil {
            var length = 0
            let ids = missing.prefix(Giphy.maximumIDs).prefix { id in
                length += id.utf8.count + 1
                return length <= GifSource.maximumIDBytes
            }
            // Anything longer than that alone is no id.
            missing = missing.dropFirst(max(ids.count, 1))
            do {
                added += try await stores.gifs.put(try await giphy.gifs(ids: Array(ids)).gifs, at: now)
            } catch {
                let failure = FetchFailure(error)
                if failure.kind == .quota || failure.kind == .credentials { throw failure }
                // A favorite may be nothing that Giphy knows, which is no failure of the source.
                context.logger.info("gifs.favorites-not-fetched", metadata: ["error": "\(failure.message)"])
            }
        }
        return added
    }

    // MARK: A request of a user

    /// Fetches for a user and stores what comes.
    ///
    /// - Parameters:
    ///   - uid: the user, whose share of the quota it takes.
    ///   - limit: how many GIFs of a page are wanted.
    /// - Returns: nil where the quota is used up.
    func fetch(
        _ request: GifRequest, for uid: UInt32, limit: Int, within time: Duration
    ) async throws(FetchFailure) -> GifResult? {
        let quota = configuration.hourlyQuota
        if case .exhausted = await stores.quota.take(.user, by: uid, limit: quota, now: now) { return nil }
        return try await connected { transport in
            let giphy = try giphy(transport)
            let gif: Gif?
            switch request {
            case .page(let list, let offset):
                let added = try await fetchPage(
                    of: list, offset: offset, limit: max(limit, 25), from: giphy, within: time)
                return added == nil ? .nothing : .stored
            case .random(let tag): gif = try await giphy.random(tag: tag, timeout: time)
            case .gif(let id): gif = try await giphy.gif(id: id, timeout: time)
            }
            guard let gif else { return .nothing }
            _ = try await stores.gifs.put([gif], at: now)
            return .gif(gif)
        }
    }

    /// - Returns: how many GIFs are new; nil where Giphy does not take this query, which says nothing of any other.
    private func fetchPage(
        of list: GifList, offset: Int, limit: Int, from giphy: Giphy, within time: Duration
    ) async throws -> Int? {
        let page: GifPage
        do throws(UpstreamError) {
            if list.isTrending {
                page = try await giphy.trending(offset: offset, limit: limit, timeout: time)
            } else {
                page = try await giphy.search(
                    list.query, offset: offset, limit: limit, rating: list.rating, lang: list.lang, timeout: time)
            }
        } catch {
            if error.kind == .http(status: 414), !list.isTrending { return nil }
            throw error
        }
        return try await stores.gifs.put(
            page.gifs, in: list, offset: offset, nextOffset: page.nextOffset, totalCount: page.totalCount, at: now) ?? 0
    }
}

/// What Giphy is sent on behalf of a user.
enum GifRequest: Hashable, Sendable {
    /// A page of a list, from an offset of Giphy's.
    case page(GifList, offset: Int)
    case random(tag: String?)
    case gif(id: String)
}

/// What came of a request.
enum GifResult: Equatable, Sendable {
    /// The page is stored.
    case stored
    case gif(Gif)
    /// Giphy has nothing of the kind.
    case nothing
    /// Nothing was fetched; why, where it is known.
    case unavailable(SourceFailure?)
}

/// What a run of the source `gifs` has fetched so far: where the quota cuts it short, the next one continues there.
final class GifRun: Sendable {
    private let state = Mutex((settings: "", fetched: [GifList: Timestamp]()))

    /// Continues a run, or begins one where the last had other settings.
    func begin(_ settings: String) {
        state.withLock { if $0.settings != settings { $0 = (settings, [:]) } }
    }

    func note(_ list: GifList, at now: Timestamp) { state.withLock { $0.fetched[list] = now } }

    /// Whether this run has fetched a list.
    ///
    /// - Parameter notBefore: what was fetched earlier belongs to a run that never ended.
    func has(_ list: GifList, notBefore: Timestamp) -> Bool {
        state.withLock { $0.fetched[list].map { $0 >= notBefore } ?? false }
    }

    func end() { state.withLock { $0.fetched = [:] } }
}

/// The key of Giphy's API, or why there is none. It is read when the configuration is.
struct GiphyKey: Sendable {
    /// The systemd credential that holds the key where no file is named.
    static let credential = "giphy-api-key"

    /// nil where GIFs cannot be fetched.
    private(set) var secret: Secret?
    private(set) var failure: SourceFailure?
    /// Whether a file or credential was provided, usable or not.
    private(set) var isConfigured = true

    init(_ configuration: Configuration.Gifs, _ credentials: Credentials, now: Timestamp = .now()) {
        // A sentence without its full stop.
        var message: String
        do throws(CredentialError) {
            if let file = configuration.apiKeyFile {
                message = "The key file \(file) does not exist (gifs.api_key_file)"
                secret = try Secret.read(path: file)
            } else {
                message = "GIFs are not set up: norrisd has no API key for Giphy"
                secret = try credentials.secret(named: GiphyKey.credential)
                isConfigured = secret != nil
            }
        } catch {
            message = error.description
        }
        // A key becomes part of a URL: anything else is a page saved by mistake, for example.
        if let key = secret?.value, key.utf8.count > 256 || !key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            message = "The API key for Giphy is invalid: a key is one word of ASCII"
            secret = nil
        }
        if secret == nil { failure = SourceFailure(kind: .credentials, message: message, since: now) }
    }
}
