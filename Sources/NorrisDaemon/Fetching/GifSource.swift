import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream
import SystemdIntegration

/// Giphy: how GIFs are fetched ahead, within the budget of requests.
struct GifSource: ContentSource {
    static let name = "gifs"
    /// As many as Giphy gives at once to a key of the free sort.
    static let pageSize = 50
    /// Giphy tells of so many ids in one answer.
    private static let idsAtOnce = 100
    /// And no server likes URLs much longer than this, in bytes.
    private static let lengthAtOnce = 2_000
    private static let maximumFavorites = 300

    let configuration: Configuration.Gifs
    let key: GiphyKey
    let http: HTTPSettings
    let run: GifRun
    let stores: Stores
    let clock: any WallClock
    let logger: Logger

    var name: String { GifSource.name }
    var kind: String { "giphy" }
    var isEnabled: Bool { configuration.enabled }
    var isAskedWhileFresh: Bool { true }
    /// Where GIFs are switched off nobody misses a key.
    var impediment: SourceFailure? { isEnabled ? key.failure : nil }

    var policy: SourcePolicy {
        SourcePolicy(
            isEnabled: isEnabled && key.secret != nil, refresh: configuration.refresh,
            // One digest of all: the key cannot be found from it, but another key is noticed.
            settings: settingsDigest(
                [configuration.baseURL, configuration.rating.rawValue, key.secret?.value ?? ""] + configuration.queries
            )
        )
    }

    var quota: SourceStatus.Quota? {
        guard key.secret != nil else { return nil }
        return stores.quota.status(limit: configuration.hourlyQuota, now: clock.now)
    }

    var budgetReturnsAt: Timestamp? {
        let (limit, now) = (configuration.hourlyQuota, clock.now)
        guard key.secret != nil, let next = stores.quota.nextFree(.background, limit: limit, now: now), next > now
        else { return nil }
        return next
    }

    /// Before this moment nothing is shown any more of what was fetched.
    var notBefore: Timestamp { Timestamp(seconds: clock.now.seconds - configuration.keep.components.seconds) }

    var trending: GifList { .trending(rating: configuration.rating.rawValue) }

    func clear() async throws(StoreError) -> Int {
        try await stores.gifs.clear()
    }

    // MARK: A run

    func fetch() async -> FetchOutcome {
        await FetchOutcome { () async throws(FetchFailure) in
            try await withGiphy { giphy throws(FetchFailure) in
                try await fetchAhead(giphy)
            }
        }
    }

    /// Fetches what is fetched ahead, for as long as the budget allows.
    private func fetchAhead(_ giphy: Giphy) async throws(FetchFailure) -> FetchOutcome {
        var added = 0
        let lists = [trending] + configuration.queries.map { .search($0, rating: configuration.rating.rawValue) }
        let oldest = Timestamp(seconds: clock.now.seconds - configuration.refresh.components.seconds)
        run.begin(policy.settings)
        for list in lists where !run.has(list, notBefore: oldest) {
            if let wait = await waitForBudget() { return .postponed(wait) }
            added += try await fetchPage(
                of: list, offset: 0, limit: GifSource.pageSize, from: giphy, within: http.timeout
            ) ?? 0
            run.note(list, at: clock.now)
        }
        run.end()
        await stores.gifs.purge(before: notBefore, now: clock.now)
        let record = FetchRecord(settings: policy.settings, fetchedAt: clock.now)
        let isThere = try await storing { () async throws(StoreError) in
            try await stores.gifs.finishRun(record, of: lists)
        }
        guard isThere else { return .contentGone }
        added += try await fetchFavorites(giphy)
        logger.info("gifs.fetched", metadata: ["added": "\(added)", "total": "\(stores.gifs.count)"])
        return .fetched(added: added)
    }

    /// Fetches again what users keep, for of that nothing but id and title lasts.
    private func fetchFavorites(_ giphy: Giphy) async throws(FetchFailure) -> Int {
        var added = 0
        let kept = await stores.favorites.gifIDs(limit: GifSource.maximumFavorites)
        let renewBefore = Timestamp(seconds: clock.now.seconds - configuration.refresh.components.seconds)
        var missing = await stores.gifs.missing(ids: kept, notBefore: renewBefore)[...]
        while !missing.isEmpty, await waitForBudget() == nil {
            var length = 0
            let ids = missing.prefix(GifSource.idsAtOnce).prefix { id in
                length += id.utf8.count + 1
                return length <= GifSource.lengthAtOnce
            }
            // Whatever is longer than that alone is no id.
            missing = missing.dropFirst(max(ids.count, 1))
            do throws(FetchFailure) {
                let page = try await asking { () async throws(UpstreamError) in try await giphy.gifs(ids: Array(ids)) }
                added += try await storing { () async throws(StoreError) in
                    try await stores.gifs.put(page.gifs, at: clock.now)
                }
            } catch where error.kind != .quota && error.kind != .credentials {
                // What somebody keeps may be nothing that Giphy knows: that is no reason to call the source ill.
                logger.info("gifs.favorites-not-fetched", metadata: ["error": "\(error.message)"])
            }
        }
        return added
    }

