import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore

/// The freshness and the failures of sources, from memory.
extension ConfiguredSources {
    /// The freshness of items of one source.
    ///
    /// - Parameters:
    ///   - isLocal: whether all items are from the starting collection or fortune files.
    ///   - isFromUpstream: for the reply to a search, whether the upstream answered the search.
    ///   - fetchedAt: the time when these items were fetched; nil for the time of the source's last run.
    func freshness(
        of source: String, isEmpty: Bool, isLocal: Bool = false, isFromUpstream: Bool? = nil,
        fetchedAt: Timestamp? = nil
    ) -> Freshness {
        let now = clock.now
        if isFromUpstream == true {
            return Freshness(origin: .upstream, state: isEmpty ? .empty : .fresh, fetchedAt: now, ageSeconds: 0)
        }
        let schedule = prefetcher.schedule(of: source)
        let isFresh =
            if let fetchedAt, let schedule {
                fetchedAt.duration(to: now) <= schedule.policy.staleAfter
            } else {
                schedule?.isFresh(now) == true
            }
        let fetchedAt = (fetchedAt ?? schedule?.content?.fetchedAt)?.past(now)
        return Freshness(
            origin: isEmpty ? (fetchedAt == nil ? .none : .cache) : isLocal ? .builtin : .cache,
            state: isEmpty ? .empty : isFresh ? .fresh : .stale, fetchedAt: fetchedAt,
            ageSeconds: fetchedAt.map { Int(now.seconds - $0.seconds) },
            error: failure(of: source, schedule))
    }

    /// The freshness of posts of several sources: the oldest time, the worst state and the newest failure.
    ///
    /// Disabled sources count only if no source is enabled.
    func freshness(of posts: [PostSource], isEmpty: Bool) -> Freshness {
        let active = posts.filter(\.isEnabled)
        let all = (active.isEmpty ? posts : active).map { freshness(of: $0.name, isEmpty: isEmpty) }
        let oldest = all.compactMap(\.fetchedAt).min()
        return Freshness(
            origin: isEmpty && oldest == nil ? .none : .cache,
            state: isEmpty ? .empty : all.contains { $0.state == .stale } ? .stale : .fresh, fetchedAt: oldest,
            ageSeconds: all.compactMap(\.ageSeconds).max(), error: all.compactMap(\.error).max { $0.since < $1.since })
    }

    /// The reason why a source cannot be fetched, or the last failure of its upstream.
    func failure(of name: String) -> SourceFailure? { failure(of: name, prefetcher.schedule(of: name)) }

    private func failure(of name: String, _ schedule: SourceSchedule?) -> SourceFailure? {
        let sources = current
        // A disabled source is not expected to be fetched.
        guard let source = sources[name], source.isEnabled else { return nil }
        if let reason = source.unavailableReason { return reason }
        guard name == GifSource.name else { return schedule?.failure(clock.now) }
        return schedule?.searchFailure(clock.now) ?? sources.gifs.quotaFailure()
    }

    /// The names of the sources whose content could not be refreshed for 1.5 times their interval and a day.
    var overdueSources: [String] {
        let sources = current
        let now = clock.now
        return sources.all.map(\.name).filter { name in
            // A source without a configured key is not expected to have one.
            let reason = name == GifSource.name && sources.gifs.key.isConfigured ? sources.gifs.unavailableReason : nil
            return prefetcher.schedule(of: name)?.isOverdue(now, unavailableSince: reason?.since) == true
        }
    }

    /// The sources as `server.status` shows them.
    var statuses: [SourceStatus] {
        let sources = current
        return sources.all.map { source in
            let gifs = source.name == GifSource.name ? sources.gifs : nil
            let schedule = prefetcher.schedule(of: source.name)
            let items = stores.count(of: source.name)
            let isLocal = source.name == FactSource.name && stores.facts.catalogue.upstreamCount == 0
            return SourceStatus(
                name: source.name, kind: source.kind, isEnabled: source.isEnabled,
                isConfigured: gifs?.key.isConfigured == false ? false : nil, items: items,
                freshness: freshness(of: source.name, isEmpty: items == 0, isLocal: isLocal),
                nextRunAt: schedule?.nextRun(clock.now), consecutiveFailures: schedule?.record.failures ?? 0,
                quota: gifs?.quota)
        }
    }
}
