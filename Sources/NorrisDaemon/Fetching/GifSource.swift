import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisSystem
import SystemdIntegration

/// The source `gifs`: GIFs of Giphy, fetched by schedule and for users, within the hourly quota and Giphy's rate limit.
struct GifSource: ContentSource {
    static let name = SourceStatus.gifs
    /// The maximum that Giphy returns for a free key.
    private static let pageSize = 50
    /// The maximum number of ids in one request. An id has at most 64 bytes, and few servers accept long URLs.
    private static let maximumIDs = 50
    private static let maximumFavorites = 300
    /// The fewest GIFs that a user's request fetches, because each request counts against the quota.
    private static let userPageSize = 25

    let configuration: Configuration.Gifs
    let key: GiphyKey
    let http: Configuration.HTTP
    let context: SourceContext

    var name: String { GifSource.name }
    var kind: String { "giphy" }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.baseURL }
    var unavailableReason: SourceFailure? { isEnabled ? key.failure : nil }
    var refresh: Duration { configuration.refresh }
    var settings: [String] { [configuration.baseURL, rating, key.secret?.value ?? ""] + configuration.queries }

    private var rating: String { configuration.rating.rawValue }

    /// The time of the last fetch before which a GIF is expired.
    var notBefore: Timestamp { now - configuration.keep }

    var trending: GifList { .trending(rating: rating) }

    func clear() async throws(StoreError) -> Int { try await stores.gifs.clear() }

    // MARK: The hourly quota and the rate limit

    /// The quota in `server.status`; nil without a key. From memory.
    var quota: SourceStatus.Quota? {
        key.secret == nil ? nil : stores.quota.status(limit: configuration.hourlyQuota, now: now)
    }

    /// The failure of a user's request if the quota of all users, or the user's share of the quota, is used up.
    func quotaFailure(of uid: UInt32? = nil) -> SourceFailure? {
        var message = "All \(configuration.hourlyQuota) requests of this hour are used (gifs.hourly_quota)"
        var next = quotaReturns(for: .user)
        if next == nil, let uid {
            message = "This user's share of the requests of this hour is used (gifs.hourly_quota)"
            next = quotaReturns(for: .user, uid)
        }
        return next.map { SourceFailure(kind: .quota, message: message, since: now, retryAt: $0) }
    }

    /// The time from which a run may send requests again, if its share of the quota is used up.
    var quotaReturnsAt: Timestamp? { key.secret == nil ? nil : quotaReturns(for: .background) }

    /// The time from which a request may be sent; nil if a request may be sent now.
    private func quotaReturns(for purpose: QuotaWindow.Purpose, _ uid: UInt32? = nil) -> Timestamp? {
        let next = stores.quota.nextFree(purpose, by: uid, limit: configuration.hourlyQuota, now: now)
        return next.flatMap { $0 > now ? $0 : nil }
    }

    /// Counts a request of a run.
    ///
    /// - Returns: the reason and the duration of a wait; nil if the request may be sent.
    private func takeQuota() async -> FetchFailure? {
        let limit = configuration.hourlyQuota
        guard case .exhausted(let until) = await stores.quota.take(.background, limit: limit, now: now) else {
            return nil
        }
        // A very small quota is reserved for users.
        let wait = until.map { Int($0.seconds - now.seconds) } ?? Int(configuration.refresh.components.seconds)
        let message = "This hour's requests for prefetching are used up; the rest follows (gifs.hourly_quota)"
        return FetchFailure(kind: .quota, message: message, isRetryable: true, postponed: wait)
    }

    // MARK: A run

    /// Fetches the lists of the configuration. A run that the quota has ended continues with the lists that are not
    /// stored since the last complete run.
    func run(_ run: SourceImport) async throws -> FetchOutcome {
        var added = 0
        let lists = [trending] + configuration.queries.map { .search($0, rating: rating) }
        let last = await stores.records.fetch(of: name)?.fetchedAt ?? Timestamp(seconds: 0)
        let oldest = max(last.advanced(by: .seconds(1)), now - configuration.refresh)
        for list in lists {
            let stored = try? await stores.gifs.page(of: list, PageRequest(limit: 1), notBefore: oldest)
            if stored != nil { continue }
            if let wait = await takeQuota() { return .postponed(wait) }
            if let (head, gifs) = try await page(of: list, offset: 0, limit: GifSource.pageSize) {
                added += try await stores.gifs.put(
                    gifs, in: list, offset: 0, nextOffset: head.nextOffset, totalCount: head.totalCount, at: now)
            }
        }
        await stores.gifs.purge(before: notBefore, now: now)
        try await run.store(newRecord())
        added += try await fetchFavorites()
        context.logger.info("gifs.fetched", metadata: ["added": "\(added)", "total": "\(stores.gifs.count)"])
        return .fetched(added: added)
    }

    /// Fetches the GIFs of users' favorites again, because a favorite stores only the id and the title.
    private func fetchFavorites() async throws -> Int {
        var added = 0
        let favorites = await stores.favorites.gifIDs(limit: GifSource.maximumFavorites)
        var missing = await stores.gifs.missing(ids: favorites, notBefore: now - configuration.refresh)[...]
        while !missing.isEmpty, await takeQuota() == nil {
            let ids = missing.prefix(GifSource.maximumIDs)
            missing = missing.dropFirst(ids.count)
            do throws(FetchFailure) {
                let gifs = try await fetch(.gifs, query: ids.joined(separator: ",")).gifs
                added += (try? await stores.gifs.put(gifs, at: now)) ?? 0
            } catch {
                if error.kind == .quota || error.kind == .credentials || error.postponed != nil { throw error }
                // A favorite's id may be unknown to Giphy, which is no failure of the source.
                context.logger.info("gifs.favorites-not-fetched", metadata: ["error": "\(error.message)"])
            }
        }
        return added
    }

    // MARK: Requests to Giphy

    /// Sends a user's request to Giphy and stores the reply.
    ///
    /// - Parameters:
    ///   - uid: the user whose share of the quota the request takes.
    ///   - time: the limit for fetching and decoding.
    /// - Returns: nil if the quota is used up.
    func fetch(
        _ request: GifRequest, for uid: UInt32, within time: Duration
    ) async throws(FetchFailure) -> GifResult? {
        let quota = configuration.hourlyQuota
        if case .exhausted = await stores.quota.take(.user, by: uid, limit: quota, now: now) { return nil }
        do {
            let gif: Gif?
            switch request {
            case .page(let list, let offset, let request):
                let limit = max(request.limit, GifSource.userPageSize)
                guard let (head, gifs) = try await page(of: list, offset: offset, limit: limit, within: time) else {
                    return .nothing
                }
                try await stores.gifs.put(
                    gifs, in: list, offset: offset, nextOffset: head.nextOffset, totalCount: head.totalCount, at: now)
                return .page
            case .random(let tag): gif = try await fetch(.gifRandom, query: tag, within: time).gifs.first
            case .gif(let id): gif = try await fetch(.gifs, query: id, within: time).gifs.first { $0.id == id }
            }
            guard let gif else { return .nothing }
            _ = try await stores.gifs.put([gif], at: now)
            return .gif(gif)
        } catch {
            throw FetchFailure(error)
        }
    }

    /// The stored reply to a request; nil if the request must be sent.
    func stored(_ request: GifRequest) async -> GifResult? {
        switch request {
        case .page(let list, _, let request):
            let page = try? await stores.gifs.page(of: list, request, notBefore: notBefore)
            return page != nil && offsetToFetch(of: list, page, isFirst: request.cursor == nil) == nil ? .page : nil
        case .random(let tag):
            return await stores.gifs.random(text: tag, rating: rating, notBefore: notBefore).map(GifResult.gif)
        case .gif(let id): return await stores.gifs.gif(id: id, notBefore: notBefore).map(GifResult.gif)
        }
    }

    /// A page of a list; nil if Giphy refuses the query as too long, which says nothing about other queries.
    private func page(
        of list: GifList, offset: Int, limit: Int, within time: Duration? = nil
    ) async throws(FetchFailure) -> (head: FetchHead, gifs: [Gif])? {
        do throws(FetchFailure) {
            return try await fetch(
                list.isTrending ? .gifTrending : .gifSearch, query: list.query, offset: offset, limit: limit,
                rating: list.rating, lang: list.lang, within: time)
        } catch {
            if error.status == 414, !list.isTrending { return nil }
            throw error
        }
    }

    private func fetch(
        _ kind: FetchRequest.Kind, query: String?, offset: Int? = nil, limit: Int? = nil, rating: String? = nil,
        lang: String? = nil, within time: Duration? = nil
    ) async throws(FetchFailure) -> (head: FetchHead, gifs: [Gif]) {
        guard let secret = key.secret else {
            throw FetchFailure(kind: .credentials, message: key.failure?.message ?? "There is no key")
        }
        var request = request(kind)
        (request.key, request.query, request.offset, request.limit) = (secret.value, query, offset, limit)
        (request.rating, request.lang) = (rating ?? self.rating, lang)
        if let time { request.timeout = min(request.timeout, Int(time / .milliseconds(1))) }
        let (head, gifs) = try await context.fetch(request, Gif.self, within: time)
        return (head, gifs)
    }
}