    /// - Returns: why a run has to wait, and for how long; nil if a request may go out now, which is counted.
    private func waitForBudget() async -> FetchFailure? {
        switch await stores.quota.take(.background, limit: configuration.hourlyQuota, now: clock.now) {
        case .granted:
            return nil
        case .exhausted(let until):
            // All of a very small budget is the users'.
            let wait = until.map { clock.now.duration(to: $0) } ?? configuration.refresh
            let message = "The requests that are made ahead are used up; the rest follows (gifs.hourly_quota)"
            return FetchFailure(kind: .quota, message: message, isRetryable: true, retryAfter: wait)
        }
    }

    // MARK: A user's question

    /// Asks Giphy for a user and stores what it says.
    ///
    /// - Parameter limit: how many GIFs of a page are wanted.
    func answer(_ question: GifQuestion, limit: Int, within time: Duration) async throws(FetchFailure) -> GifAnswer {
        if case .exhausted = await stores.quota.take(.user, limit: configuration.hourlyQuota, now: clock.now) {
            return .none(exhaustion)
        }
        return try await withGiphy { giphy throws(FetchFailure) in
            switch question {
            case .page(let list, let offset):
                let added = try await fetchPage(
                    of: list, offset: offset, limit: max(limit, 25), from: giphy, within: time
                )
                return added == nil ? .nothing : .stored
            case .random(let tag):
                let gif = try await asking { () async throws(UpstreamError) in
                    try await giphy.random(tag: tag, timeout: time)
                }
                return try await keep(gif)
            case .gif(let id):
                let gif = try await asking { () async throws(UpstreamError) in
                    try await giphy.gif(id: id, timeout: time)
                }
                return try await keep(gif)
            }
        }
    }

    /// That the budget is used up; nil while it is not.
    var exhaustion: SourceFailure? {
        let (limit, now) = (configuration.hourlyQuota, clock.now)
        guard let next = stores.quota.nextFree(.user, limit: limit, now: now), next > now else { return nil }
        return SourceFailure(
            kind: .quota, message: "All \(limit) requests of this hour are used (gifs.hourly_quota)", since: now,
            retryAt: next
        )
    }

    private func keep(_ gif: Gif?) async throws(FetchFailure) -> GifAnswer {
        guard let gif else { return .nothing }
        _ = try await storing { () async throws(StoreError) in try await stores.gifs.put([gif], at: clock.now) }
        return .gif(gif)
    }

    // MARK: Both

    /// - Returns: how many GIFs are new; nil where Giphy does not take this query, which says nothing of any other.
    private func fetchPage(
        of list: GifList, offset: Int, limit: Int, from giphy: Giphy, within time: Duration
    ) async throws(FetchFailure) -> Int? {
        let answer = try await asking { () async throws(UpstreamError) -> GifPage? in
            if list.isTrending { return try await giphy.trending(offset: offset, limit: limit, timeout: time) }
            do throws(UpstreamError) {
                return try await giphy.search(
                    list.query, offset: offset, limit: limit, rating: list.rating, lang: list.lang, timeout: time
                )
            } catch where error.kind == .http(status: 414) {
                return nil
            }
        }
        guard let page = answer else { return nil }
        return try await storing { () async throws(StoreError) in
            try await stores.gifs.put(
                page.gifs, in: list, offset: offset, nextOffset: page.nextOffset, totalCount: page.totalCount,
                at: clock.now
            ) ?? 0
        }
    }

    private func asking<Value>(_ body: () async throws(UpstreamError) -> Value) async throws(FetchFailure) -> Value {
        do throws(UpstreamError) {
            return try await body()
        } catch {
            var failure = FetchFailure(error)
            if failure.kind == .quota, failure.retryAfter == nil {
                // Giphy counts by the hour, but does not say from when.
                failure.retryAfter = .seconds(3600 - clock.now.seconds % 3600)
            }
            throw failure
        }
    }

    private func storing<Value>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(FetchFailure) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            throw FetchFailure(error)
        }
    }

    private func withGiphy<Value: Sendable>(
        _ body: (Giphy) async throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        guard let secret = key.secret else {
            throw FetchFailure(
                kind: .credentials, message: key.failure?.message ?? "There is no key", isRetryable: false
            )
        }
        let transport = CurlTransport(baseURL: configuration.baseURL, settings: http, logger: logger)
        defer { transport.shutdown() }
        return try await body(
            Giphy(
                baseURL: configuration.baseURL, key: secret.value, rating: configuration.rating.rawValue,
                transport: transport, timeout: http.timeout, decodingOn: Prefetcher.decoding
            )
        )
    }
}
