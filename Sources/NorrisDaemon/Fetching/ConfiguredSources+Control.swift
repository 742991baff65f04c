import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore

/// The changes to sources and their content that administrators request and maintenance makes.
extension ConfiguredSources {
    /// Begins to fetch a source, or every enabled source if `name` is nil; with a tag, sources of posts that have it.
    ///
    /// - Returns: the names of the sources whose runs begin.
    func refresh(
        _ name: String?, tagged tag: String? = nil, isAdministrator: Bool
    ) throws(ResponseError) -> [String] {
        let sources = current
        var chosen = name.map { [$0] } ?? sources.all.filter(\.policy.isEnabled).map(\.name)
        if let tag { chosen = try sources.posts(named: name, tagged: tag).filter(\.policy.isEnabled).map(\.name) }
        if let name, let reason = sources[name]?.unavailableReason {
            throw .nothingCached(reason.message + ".", source: name, lastError: reason)
        }
        var started: [String] = []
        var refusal: ResponseError?
        let passesHold = isAdministrator && name != nil
        for name in chosen {
            do throws(RefreshRefusal) {
                if name == GifSource.name, let until = sources.gifs.quotaReturnsAt { throw .quotaUsed(until: until) }
                try prefetcher.refresh(name, isAdministrator: isAdministrator, passesHold: passesHold)
                started.append(name)
            } catch {
                refusal = ResponseError(error, of: name, sources)
            }
        }
        if started.isEmpty, let refusal { throw refusal }
        return started
    }

    /// Removes the fetched content of a source, or of every source if `name` is nil, and makes a run due.
    ///
    /// - Returns: the number of removed items.
    func clear(_ name: String?) async throws(ResponseError) -> Int {
        var chosen = current.all
        if let name {
            guard let source = current[name] else { throw current.unknown(name) }
            chosen = [source]
        }
        var removed = 0
        for source in chosen {
            do {
                removed += try await source.clear()
            } catch {
                throw .cacheNotWritable
            }
            await prefetcher.contentGone(source.name)
        }
        return removed
    }

    /// Removes expired content, and the content of sources that the configuration no longer contains.
    func removeExpired() async {
        let now = clock.now
        await stores.gifs.purge(before: current.gifs.notBefore, now: now)
        let before = now - settings.configuration.posts.keep
        _ = try? await stores.posts.purgeSources(keeping: current.postNames, before: before)
    }

    /// Makes all sources due, because the cache was replaced. The facts in memory are served until the next fetch.
    func cacheWasReplaced() async {
        for source in current.all { await prefetcher.contentGone(source.name) }
    }

    /// Makes the sources due whose content could not be stored, because the cache can be written.
    func cacheIsWritable() {
        for source in current.all where prefetcher.schedule(of: source.name)?.record.failure?.kind == .storage {
            // A refusal leaves the schedule as it is.
            try? prefetcher.refresh(source.name, isAdministrator: true)
        }
    }
}

extension ResponseError {
    static let cacheNotWritable = ResponseError.storage(
        "The cache cannot be written now.", hint: "See why: norrisctl status")

    /// The reason why a source is not refreshed, and the time from which it may be.
    fileprivate init(_ refusal: RefreshRefusal, of source: String, _ sources: Sources) {
        switch refusal {
        case .unknown: self = sources.unknown(source)
        case .disabled:
            self = .notFound(
                "The source \(source.quotedForMessage) is disabled.",
                hint: "Remove enabled: false from the configuration: norrisctl config path")
        case .gone:
            self = .permissionDenied
            message = "The upstream of \(source) says that it is gone (HTTP 410). Only administrators may ask again."
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
                "\(source) was refreshed less than \(SourceRefresh.pause) minutes ago.",
                hint: "Wait until \(until), or ask an administrator.", retryAt: until)
        }
    }
}
