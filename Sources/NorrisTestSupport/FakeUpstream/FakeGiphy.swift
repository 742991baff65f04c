import NorrisProtocol
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
        body: Array(#"{"data":[],"meta":{"msg":"OK","response_id":"","status":200}}"#.utf8))
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
    package func requireKey(_ key: String?) { server.state.withLock { $0.content.giphy.key = key } }

    package func setGiphyQuirks(_ quirks: Set<GiphyQuirk>) {
        server.state.withLock { $0.content.giphy.quirks = quirks }
    }
}

/// A GIF in the shape of api.giphy.com: numbers as strings, 0 and 1 for flags, renditions with the members that each
/// has there, addresses with parameters that must not be lost.
package struct FakeGif: Sendable, Equatable {
    package var id: String
    package var title: String
    /// `y`, `g`, `pg`, `pg-13`, `r`.
    package var rating: String
    /// Empty for an anonymous one, which has no `user` either.
    package var username: String
    package var altText: String?
    package var isSticker: Bool
    package var importedAt: String
    package var trendingAt: String
    /// Is sent in place of everything else; for what is not as it should be.
    package var json: String?

    package init(
        id: String, title: String = "", rating: String = "g", username: String = "", altText: String? = nil,
        isSticker: Bool = false, importedAt: String = "2020-09-22 01:31:35",
        trendingAt: String = "0000-00-00 00:00:00", json: String? = nil
    ) {
        (self.id, self.title, self.rating, self.username) = (id, title, rating, username)
        (self.altText, self.isSticker, self.json) = (altText, isSticker, json)
        (self.importedAt, self.trendingAt) = (importedAt, trendingAt)
    }

    /// The address of a file of the GIF.
    package func media(_ file: String) -> String {
        "https://media3.giphy.com/media/\(id)/\(file)?cid=790b7611&ep=v1_gifs_search&rid=\(file)&ct=g"
    }

    /// As the upstream sends it.
    package var document: String {
        if let json { return json }
        let user = username.isEmpty ? "" : #""user":\#(userDocument),"#
        let altText = altText.map { #""alt_text":\#(quoted($0)),"is_low_contrast":false,"# } ?? ""
        return """
            {"type":"\(isSticker ? "sticker" : "gif")","id":"\(id)","url":"https://giphy.com/gifs/\(id)",\
            "slug":"\(id)","bitly_gif_url":"https://gph.is/g/Z2rkjmv","bitly_url":"https://gph.is/g/Z2rkjmv",\
            "embed_url":"https://giphy.com/embed/\(id)","username":\(quoted(username)),\
            "source":"www.example.com/source","title":\(quoted(title)),"rating":"\(rating)","content_url":"",\
            "source_tld":"","source_post_url":"www.example.com/source","is_sticker":\(isSticker ? 1 : 0),\
            "import_datetime":"\(importedAt)","trending_datetime":"\(trendingAt)",\(altText)\
            "images":{\(Self.renditions.map(rendition).joined(separator: ","))},\(user)\
            "analytics_response_payload":"e=Z2lmX2lk",\
            "analytics":{"onload":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=SEEN"},\
            "onclick":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=CLICK"},\
            "onsent":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=SENT"}}}
            """
    }

    private var userDocument: String {
        """
        {"avatar_url":"https://media.giphy.com/avatars/a/b.png","banner_image":"","banner_url":"",\
        "profile_url":"https://giphy.com/a/","username":\(quoted(username)),"display_name":\(quoted(username)),\
        "description":"","instagram_url":"","website_url":"","is_verified":false}
        """
    }

    private func rendition(_ rendition: (name: String, file: String, members: String)) -> String {
        let members = rendition.members.split(separator: " ").map { member in
            let value =
                switch member {
                case "url": media(rendition.file)
                case "mp4": media(rendition.file.prefix { $0 != "." } + ".mp4")
                case "webp": media(rendition.file.prefix { $0 != "." } + ".webp")
                case "width": "480"
                case "height": "229"
                case "frames": "20"
                case "hash": "a7269ff7c540c5b300f733b964dc6e44"
                default: "976265"
                }
            return #""\#(member)":"\#(value)""#
        }
        return #""\#(rendition.name)":{\#(members.joined(separator: ","))}"#
    }

    private static let still = "height width size url"
    private static let sampled = "height width size url webp_size webp"
    private static let moving = "height width size url mp4_size mp4 webp_size webp"
    private static let film = "height width mp4_size mp4"

    private static let renditions: [(name: String, file: String, members: String)] = [
        ("original", "giphy.gif", moving + " frames hash"),
        ("fixed_height", "200.gif", moving), ("fixed_width", "200w.gif", moving),
        ("fixed_height_small", "100.gif", moving), ("fixed_width_small", "100w.gif", moving),
        ("fixed_height_downsampled", "200_d.gif", sampled), ("fixed_width_downsampled", "200w_d.gif", sampled),
        ("original_still", "giphy_s.gif", still), ("fixed_height_still", "200_s.gif", still),
        ("fixed_width_still", "200w_s.gif", still), ("downsized_still", "giphy-downsized_s.gif", still),
        ("480w_still", "480w_s.jpg", still), ("downsized", "giphy-downsized.gif", still),
        ("downsized_medium", "giphy-downsized-medium.gif", still),
        ("downsized_large", "giphy-downsized-large.gif", still), ("preview_gif", "giphy-preview.gif", still),
        ("preview_webp", "giphy-preview.webp", still), ("downsized_small", "giphy-downsized-small.mp4", film),
        ("preview", "giphy-preview.mp4", film), ("original_mp4", "giphy.mp4", film), ("hd", "giphy-hd.mp4", film),
        ("looping", "giphy-loop.mp4", "mp4_size mp4"),
    ]
}

private func quoted(_ text: String) -> String { String(decoding: text.jsonBytes, as: UTF8.self) }

extension FakeUpstream {
    /// GIFs that are the same in every run, and different from each other.
    package static func gifs(count: Int) -> [FakeGif] {
        var generator = SeededGenerator(state: 18)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return (0..<count).map { number in
            FakeGif(
                id: String((0..<18).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }),
                title: "Chuck Norris Approves Number \(number) GIF",
                username: number % 2 == 0 ? "" : "someone\(number)",
                altText: number % 3 == 0 ? "A man nods \(number) times." : nil)
        }
    }
}
