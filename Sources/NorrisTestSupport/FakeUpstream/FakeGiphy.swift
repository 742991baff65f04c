import Synchronization

/// What a fake upstream has of Giphy's API, and how it shows it.
struct FakeGiphy: Sendable {
    /// What is trending, and found where a query has none of its own.
    var gifs: [FakeGif] = []
    /// By the query, in small letters.
    var found: [String: [FakeGif]] = [:]
    /// Nil if any will do.
    var key: String?
    var quirks: Set<FakeUpstream.GiphyQuirk> = []

    /// The answer to a path below `/v1/gifs`; nil if there is no such path.
    ///
    /// - Parameter path: without the prefix of the upstream.
    func answer(to request: FakeUpstream.Request, path: Substring, number: Int) -> FakeUpstream.Answer? {
        guard path == "/v1/gifs" || path.hasPrefix("/v1/gifs/") else { return nil }
        if let key, request.parameter("api_key") != key { return Self.error(401, "Unauthorized") }
        if quirks.contains(.synthetic) { return Self.synthetic }
        switch path.dropFirst("/v1/gifs".count) {
        case "":
            let ids = (request.parameter("ids") ?? "").split(separator: ",").map(String.init)
            return list(ids.compactMap { id in all.first { $0.id == id } }, request)
        case "/search":
            // Without a query it finds nothing, and says so as if all were well.
            let query = request.parameter("q") ?? ""
            guard query.count <= 50 else { return Self.error(414, "URI Too Long") }
            return list(search(query), request)
        case "/trending":
            return list(gifs, request)
        case "/random":
            let tag = request.parameter("tag") ?? ""
            let candidates = rated(tag.isEmpty ? gifs : search(tag), request)
            if candidates.isEmpty { return answer(data: quirks.contains(.nothingIsAnObject) ? "{}" : "[]") }
            return answer(data: candidates[number % candidates.count].document)
        case let id:
            guard let gif = all.first(where: { $0.id == id.dropFirst() }) else {
                let body = #"{"meta":{"status":404,"msg":"Not Found!"}}"#
                return FakeUpstream.Answer(status: 404, body: Array(body.utf8))
            }
            return answer(data: gif.document)
        }
    }

    private var all: [FakeGif] { gifs + found.values.joined() }

    private func search(_ query: String) -> [FakeGif] {
        let query = query.lowercased()
        if query.isEmpty { return [] }
        return found[query] ?? gifs.filter { $0.title.lowercased().contains(query) }
    }

    /// Those that are no stronger than the request wants.
    private func rated(_ gifs: [FakeGif], _ request: FakeUpstream.Request) -> [FakeGif] {
        let ratings = ["y", "g", "pg", "pg-13", "r"]
        let strongest = ratings.firstIndex(of: request.parameter("rating") ?? "r") ?? 4
        return gifs.filter { ratings[...strongest].contains($0.rating) }
    }

    private func list(_ gifs: [FakeGif], _ request: FakeUpstream.Request) -> FakeUpstream.Answer {
        let gifs = rated(gifs, request)
        let offset = max(request.parameter("offset").flatMap { Int($0) } ?? 0, 0)
        let limit = min(max(request.parameter("limit").flatMap { Int($0) } ?? 25, 0), 50)
        // Another GIF has come to the top since the page before.
        let shift = quirks.contains(.repeatsAcrossPages) && offset > 0 ? 1 : 0
        let page = gifs.dropFirst(offset - shift).prefix(request.parameter("ids") == nil ? limit : 100)
        let pagination = quirks.contains(.noPagination)
            ? "" : #""pagination":{"total_count":\#(gifs.count),"count":\#(page.count),"offset":\#(offset)},"#
        return answer(data: "[\(page.map(\.document).joined(separator: ","))]", pagination: pagination)
    }

    private func answer(data: String, pagination: String = "") -> FakeUpstream.Answer {
        let meta = #"{"status":200,"msg":"OK","response_id":"0qz07vp05ltjb49suz4g1g2de8k4g7fmynhyeoh7"}"#
        return FakeUpstream.Answer(body: Array(#"{"data":\#(data),\#(pagination)"meta":\#(meta)}"#.utf8))
    }

    private static func error(_ status: Int, _ message: String) -> FakeUpstream.Answer {
        let body = #"{"data":[],"meta":{"status":\#(status),"msg":"\#(message)","response_id":""}}"#
        return FakeUpstream.Answer(status: status, body: Array(body.utf8))
    }

    private static let synthetic = FakeUpstream.Answer(
        body: Array(#"{"data":[],"meta":{"msg":"OK","response_id":"","status":200}}"#.utf8)
    )
}

extension FakeUpstream {
    /// What Giphy's API does now and then.
    package enum GiphyQuirk: Sendable, Hashable {
        /// Every page but the first begins with the last GIF of the one before.
        case repeatsAcrossPages
        /// Where nothing is found at random, `data` is `{}` rather than `[]`.
        case nothingIsAnObject
        case noPagination
        /// Everything is answered with Giphy's stand-in for an answer that it could not make: 200, and nothing in it.
        case synthetic
    }

    /// - Parameter query: whose finds these are, in whatever case; nil for what is trending, and what all other queries
    ///   are looked for in, by title.
    package func setGifs(_ gifs: [FakeGif], query: String? = nil) {
        server.state.withLock { state in
            if let query {
                state.content.giphy.found[query.lowercased()] = gifs
            } else {
                state.content.giphy.gifs = gifs
            }
        }
    }

    /// From the next request on any other key is refused; nil for none.
    package func requireKey(_ key: String?) {
        server.state.withLock { $0.content.giphy.key = key }
    }

    package func setGiphyQuirks(_ quirks: Set<GiphyQuirk>) {
        server.state.withLock { $0.content.giphy.quirks = quirks }
    }
}
