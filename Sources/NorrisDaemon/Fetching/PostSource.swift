import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisUpstream

/// One entry of `posts.sources`, whatever its kind.
struct PostSource: ContentSource {
    /// The name that the one request of a run has among the validators.
    private static let part = "posts"

    let configuration: Configuration.PostSource
    let http: HTTPSettings
    let context: SourceContext

    var name: String { configuration.name }
    var kind: String { configuration.kind.rawValue }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.url }
    var refresh: Duration { configuration.refresh }
    var settings: [String] { [kind, configuration.url] }

    private func upstream(_ transport: CurlTransport) -> any PostUpstream {
        let decoding = Prefetcher.decoding
        return switch configuration.kind {
        case .feed: Feed(url: url, source: name, transport: transport, decodingOn: decoding)
        case .mastodon: Mastodon(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        case .usersPosts: UsersPosts(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        }
    }

    func clear() throws(StoreError) -> Int { try stores.posts.clear(source: name) }

    func fetch() async -> FetchOutcome {
        await run { transport in
            let known = lastFetch?.parts[PostSource.part]?.validators ?? Validators()
            let fetched = try await upstream(transport).posts(validators: known, timeout: http.timeout)
            let info = fetched.info
            guard case .changed(let batch, _) = fetched else {
                let record = record(info.validators)
                guard let changes = stores.posts.confirm(
                    source: name, keep: configuration.keep, fetch: record, at: now
                ) else { return .contentGone }
                await stores.readMarks.forget(ids: changes.removed)
                return .fetched(added: 0, notBefore: info.notBefore)
            }
            let changes = try await withTaskExecutorPreference(Prefetcher.background) {
                // Without the validators of a partial reply, the next request gets what this one left out.
                try store(batch, record(batch.isPartial ? Validators() : info.validators))
            }
            await stores.readMarks.forget(ids: changes.removed)
            return .fetched(added: changes.added, notBefore: info.notBefore)
        }
    }

    private func record(_ validators: Validators) -> FetchRecord {
        newRecord(parts: [PostSource.part: PartRecord(validators, at: now)])
    }

    private func store(_ batch: PostBatch, _ record: FetchRecord) throws -> PostChanges {
        if batch.posts.isEmpty, batch.skipped > 0 {
            let message = "The source \(name) answered with \(batch.skipped) posts, none of them usable."
            throw FetchFailure.unusable(message)
        }
        let changes = try stores.posts.replace(
            source: name, posts: batch.posts, authors: batch.authors,
            isComplete: batch.skipped == 0 && !batch.isPartial, keep: batch.isPartial ? nil : configuration.keep,
            fetch: record, at: now
        )
        var metadata: Logger.Metadata = [
            "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
            "expired": "\(changes.removed.count)", "skipped": "\(batch.skipped)",
        ]
        if batch.repairs > 0 { metadata["feed.repairs"] = "\(batch.repairs)" }
        context.logger.info("posts.fetched", metadata: metadata)
        return changes
    }
}