/// A request to Giphy on behalf of a user.
enum GifRequest: Sendable {
    /// A page of a list, from an offset in Giphy's list; the client's request selects from the stored list.
    case page(GifList, offset: Int, PageRequest)
    case random(tag: String?)
    case gif(id: String)
}

/// The result of a user's request to Giphy.
enum GifResult: Equatable, Sendable {
    /// The page is stored.
    case page
    case gif(Gif)
    /// Giphy has no such GIF.
    case nothing
    /// Nothing was fetched; contains the reason if known.
    case unavailable(SourceFailure?)
}

/// Users' requests to Giphy.
extension ConfiguredSources {
    /// The part of the time of a search that is left for storing the reply and reading the page.
    private static let storing = Duration.milliseconds(300)

    /// Whether the schedule allows a request now.
    var mayAskGiphy: Bool { prefetcher.maySearch(GifSource.name) }

    /// Sends a request to Giphy and stores the reply, within the time of a search and the limits of the schedule.
    ///
    /// - Parameters:
    ///   - uid: the user who waits. Of equal requests at one time, the first counts against its user's quota, and the
    ///     others find the stored reply.
    ///   - mayFetch: ``mayAskGiphy`` when the client's request arrived.
    func askGiphy(_ request: GifRequest, for uid: UInt32, mayFetch: Bool) async -> GifResult {
        let source = current.gifs
        guard mayFetch else { return unavailable(source, uid) }
        let fetched = await prefetcher.search(source.name) { time throws(FetchFailure) in
            if let stored = await source.stored(request) { return stored }
            return try await source.fetch(
                request, for: uid, within: max(time - ConfiguredSources.storing, .zero))
        }
        if let fetched { return fetched }
        // The wait for an equal request may have left no time.
        if let stored = await source.stored(request) { return stored }
        return unavailable(source, uid)
    }

