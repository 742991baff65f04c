import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import Synchronization

/// How fresh what is stored is, and what `server.status` says of it.
extension Fetching {
    /// How fresh items of one source are.
    ///
    /// - Parameters:
    ///   - isLocal: whether all of them are from the starting collection or fortune files.
    ///   - isFromUpstream: for the reply to a search, whether the upstream was sent it and answered.
    ///   - fetchedAt: when these items were fetched, where that is known of them alone.
    func freshness(
        of source: String, isEmpty: Bool, isLocal: Bool = false, isFromUpstream: Bool? = nil, fetchedAt: Timestamp? = nil
    ) -> Freshness {
        let now = environment.clock.now
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
            state: isEmpty ? .empty : isFresh ? .fresh : .stale,
            fetchedAt: fetchedAt,
            ageSeconds: fetchedAt.map { Int(now.seconds - $0.seconds) },
            error: failure(of: source, schedule, isSearch: isFromUpstream != nil)
        )
    }

    /// How fresh posts are that may be from any of these sources: the oldest time, the worst state, the newest failure.
    /// A disabled source does not count beside others: nobody waits for it.
    func freshness(of posts: [PostSource], isEmpty: Bool) -> Freshness {
        let active = posts.filter(\.isEnabled)
        let all = (active.isEmpty ? posts : active).map { freshness(of: $0.name, isEmpty: isEmpty) }
        let oldest = all.compactMap(\.fetchedAt).min()
        return Freshness(
            origin: isEmpty && oldest == nil ? .none : .cache,
            state: isEmpty ? .empty : all.contains { $0.state == .stale } ? .stale : .fresh,
            fetchedAt: oldest,
            ageSeconds: all.compactMap(\.ageSeconds).max(),
            error: all.compactMap(\.error).max { $0.since < $1.since }
        )
    }

    /// The freshness of facts as it goes over the wire, and what it follows from.
    struct EncodedFreshness {
        struct Inputs: Equatable {
            let second: Timestamp
            let version: Int
            let isEmpty, isLocal: Bool
        }

        var inputs: Inputs?
        var bytes: [UInt8] = []
    }

    /// Ends the list of items, and the result, with how fresh facts are that are served from memory. The bytes are made
    /// once a second, and when a schedule has changed.
    func endFacts(isEmpty: Bool, isLocal: Bool, in json: inout JSONWriter) {
        let inputs = EncodedFreshness.Inputs(
            second: environment.clock.now, version: prefetcher.version, isEmpty: isEmpty, isLocal: isLocal
        )
        encodedFreshness.withLock { encoded in
            if encoded.inputs != inputs {
                let freshness = freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal)
                let bytes = "\(FactRandom.resultFreshness)".utf8 + freshness.jsonBytes + "}".utf8
                encoded = EncodedFreshness(inputs: inputs, bytes: Array(bytes))
            }
            json.join(encoded.bytes)
        }
    }

    /// Why a source cannot be fetched from, or the last failure of its upstream.
    func failure(of name: String) -> SourceFailure? {
        failure(of: name, prefetcher.schedule(of: name), isSearch: true)
    }

    private func failure(of name: String, _ schedule: SourceSchedule?, isSearch: Bool) -> SourceFailure? {
        // Nothing is expected of a disabled source.
        guard let source = sources[name], source.isEnabled else { return nil }
        if let reason = source.unavailableReason { return reason }
        let whileFresh = source.isSearchedWhileFresh
        let failure =
            isSearch || whileFresh
            ? schedule?.searchFailure(environment.clock.now, whileFresh: whileFresh) : schedule?.failure
        return failure ?? source.quotaFailure
    }

    /// The sources as `server.status` shows them.
    var statuses: [SourceStatus] {
        sources.all.map { source in
            let schedule = prefetcher.schedule(of: source.name)
            let items = stores.count(of: source.name)
            let isLocal = source.name == FactSource.name && stores.facts.isLocal
            return SourceStatus(
                name: source.name, kind: source.kind, isEnabled: source.isEnabled, items: items,
                freshness: freshness(of: source.name, isEmpty: items == 0, isLocal: isLocal),
                nextRunAt: schedule?.nextRunAt, consecutiveFailures: schedule?.record.failures ?? 0,
                quota: source.quota
            )
        }
    }
}
