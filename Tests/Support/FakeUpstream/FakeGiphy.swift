import NorrisProtocol
import NorrisSystem
import Synchronization

/// The Giphy content of a fake upstream, and its settings.
struct FakeGiphy: Sendable {
    /// The trending GIFs, which also serve queries without separate results.
    var gifs: [FakeGif] = []
    /// The results of queries in lower case.
    var found: [String: [FakeGif]] = [:]
    /// The required API key; nil for any.
    var key: String?
    /// Whether every later page begins with the last GIF of the page before.
    var repeatsAcrossPages = false

    /// The answer for a path below `/v1/gifs`; nil for an unknown path.
    ///
    /// - Parameter path: without the prefix of the upstream.
    func answer(to request: FakeUpstream.Request, path: Substring) -> FakeUpstream.Answer? {
        guard path == "/v1/gifs" || path.hasPrefix("/v1/gifs/") else { return nil }
        if let key, request.parameter("api_key") != key { return Self.error(401, "Unauthorized") }
        switch path.dropFirst("/v1/gifs".count) {
        case "":
            let ids = (request.parameter("ids") ?? "").split(separator: ",").map(String.init)
            return list(ids.compactMap { id in all.first { $0.id == id } }, request)
        case "/search":
            // Without a query the result is empty, with status 200.
            let query = request.parameter("q") ?? ""
            return query.count <= 50 ? list(search(query), request) : Self.error(414, "URI Too Long")
        case "/trending": return list(gifs, request)
        case "/random":
            let tag = request.parameter("tag") ?? ""
            let candidates = tag.isEmpty ? gifs : search(tag)
            return answer(data: candidates.first?.document ?? "[]")
        case let id:
            return all.first { $0.id == id.dropFirst() }.map { answer(data: $0.document) }
                ?? Self.error(404, "Not Found!")
        }
    }

    private var all: [FakeGif] { gifs + found.values.joined() }

    private func search(_ query: String) -> [FakeGif] {
        let query = query.lowercased()
        return found[query] ?? gifs.filter { !query.isEmpty && $0.title.lowercased().contains(query) }
    }

    private func list(_ gifs: [FakeGif], _ request: FakeUpstream.Request) -> FakeUpstream.Answer {
        let offset = max(request.parameter("offset").flatMap { Int($0) } ?? 0, 0)
        let limit = min(max(request.parameter("limit").flatMap { Int($0) } ?? 25, 0), 50)
        // Another GIF has moved to the top since the page before.
        let shift = repeatsAcrossPages && offset > 0 ? 1 : 0
        let page = gifs.dropFirst(offset - shift).prefix(request.parameter("ids") == nil ? limit : 100)
        let pagination = #""pagination":{"total_count":\#(gifs.count),"count":\#(page.count),"offset":\#(offset)},"#
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
}

extension FakeUpstream {
    /// - Parameter query: the query of these results, in any case; nil for the trending GIFs, in whose titles all other
    ///   queries are searched.
    package func setGifs(_ gifs: [FakeGif], query: String? = nil) {
        server.state.withLock { state in
            if let query {
                state.content.giphy.found[query.lowercased()] = gifs
            } else {
                state.content.giphy.gifs = gifs
            }
        }
    }

    /// Refuses any other key from the next request on; nil accepts all.
    package func requireKey(_ key: String?) { server.state.withLock { $0.content.giphy.key = key } }

    /// From the next request on, every later page begins with the last GIF of the page before.
    package func repeatGifsAcrossPages() { server.state.withLock { $0.content.giphy.repeatsAcrossPages = true } }

    /// Different GIFs, equal in every run.
    package static func gifs(count: Int) -> [FakeGif] {
        var generator = SeededRandom(seed: 18)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return (0..<count).map { number in
            FakeGif(
                id: String((0..<18).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }),
                title: "Chuck Norris Approves Number \(number) GIF")
        }
    }
}

/// A GIF in the shape of api.giphy.com: numbers as strings, 0 and 1 for flags, addresses with parameters that must be
/// kept.
package struct FakeGif: Sendable, Equatable {
    package var id: String
    package var title = ""
    /// A replacement of the whole document, for malformed GIFs.
    package var json: String?

    package init(id: String, title: String = "", json: String? = nil) {
        (self.id, self.title, self.json) = (id, title, json)
    }

    /// The address of a file of the GIF.
    package func media(_ file: String) -> String {
        "https://media3.giphy.com/media/\(id)/\(file)?cid=790b7611&ep=v1_gifs_search&rid=\(file)&ct=g"
    }

    /// The GIF in the upstream's form.
    package var document: String {
        json ?? """
            {"type":"gif","id":"\(id)","url":"https://giphy.com/gifs/\(id)","slug":"\(id)","username":"someone",\
            "source":"www.example.com/source","title":"\(title)","rating":"g","is_sticker":0,\
            "import_datetime":"2020-09-22 01:31:35","trending_datetime":"0000-00-00 00:00:00",\
            "alt_text":"A man nods.","images":{\
            "original":{\(size),"url":"\(media("giphy.gif"))","mp4_size":"92050","mp4":"\(media("giphy.mp4"))",\
            "webp_size":"343756","webp":"\(media("giphy.webp"))","frames":"20"},\
            "fixed_width":{\(size),"url":"\(media("200w.gif"))","webp":"\(media("200w.webp"))"},\
            "480w_still":{\(size),"url":"\(media("480w_s.jpg"))"},"hd":{\(size),"mp4":"\(media("giphy-hd.mp4"))"}}}
            """
    }

    private var size: String { #""height":"229","width":"480","size":"976265""# }
}
