import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import Synchronization

/// Fetches that a user waits for.
extension Fetching {
    /// Lets the upstream of the facts search, and stores what it finds.
    ///
    /// - Returns: whether the upstream was asked and answered.
    func fetchNow(_ query: FactQuery) async -> Bool {
        // The upstream takes no other, and counts UTF-16 units.
        guard (3...120).contains(query.text.utf16.count), prefetcher.maySearch(FactSource.name) else { return false }
        let source = sources.facts
        let result = await fetchNow(source, query.text, factSearches) { time throws(FetchFailure) in
            try await source.search(query, within: time) ? true : nil
        }
        return result ?? false
    }

    /// Sends a request to Giphy, and stores what comes.
    ///
    /// - Parameter limit: how many GIFs of a page are wanted.
    func fetchNow(_ request: GifRequest, limit: Int = 1) async -> GifResult {
        let source = sources.gifs
        let result = await fetchNow(source, request, gifRequests) { time throws(FetchFailure) in
            try await source.fetch(request, limit: limit, within: time)
        }
        return result ?? .unavailable(failure(of: source.name))
    }

    /// One request to a source's upstream: equal ones at one time are coalesced, it has a deadline, and it is not sent
    /// while the schedule (freshness, backoff, rate limit) or the hourly quota forbids it.
    ///
    /// - Parameter request: gets the time it may take; nil says that the upstream does not take it.
    /// - Returns: nil where nothing was fetched; ``failure(of:)`` says why.
    private func fetchNow<Key, Value: Sendable>(
        _ source: some ContentSource, _ key: Key, _ coalescer: Coalescer<Key, Value?>,
        _ request: @escaping @Sendable (Duration) async throws(FetchFailure) -> Value?
    ) async -> Value? {
        let (name, whileFresh) = (source.name, source.isSearchedWhileFresh)
        if source.quotaFailure != nil { return nil }
        return await coalescer.value(for: key) {
            let fetched = Mutex<Value?>(nil)
            _ = await self.prefetcher.search(name, whileFresh: whileFresh) { time throws(FetchFailure) in
                let value = try await request(time)
                fetched.withLock { $0 = value }
                return value != nil
            }
            return fetched.withLock { $0 }
        }
    }
}

/// Runs equal requests at one time once: the first caller runs it, the others wait for its result.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The callers that wait for a request under way.
    let waiters = Mutex<[Key: [CheckedContinuation<Value?, Never>]]>([:])

    func value(for key: Key, _ request: () async -> Value) async -> Value {
        let shared: Value? = await withCheckedContinuation { continuation in
            let isFirst = waiters.withLock { waiters in
                let isFirst = waiters[key] == nil
                if isFirst { waiters[key] = [] } else { waiters[key]?.append(continuation) }
                return isFirst
            }
            if isFirst { continuation.resume(returning: nil) }
        }
        if let shared { return shared }
        let value = await request()
        for waiter in waiters.withLock({ $0.removeValue(forKey: key) ?? [] }) { waiter.resume(returning: value) }
        return value
    }
}
