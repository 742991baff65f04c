import NorrisProtocol

/// The content of a response of Giphy: `data`, `pagination` and `meta`.
struct GiphyResponse: Sendable {
    /// In the order of the response, no id twice.
    private(set) var gifs: [Gif] = []
    /// The number of items that could not be used.
    private(set) var skipped = 0
    /// The number of items.
    private(set) var items = 0
    /// `total_count` of `pagination`.
    let totalCount: Int?
    /// `count` of `pagination`: how far this page leads.
    let pageCount: Int?

    /// - Throws: also an error that the body names although the status does not.
    init(_ response: HTTPResponse, from url: String, _ budget: DecodingBudget) throws(UpstreamError) {
        let url = HTTPURL(url)
        let members = try JSONItems.members(of: response.body[...], budget)
        let meta = members["meta"].flatMap(JSONObject.init(item:))
        let status = meta?.number("status") ?? 200
        if status != 200 {
            // Whatever else this is, it is no status of a response.
            let known = (400...599).contains(status) ? status : 502
            let body = response.body.count <= JSONItems.maximumItem ? response.body : []
            throw UpstreamError(status: known, from: url, headers: [], body: body, now: response.receivedAt)
        }
        let pagination = members["pagination"].flatMap(JSONObject.init(item:))
        totalCount = pagination?.number("total_count")
        pageCount = pagination?.number("count")
        // Giphy sends this for a response that it could not make: 200, nothing in it, and no id of a response. Where
        // nothing was found there is an id.
        let isSynthetic = (meta?.text("response_id") ?? "").isEmpty
        if let data = members["data"] {
            try take(data, budget)
        } else if meta == nil || !isSynthetic {
            throw .unusable("answered with JSON without data")
        }
        if items == 0 && isSynthetic {
            var error = UpstreamError(
                .http(status: 200),
                "\(url?.hostAndPath ?? "The upstream") answered without a result; Giphy has trouble of its own."
            )
            error.isTransient = true
            throw error
        }
        if gifs.isEmpty && items > 0 { throw .unusable("answered with \(items) GIFs of which none can be used") }
    }

    /// One GIF, several, or in various ways none.
    private mutating func take(_ data: ArraySlice<UInt8>, _ budget: DecodingBudget) throws(UpstreamError) {
        var ids: Set<String> = []
        func take(_ item: ArraySlice<UInt8>) {
            items += 1
            guard let gif = JSONObject(item: item).flatMap({ Gif(giphy: $0, budget) }) else {
                skipped += 1
                return
            }
            if ids.insert(gif.id).inserted { gifs.append(gif) }
        }
        switch data.first {
        case "["?: try JSONItems.forEach(in: data, budget) { item throws(UpstreamError) in take(item) }
        case "{"?: if JSONObject(item: data)?.members.isEmpty != true { take(data) }
        default:
            guard data.elementsEqual("null".utf8) else {
                throw .unusable("answered with JSON in which data is no GIF")
            }
        }
    }
}
