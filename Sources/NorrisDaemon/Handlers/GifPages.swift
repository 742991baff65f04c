import NorrisPrefetch
import NorrisProtocol
import NorrisStore

/// The pages of a list of GIFs: what is stored of it, and what Giphy has beyond.
struct GifPages {
    let fetching: Fetching
    let source: GifSource

    private var store: GifStore { fetching.stores.gifs }

    /// - Parameter mayAsk: whether Giphy may be asked at all.
    func page(of list: GifList, cursor: String?, limit: Int, mayAsk: Bool) async throws(ResponseError) -> Page<Gif> {
        // A page of a search over all that is stored, whose cursors are of another sort.
        if let cursor, let page = try? await search(for: list, cursor, limit) { return page }
        var stored = try await store.page(
            of: list, cursor: cursor, limit: limit, notBefore: source.notBefore, endsWithStored: !mayAsk
        )
        var answer: GifResult?
        if mayAsk, let offset = offsetToAsk(for: list, stored, isFirst: cursor == nil) {
            answer = await fetching.fetchNow(.page(list, offset: offset), limit: limit)
            if answer == .stored {
                stored = try await store.page(of: list, cursor: cursor, limit: limit, notBefore: source.notBefore)
            }
        }
        if case .unavailable(let failure)? = answer, stored?.items.isEmpty != false {
            // Later pages are of this list alone; for a first one, others may hold what is looked for.
            guard cursor == nil, let others = try await search(for: list, nil, limit), !others.items.isEmpty else {
                throw source.nothing("Nothing of that is stored.", failure)
            }
            return others
        }
        if let stored {
            return Page(
                items: stored.items,
                total: stored.total,
                next: stored.next,
                freshness: fetching.freshness(
                    of: source.name, isEmpty: stored.items.isEmpty, wasAsked: answer == .stored,
                    fetchedAt: stored.fetchedAt
                )
            )
        }
        return try await search(for: list, nil, limit) ?? Page(items: [])
    }

    /// Where Giphy's next answer is to begin; nil where what is stored will do.
    private func offsetToAsk(for list: GifList, _ stored: GifListPage?, isFirst: Bool) -> Int? {
        guard let stored else { return isFirst ? 0 : nil }
        guard isFirst else { return stored.needsUpstream }
        // What is shown most is fetched by schedule.
        let isOld = stored.fetchedAt.duration(to: source.now) > source.configuration.refresh
        return isOld && !list.isTrending ? 0 : stored.needsUpstream
    }

    /// What all that is stored has of a text; nil for a list that is not of a text.
    private func search(for list: GifList, _ cursor: String?, _ limit: Int) async throws(ResponseError) -> Page<Gif>? {
        if list.isTrending { return nil }
        var page = try await store.search(
            text: list.query, rating: list.rating, cursor: cursor, limit: limit, notBefore: source.notBefore
        )
        page.freshness = fetching.freshness(of: source.name, isEmpty: page.items.isEmpty, wasAsked: false)
        return page
    }
}
