import NorrisPrefetch
import NorrisProtocol
import NorrisStore

extension Fetching {
    /// Lets the upstream of the facts search, and stores what it finds. Equal searches at one time share a request.
    ///
    /// - Returns: whether the upstream was asked and answered.
    func ask(_ query: FactQuery) async -> Bool {
        // The upstream takes no other, and counts UTF-16 units.
        guard (3...120).contains(query.text.utf16.count), prefetcher.maySearch(FactSource.name) else { return false }
        let source = sources.facts
        return await factSearches.value(for: query.text) {
            await self.prefetcher.search(FactSource.name) { (time) async throws(FetchFailure) in
                try await source.find(query, within: time)
            }
        }
    }
}
