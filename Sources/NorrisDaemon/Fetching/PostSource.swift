import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream

/// One entry of `posts.sources`: how it is fetched, whatever speaks there.
struct PostSource: ContentSource {
    /// The name that the one request of a run has among the validators.
    private static let part = "posts"

    let configuration: Configuration.PostSource
    let http: HTTPSettings
    let stores: Stores
    let logger: Logger

    var name: String { configuration.name }
    var kind: String { configuration.kind.rawValue }
    var isEnabled: Bool { configuration.enabled }

    var policy: SourcePolicy {
        SourcePolicy(isEnabled: configuration.enabled, refresh: configuration.refresh, settings: settings)
    }

    private var settings: String { settingsDigest([kind, configuration.url]) }

    func clear() throws(StoreError) -> Int {
        try stores.posts.clear(source: name)
    }

    func fetch() async -> FetchOutcome {
        await FetchOutcome { () async throws(FetchFailure) in
            // A connection lives for one run: a daemon that asks now and then keeps none.
            let transport = CurlTransport(baseURL: configuration.url, settings: http, logger: logger)
            defer { transport.shutdown() }
            return try await fetch(from: upstream(transport))
        }
    }

    private func upstream(_ transport: CurlTransport) -> any PostUpstream {
        let (url, decoding) = (configuration.url, Prefetcher.decoding)
        return switch configuration.kind {
        case .feed: Feed(url: url, source: name, transport: transport, decodingOn: decoding)
        case .mastodon: Mastodon(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        case .usersPosts: UsersPosts(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        }
    }

    private func fetch(from upstream: any PostUpstream) async throws(FetchFailure) -> FetchOutcome {
        var last = stores.fetches.record(of: name)
        if last?.settings != settings { last = nil }
        let known = last?.parts[PostSource.part]?.validators ?? Validators()
        let fetched: Fetched<PostBatch>
        do throws(UpstreamError) {
            fetched = try await upstream.posts(validators: known, timeout: http.timeout)
        } catch {
            throw FetchFailure(error)
        }
        // What a partial answer left out is not asked for again with its validators.
        var validators = fetched.info.validators
        if case .changed(let batch, _) = fetched, batch.isPartial { validators = Validators() }
        let part = PartRecord(validators)
        let record = FetchRecord(settings: settings, fetchedAt: .now(), parts: [PostSource.part: part])
        guard case .changed(let batch, _) = fetched else {
            guard let changes = stores.posts.confirm(source: name, keep: configuration.keep, fetch: record) else {
                return .contentGone
            }
            await stores.readMarks.forget(ids: changes.removed)
            return .fetched(added: 0, notBefore: fetched.info.notBefore)
        }
        if batch.posts.isEmpty, batch.skipped > 0 {
            throw .unusable("The source \(name) answered with \(batch.skipped) posts of which none can be used.")
        }
        let changes = try await withTaskExecutorPreference(Prefetcher.background) { () throws(FetchFailure) in
            try store(batch, record)
        }
        await stores.readMarks.forget(ids: changes.removed)
        var metadata: Logger.Metadata = [
            "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
            "expired": "\(changes.removed.count)", "skipped": "\(batch.skipped)",
        ]
        if batch.repairs > 0 { metadata["feed.repairs"] = "\(batch.repairs)" }
        if batch.isPartial { metadata["feed.partial"] = "true" }
        logger.info("posts.fetched", metadata: metadata)
        return .fetched(added: changes.added, notBefore: fetched.info.notBefore)
    }

    private func store(_ batch: PostBatch, _ record: FetchRecord) throws(FetchFailure) -> PostChanges {
        do throws(StoreError) {
            return try stores.posts.replace(
                source: name, posts: batch.posts, authors: batch.authors,
                isComplete: batch.skipped == 0 && !batch.isPartial,
                keep: batch.isPartial ? nil : configuration.keep, fetch: record
            )
        } catch {
            throw FetchFailure(error)
        }
    }
}
