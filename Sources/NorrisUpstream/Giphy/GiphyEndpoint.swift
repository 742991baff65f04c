/// What can be asked of Giphy, and how; all of it by GET.
struct GiphyEndpoint {
    /// A part of a long list, which `offset` and `limit` choose.
    struct Window {
        var offset: Int
        var limit: Int
        var maximumOffset: Int
    }

    private let path: String
    private var parameters: [(name: String, value: String)] = []
    /// Nil where the list is not given by parts.
    private(set) var window: Window?
    /// So many GIFs an answer holds at most; further ones do not count.
    private(set) var maximumItems = 1
    /// Whether it is no fault if none of an answer's GIFs can be used.
    private(set) var mayBeUseless = false

    /// `data` is an array.
    static func search(_ query: String, lang: String?, offset: Int, limit: Int) -> GiphyEndpoint {
        GiphyEndpoint(
            path: "/v1/gifs/search",
            parameters: [("q", query)] + (lang.map { [("lang", $0)] } ?? []),
            window: Window(offset: offset, limit: limit, maximumOffset: Giphy.maximumSearchOffset),
            maximumItems: limit
        )
    }

    /// `data` is an array.
    static func trending(offset: Int, limit: Int) -> GiphyEndpoint {
        GiphyEndpoint(
            path: "/v1/gifs/trending",
            window: Window(offset: offset, limit: limit, maximumOffset: Giphy.maximumTrendingOffset),
            maximumItems: limit
        )
    }

    /// `data` is an object, and without a find an empty array or object.
    static func random(tag: String?) -> GiphyEndpoint {
        GiphyEndpoint(path: "/v1/gifs/random", parameters: tag.map { [("tag", $0)] } ?? [])
    }

    /// `data` is an object; 404 for an unknown id.
    static func gif(id: String) -> GiphyEndpoint {
        GiphyEndpoint(path: "/v1/gifs/\(percentEncoded(id))")
    }

    /// `data` is an array.
    static func gifs(ids: [String]) -> GiphyEndpoint {
        GiphyEndpoint(
            path: "/v1/gifs", parameters: [("ids", ids.joined(separator: ","))], maximumItems: Giphy.maximumIDs,
            mayBeUseless: true
        )
    }

    /// Path and query.
    func target(key: APIKey, rating: String) -> String {
        var parameters = [("api_key", key.value), ("rating", rating)] + parameters
        if let window {
            parameters += [("offset", String(window.offset)), ("limit", String(window.limit))]
        }
        return path + "?" + parameters.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
    }
}
