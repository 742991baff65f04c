import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisUpstream

/// The methods `gif.*`: from the cache where it can answer, else from Giphy.
struct GifHandlers: Sendable {
    /// Giphy takes no longer query.
    private static let longestQuery = 50

    let fetching: Fetching
    let facts: FactStore

    private var store: GifStore { fetching.stores.gifs }

    var all: [Handler] {
        [
            Handler(GifSearch.self, deferred: search), Handler(GifTrending.self, deferred: trending),
            Handler(GifRandom.self, deferred: random), Handler(GifGet.self, deferred: get),
        ]
    }

    @Sendable private func search(_ parameters: GifSearch.Parameters, _ call: Call) throws(ResponseError) -> Deferred {
        // The limits of a query are those of a search for facts.
        _ = try FactQuery(text: parameters.query)
        let source = fetching.sources.gifs
        let rating = parameters.rating ?? source.configuration.rating.rawValue
        let list = GifList.search(parameters.query, rating: rating, lang: parameters.lang)
        let mayFetch = !parameters.offline && list.query.unicodeScalars.count <= GifHandlers.longestQuery
        return fetching.deferred(mayFetch ? GifSource.name : nil) { () async throws(ResponseError) -> [UInt8] in
            if parameters.page.cursor == nil {
                await fetching.stores.recents.record(uid: call.peer.uid, kind: .gif, query: parameters.query)
            }
            let page = try await page(of: list, parameters.page, for: call.uid, from: source, mayFetch: mayFetch)
            facts.noteServed(page.items.last?.id, .gif, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    @Sendable private func trending(_ parameters: GifTrending.Parameters, _ call: Call) -> Deferred {
        fetching.deferred(GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let source = fetching.sources.gifs
            let list = source.trending
            let page = try await page(of: list, parameters.page, for: call.uid, from: source, mayFetch: true)
            facts.noteServed(page.items.last?.id, .gif, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    /// A page of a list: what is stored of it, and what Giphy has beyond.
    private func page(
        of list: GifList, _ request: PageRequest, for uid: UInt32, from source: GifSource, mayFetch: Bool
    ) async throws(ResponseError) -> Page<Gif> {
        let (cursor, limit) = (request.cursor, request.limit)
        // A page of a search over all that is stored, whose cursors are of another sort.
        if let cursor, let page = try? await searchStored(list, cursor, limit, source) { return page }
        var stored = try await store.page(
            of: list, cursor: cursor, limit: limit, notBefore: source.notBefore, endsWithStored: !mayFetch)
        var result: GifResult?
        if mayFetch, let offset = offsetToFetch(of: list, stored, from: source, isFirst: cursor == nil) {
            result = await fetching.fetchNow(.page(list, offset: offset), for: uid, limit: limit)
            if result == .stored {
                stored = try await store.page(of: list, cursor: cursor, limit: limit, notBefore: source.notBefore)
            }
        }
        if case .unavailable(let failure)? = result, stored?.items.isEmpty != false {
            // Later pages are of this list alone; for a first one, others may hold what is looked for.
            guard cursor == nil, let others = try await searchStored(list, nil, limit, source), !others.items.isEmpty
            else { throw source.nothing("No matching GIF is cached.", failure) }
            return others
        }
        guard let stored else { return try await searchStored(list, nil, limit, source) ?? Page(items: []) }
        var freshness = fetching.freshness(
            of: source.name, isEmpty: stored.items.isEmpty, isFromUpstream: result == .stored,
            fetchedAt: stored.fetchedAt)
        // The quota may be used up for this user alone.
        if case .unavailable(let failure)? = result, freshness.error == nil { freshness.error = failure }
        return Page(items: stored.items, total: stored.total, next: stored.next, freshness: freshness)
    }

    /// Where Giphy's next page is to begin; nil where what is stored will do.
    private func offsetToFetch(
        of list: GifList, _ stored: GifListPage?, from source: GifSource, isFirst: Bool
    ) -> Int? {
        guard let stored else { return isFirst ? 0 : nil }
        // What is shown most is fetched by schedule.
        let isOld = stored.fetchedAt.duration(to: source.now) > source.configuration.refresh
        return isFirst && isOld && !list.isTrending ? 0 : stored.needsUpstream
    }

    /// What all that is stored has of a list's text; nil for a list that is not of a text.
    private func searchStored(
        _ list: GifList, _ cursor: String?, _ limit: Int, _ source: GifSource
    ) async throws(ResponseError) -> Page<Gif>? {
        if list.isTrending { return nil }
        var page = try await store.search(
            text: list.query, rating: list.rating, cursor: cursor, limit: limit, notBefore: source.notBefore)
        page.freshness = fetching.freshness(of: source.name, isEmpty: page.items.isEmpty, isFromUpstream: false)
        return page
    }

    @Sendable private func random(_ parameters: GifRandom.Parameters, _ call: Call) throws(ResponseError) -> Deferred {
        if let tag = parameters.tag { try check(tag) }
        return fetching.deferred(GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let (gif, isFromUpstream) = try await random(parameters.tag, for: call.uid)
            facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            let freshness = fetching.freshness(of: GifSource.name, isEmpty: false, isFromUpstream: isFromUpstream)
            return GifRandom.Result(gif: gif, freshness: freshness).jsonBytes
        }
    }

    private func random(
        _ tag: String?, for uid: UInt32
    ) async throws(ResponseError) -> (gif: Gif, isFromUpstream: Bool) {
        let source = fetching.sources.gifs
        let rating = source.configuration.rating.rawValue
        if let gif = await store.random(text: tag, rating: rating, notBefore: source.notBefore) { return (gif, false) }
        switch await fetching.fetchNow(.random(tag: tag), for: uid) {
        case .gif(let gif): return (gif, true)
        case .unavailable(let failure):
            throw source.nothing("No GIF\(tag.map { " for \($0.quotedForMessage)" } ?? "") is stored.", failure)
        case .nothing, .stored:
            throw .notFound("Giphy has nothing for \((tag ?? "").quotedForMessage).", hint: "Try another tag.")
        }
    }

    @Sendable private func get(_ parameters: IDParameters, _ call: Call) -> Deferred {
        fetching.deferred(GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let gif = try await fetching.gif(id: parameters.id, for: call.uid)
            facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            return GifGet.Result(gif: gif).jsonBytes
        }
    }

    /// Refuses what is no text to look for.
    private func check(_ tag: String) throws(ResponseError) {
        let parameter = "\(GifRandom.tagParameter)"
        guard tag.unicodeScalars.count <= FactQuery.maximumLength else {
            throw .invalidParams("tag is longer than \(FactQuery.maximumLength) characters.", parameter: parameter)
        }
        if tag.utf8.contains(0) {
            throw .invalidParams("tag must not hold the character U+0000.", parameter: parameter)
        }
        if tag.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
            throw .invalidParams("tag must hold a word to search for.", parameter: parameter)
        }
    }
}

extension GifSource {
    /// That there is nothing to show, and why nothing was fetched.
    func nothing(_ message: String, _ failure: SourceFailure?) -> ResponseError {
        var error = ResponseError.nothingCached(message, source: name, lastError: failure)
        if !isEnabled { error.hint = "GIFs are disabled. Set gifs.enabled to true: norrisctl config edit" }
        return error
    }
}

extension Fetching {
    /// The rest of a method that fetches from a source's upstream, unless what is stored will do.
    ///
    /// - Parameter source: nil for a request that stays in the cache.
    func deferred(_ source: String?, _ work: @escaping Deferred.Work) -> Deferred {
        guard let source, prefetcher.maySearch(source, whileFresh: source == GifSource.name) else { return .disk(work) }
        return .network(work)
    }

    /// A GIF by its id, from the cache or else from Giphy.
    func gif(id: String, for uid: UInt32) async throws(ResponseError) -> Gif {
        let source = sources.gifs
        if let gif = await stores.gifs.gif(id: id, notBefore: source.notBefore) { return gif }
        // What cannot be an id costs no request.
        switch Giphy.isPossibleID(id) ? await fetchNow(.gif(id: id), for: uid) : .nothing {
        case .gif(let gif): return gif
        case .unavailable(let failure): throw source.nothing("The GIF \(id.quotedForMessage) is not stored.", failure)
        case .nothing, .stored: throw .notFound("There is no GIF with the id \(id.quotedForMessage).")
        }
    }
}
