import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisThreads
import NorrisUpstream

/// One entry of `posts.sources` of any kind.
struct PostSource: ContentSource {
    /// The name of the request in the stored validators. A repaired reply has another name, so that a later 304 is
    /// known to confirm a repaired reply.
    private static func part(isRepaired: Bool) -> String { isRepaired ? "posts.repaired" : "posts" }

    let configuration: Configuration.PostSource
    let http: HTTPSettings
    let context: SourceContext

    var name: String { configuration.name }
    var kind: String { configuration.kind.rawValue }
    var isEnabled: Bool { configuration.enabled }
    var url: String { configuration.url }
    var refresh: Duration { configuration.refresh }
    var settings: [String] { [kind, configuration.url] }

    private var upstream: any PostUpstream {
        let (transport, decoding) = (transport(), BackgroundThreads.decoding)
        return switch configuration.kind {
        case .feed: Feed(url: url, source: name, transport: transport, decodingOn: decoding)
        case .mastodon: Mastodon(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        case .usersPosts: UsersPosts(baseURL: url, source: name, transport: transport, decodingOn: decoding)
        }
    }

    func clear() async throws(StoreError) -> Int { try await stores.posts.clear(source: name) }

    func fetch() async -> FetchOutcome {
        do { return try await fetch(from: upstream) } catch { return outcome(of: error) }
    }

    private func fetch(from upstream: any PostUpstream) async throws -> FetchOutcome {
        let parts = await lastFetch?.parts ?? [:]
        let repaired = parts[PostSource.part(isRepaired: true)]
        let known = (repaired ?? parts[PostSource.part(isRepaired: false)])?.validators ?? Validators()
        let fetched = try await upstream.posts(validators: known, timeout: http.timeout)
        let info = fetched.info
        guard case .changed(let batch, _) = fetched else {
            let record = record(info, isRepaired: repaired != nil)
            let changes = await stores.posts.confirm(
                source: name, keep: repaired == nil ? configuration.keep : nil, fetch: record, at: now)
            if changes == nil { return .contentGone }
            return FetchOutcome(added: 0, info)
        }
        // No validators are stored for a truncated reply, so that the next request fetches the missing posts.
        var kept = info
        if batch.isCut { kept.validators = Validators() }
        let changes = try await store(batch, record(kept, isRepaired: batch.isPartial))
        return FetchOutcome(added: changes.added, newest: changes.newest, info)
    }

    private func record(_ info: FetchInfo, isRepaired: Bool) -> FetchRecord {
        newRecord(info, parts: [PostSource.part(isRepaired: isRepaired): PartRecord(info.validators, at: now)])
    }

    private func store(_ batch: PostBatch, _ record: FetchRecord) async throws -> PostChanges {
        if batch.posts.isEmpty, batch.skipped > 0 {
            let message = "The source \(name) answered with \(batch.skipped) posts, none of them usable."
            throw FetchFailure.unusable(message)
        }
        let changes = try await stores.posts.replace(
            source: name, posts: batch.posts, authors: batch.authors,
            isComplete: batch.skipped == 0 && !batch.isPartial, keep: batch.isPartial ? nil : configuration.keep,
            fetch: record, at: now)
        var metadata: Logger.Metadata = [
            "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
            "expired": "\(changes.removed)", "skipped": "\(batch.skipped)",
        ]
        if batch.repairs > 0 { metadata["feed.repairs"] = "\(batch.repairs)" }
        context.logger.info("posts.fetched", metadata: metadata)
        return changes
    }
}
