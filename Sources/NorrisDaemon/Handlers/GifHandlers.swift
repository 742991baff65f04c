import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore

/// The methods `gif.*`. Replies are from the cache if possible, else from Giphy.
struct GifHandlers: Sendable {
    let sources: ConfiguredSources

    private var stores: Stores { sources.stores }
    private var store: GifStore { stores.gifs }

    var all: [Handler] {
        [
            Handler(GifSearch.self, deferred: search), Handler(GifTrending.self, deferred: trending),
            Handler(GifRandom.self, deferred: random), Handler(GifGet.self, deferred: get),
        ]
    }

    @Sendable private func search(_ parameters: GifSearch.Parameters, _ call: Call) throws(ResponseError) -> Deferred {
        // A query has the same limits as a search for facts.
        _ = try SearchWords(parameters.query)
        let rating = parameters.rating ?? sources.current.gifs.configuration.rating.rawValue
        let list = GifList.search(parameters.query, rating: rating, lang: parameters.lang)
        let isTooLong = list.query.unicodeScalars.count > GifSearch.longestUpstreamQuery
        let isOffline = parameters.offline || isTooLong
        let mayFetch = !isOffline && sources.mayAskGiphy
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            if parameters.page.cursor == nil {
                stores.recents.record(uid: call.peer.uid, kind: .gif, query: parameters.query)
            }
            let page = try await page(of: list, parameters.page, call, isOffline: isOffline, mayFetch: mayFetch)
            return reply(page, parameters.page, call)
        }
    }

    @Sendable private func trending(_ parameters: GifTrending.Parameters, _ call: Call) -> Deferred {
        let mayFetch = sources.mayAskGiphy
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            let list = sources.current.gifs.trending
            let page = try await page(of: list, parameters.page, call, isOffline: false, mayFetch: mayFetch)
            return reply(page, parameters.page, call)
        }
    }

    /// A page of a list for a reply: the stored page; if the list ends there or is old, the page that Giphy returns;
    /// and if Giphy is unavailable, the stored GIFs that match the list's text.
    ///
    /// - Parameters:
    ///   - isOffline: whether the list ends with its stored part, because the client wants cached GIFs only.
    ///   - mayFetch: whether the schedule allowed a request when the client's request arrived.
    private func page(
        of list: GifList, _ request: PageRequest, _ call: Call, isOffline: Bool, mayFetch: Bool
    ) async throws(ResponseError) -> Page<Gif> {
        let source = sources.current.gifs
        let isFirst = request.cursor == nil
        // Only a search over all stored GIFs accepts its own cursors.
        if !isFirst {
            do throws(ResponseError) {
                if let page = try await searchStored(list, request) { return page }
            } catch {
                guard error.code == .invalidParams else { throw error }
            }
        }
        var stored = try await store.page(
            of: list, request, notBefore: source.notBefore, endsWithStored: isOffline)
        var result: GifResult?
        if !isOffline, let offset = source.offsetToFetch(of: list, stored, isFirst: isFirst) {
            result = await sources.askGiphy(.page(list, offset: offset, request), for: call.uid, mayFetch: mayFetch)
        }
        switch result {
        case .page: stored = try await store.page(of: list, request, notBefore: source.notBefore)
        case .unavailable(let failure) where stored?.items.isEmpty != false:
            // Later pages belong to one list; instead of a first page, GIFs of other lists may match.
            guard isFirst, let others = try await searchStored(list, request), !others.items.isEmpty else {
                throw source.nothing("No matching GIF is cached.", failure)
            }
            return others
        default: break
        }
        guard let stored else {
            return isFirst ? try await searchStored(list, request) ?? Page(items: []) : Page(items: [])
        }
        var freshness = sources.freshness(
            of: source.name, isEmpty: stored.items.isEmpty, isFromUpstream: result == .page,
            fetchedAt: stored.fetchedAt)
        // The quota may be used up for this user only.
        if case .unavailable(let failure)? = result, freshness.error == nil { freshness.error = failure }
        return Page(items: stored.items, total: stored.total, next: stored.next, freshness: freshness)
    }

    private func reply(_ page: Page<Gif>, _ request: PageRequest, _ call: Call) -> [UInt8] {
        stores.noteServed(page.items.map(\.id), .gif, request, next: page.next, uid: call.uid)
        return page.jsonBytes
    }

    /// The stored GIFs that match the text of a list; nil for a list without a text.
    private func searchStored(_ list: GifList, _ request: PageRequest) async throws(ResponseError) -> Page<Gif>? {
        if list.isTrending { return nil }
        let source = sources.current.gifs
        var page = try await store.search(
            text: list.query, rating: list.rating, cursor: request.cursor, limit: request.limit,
            notBefore: source.notBefore)
        page.freshness = sources.freshness(of: source.name, isEmpty: page.items.isEmpty, isFromUpstream: false)
        return page
    }

    @Sendable private func random(_ parameters: GifRandom.Parameters, _ call: Call) throws(ResponseError) -> Deferred {
        let tag = parameters.tag
        if let tag { try check(tag) }
        let mayFetch = sources.mayAskGiphy
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            let source = sources.current.gifs
            let rating = source.configuration.rating.rawValue
            var gif = await store.random(text: tag, rating: rating, notBefore: source.notBefore)
            let isFromUpstream = gif == nil
            if gif == nil {
                switch await sources.askGiphy(.random(tag: tag), for: call.uid, mayFetch: mayFetch) {
                case .gif(let found): gif = found
                case .unavailable(let failure):
                    throw source.nothing("No GIF\(tag.map { " for \($0.quotedForMessage)" } ?? "") is stored.", failure)
                case .nothing, .page: break
                }
            }
            guard let gif else {
                throw .notFound("Giphy has nothing for \((tag ?? "").quotedForMessage).", hint: "Try another tag.")
            }
            stores.facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            let freshness = sources.freshness(of: GifSource.name, isEmpty: false, isFromUpstream: isFromUpstream)
            return GifRandom.Result(gif: gif, freshness: freshness).jsonBytes
        }
    }

    @Sendable private func get(_ parameters: IDParameters, _ call: Call) -> Deferred {
        let mayFetch = sources.mayAskGiphy
        return .deferred(mayFetch: mayFetch) { () async throws(ResponseError) -> [UInt8] in
            let gif = try await sources.gif(id: parameters.id, for: call.uid, mayFetch: mayFetch)
            stores.facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            return GifGet.Result(gif: gif).jsonBytes
        }
    }

    /// Refuses a tag that cannot be searched for.
    private func check(_ tag: String) throws(ResponseError) {
        let parameter = "\(GifRandom.tagParameter)"
        if tag.utf8.contains(0) {
            throw .invalidParams("tag must not hold the character U+0000.", parameter: parameter)
        }
        if tag.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
            throw .invalidParams("tag must hold a word to search for.", parameter: parameter)
        }
    }
}

extension GifSource {
    /// The offset of the page to request from Giphy; nil if the stored page suffices.
    func offsetToFetch(of list: GifList, _ stored: GifListPage?, isFirst: Bool) -> Int? {
        guard let stored else { return isFirst ? 0 : nil }
        // The trending list is fetched by schedule.
        let isOld = stored.fetchedAt.duration(to: now) > configuration.refresh
        return isFirst && isOld && !list.isTrending ? 0 : stored.needsUpstream
    }

    /// The error of a request without a cached GIF, with the reason why none was fetched.
    func nothing(_ message: String, _ failure: SourceFailure?) -> ResponseError {
        var error = ResponseError.nothingCached(message, source: name, lastError: failure)
        if !isEnabled {
            error.hint = "GIFs are disabled. Set gifs.enabled to true in the configuration: norrisctl config path"
        }
        return error
    }
}

extension Deferred {
    /// The rest of a method; `mayFetch` says whether the rest may wait for an upstream.
    static func deferred(mayFetch: Bool, _ work: @escaping Deferred.Work) -> Deferred {
        mayFetch ? .network(work) : .disk(work)
    }
}