    private func unavailable(_ source: GifSource, _ uid: UInt32) -> GifResult {
        .unavailable(
            failure(of: source.name) ?? source.quotaFailure(of: uid)
                ?? SourceFailure(
                    kind: .timeout, message: "Giphy is busy with another request. Try again.", since: source.now))
    }

    /// A GIF by its id, from the cache or from Giphy.
    func gif(id: String, for uid: UInt32, mayFetch: Bool) async throws(ResponseError) -> Gif {
        let source = current.gifs
        if let gif = await source.stores.gifs.gif(id: id, notBefore: source.notBefore) { return gif }
        // An impossible id costs no request.
        switch Gif.isPossibleID(id) ? await askGiphy(.gif(id: id), for: uid, mayFetch: mayFetch) : .nothing {
        case .gif(let gif): return gif
        case .unavailable(let failure): throw source.nothing("The GIF \(id.quotedForMessage) is not stored.", failure)
        case .nothing, .page: throw .notFound("There is no GIF with the id \(id.quotedForMessage).")
        }
    }
}

/// The key of Giphy's API, or the reason why there is no key. Read with the configuration.
struct GiphyKey: Sendable {
    /// The systemd credential that contains the key if no file is configured.
    static let credential = "giphy-api-key"

    /// nil if GIFs cannot be fetched.
    private(set) var secret: Secret?
    private(set) var failure: SourceFailure?
    /// Whether a file or a credential was provided, usable or not.
    private(set) var isConfigured = true

    init(_ configuration: Configuration.Gifs, _ credentials: Credentials, now: Timestamp = .now()) {
        // Without a full stop.
        var message: String
        do throws(ExplainedError) {
            if let file = configuration.apiKeyFile {
                // The key itself, of 32 letters and digits, may have been written there by mistake.
                let name = file.utf8.split(separator: UInt8(ascii: "/")).last ?? file.utf8[...]
                let isKey =
                    name.count >= 20 && name.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 | 0x20 }
                message =
                    isKey
                    ? "gifs.api_key_file names no file; write the path of a file with the key, not the key"
                    : "The key file \(file) does not exist (gifs.api_key_file)"
                secret = try Secret.read(path: file)
            } else {
                message = "GIFs are not set up: norrisd has no API key for Giphy"
                secret = try credentials.secret(named: GiphyKey.credential)
                isConfigured = secret != nil
            }
        } catch {
            message = error.description
        }
        // The key becomes part of a URL. Any other content is, for example, a web page that was saved by mistake.
        if let key = secret?.value, key.utf8.count > 256 || !key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            message = "The API key for Giphy is invalid: a key is one word of ASCII"
            secret = nil
        }
        if secret == nil { failure = SourceFailure(kind: .credentials, message: message, since: now) }
    }
}
