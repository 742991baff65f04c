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

    var bodies: [String: MethodBody] {
        [
            GifSearch.description.name: search,
            GifTrending.description.name: trending,
            GifRandom.description.name: random,
            GifGet.description.name: get,
        ]
    }

    @Sendable
    private func search(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let text = try searchText(call.arguments.string("query") ?? "", parameter: "query")
        let source = fetching.sources.gifs
        let rating = call.arguments.string("rating") ?? source.configuration.rating.rawValue
        let list = GifList.search(text, rating: rating, lang: call.arguments.string("lang"))
        let cursor = call.arguments.string("cursor")
        let staysHere = call.arguments.flag("offline") || list.query.unicodeScalars.count > GifHandlers.longestQuery
        return fetching.deferred(asking: staysHere ? nil : GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            if cursor == nil {
                await fetching.stores.recents.record(uid: call.peer.uid, kind: .gif, query: text)
            }
            let page = try await GifPages(fetching: fetching, source: source).page(
                of: list, cursor: cursor, limit: call.arguments.integer("limit") ?? 25, mayAsk: !staysHere
            )
            facts.noteServed(page.items.last?.id, .gif, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    @Sendable
    private func trending(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        fetching.deferred(asking: GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let source = fetching.sources.gifs
            let page = try await GifPages(fetching: fetching, source: source).page(
                of: source.trending, cursor: call.arguments.string("cursor"),
                limit: call.arguments.integer("limit") ?? 25, mayAsk: true
            )
            facts.noteServed(page.items.last?.id, .gif, uid: call.peer.uid)
            return page.jsonBytes
        }
    }

    @Sendable
    private func random(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let tag = try call.arguments.string("tag").map { tag throws(ResponseError) in
            try searchText(tag, parameter: "tag")
        }
        return fetching.deferred(asking: GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let (gif, wasAsked) = try await random(tag)
            facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            let freshness = fetching.freshness(of: GifSource.name, isEmpty: false, wasAsked: wasAsked)
            return GifRandom.Result(gif: gif, freshness: freshness).jsonBytes
        }
    }

    private func random(_ tag: String?) async throws(ResponseError) -> (gif: Gif, wasAsked: Bool) {
        let source = fetching.sources.gifs
        let rating = source.configuration.rating.rawValue
        if let gif = await store.random(text: tag, rating: rating, notBefore: source.notBefore) {
            return (gif, false)
        }
        switch await fetching.fetchNow(.random(tag: tag)) {
        case .gif(let gif): return (gif, true)
        case .unavailable(let failure):
            let wanted = tag.map { " for \($0.quotedForMessage)" } ?? ""
            throw source.nothing("No GIF\(wanted) is stored.", failure)
        case .nothing, .stored:
            throw .notFound("Giphy has nothing for \((tag ?? "").quotedForMessage).", hint: "Try another tag.")
        }
    }

    @Sendable
    private func get(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        fetching.deferred(asking: GifSource.name) { () async throws(ResponseError) -> [UInt8] in
            let gif = try await fetching.gif(id: call.arguments.string("id") ?? "")
            facts.noteServed(gif.id, .gif, uid: call.peer.uid)
            return GifGet.Result(gif: gif).jsonBytes
        }
    }
}

/// A text to look for.
private func searchText(_ text: String, parameter: String) throws(ResponseError) -> String {
    if text.utf8.contains(0) {
        throw .invalidParams("\(parameter) must not hold the character U+0000.", parameter: parameter)
    }
    if text.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
        throw .invalidParams("\(parameter) must hold something to look for.", parameter: parameter)
    }
    return text
}

extension GifSource {
    /// That there is nothing to show, and why nobody was asked.
    func nothing(_ message: String, _ failure: SourceFailure?) -> ResponseError {
        var error = ResponseError.nothingCached(message, source: name, lastError: failure)
        if !isEnabled { error.hint = "GIFs are switched off; set gifs.enabled to true in the daemon's configuration." }
        return error
    }
}

extension Fetching {
    /// The rest of a method that asks an upstream unless what is stored will do.
    ///
    /// - Parameter source: nil for a request that stays in the cache.
    func deferred(asking source: String?, _ work: @escaping Deferred.Work) -> Deferred {
        guard let source, prefetcher.mayAsk(source, whileFresh: source == GifSource.name) else { return .disk(work) }
        return .network(work)
    }

    /// A GIF by its id, from the cache or else from Giphy.
    func gif(id: String) async throws(ResponseError) -> Gif {
        let source = sources.gifs
        if let gif = await stores.gifs.gif(id: id, notBefore: source.notBefore) { return gif }
        // What cannot be an id costs no request.
        switch Giphy.isPossibleID(id) ? await fetchNow(.gif(id: id)) : .nothing {
        case .gif(let gif): return gif
        case .unavailable(let failure): throw source.nothing("The GIF \(id.quotedForMessage) is not stored.", failure)
        case .nothing, .stored: throw .notFound("There is no GIF with the id \(id.quotedForMessage).")
        }
    }
}
