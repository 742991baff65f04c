package import NorrisProtocol

/// The usable GIFs of one response, and where the next ones are.
package struct GifPage: Sendable, Equatable {
    /// In the order of the response, no id twice. A later page may repeat some: the list moves while it is read.
    package var gifs: [Gif] = []
    /// The number of items that could not be used.
    package var skipped = 0
    /// The number of GIFs in all, as Giphy estimates; nil where it does not.
    package var totalCount: Int?
    /// Where the next page begins; nil at the end.
    package var nextOffset: Int?
}

extension GifPage {
    /// A part of a long list.
    struct Window {
        var offset: Int
        var limit: Int
        var maximumOffset: Int
    }

    /// Decodes `data`, `pagination` and `meta`; throws also an error that the body names although the status does not.
    ///
    /// - Parameter window: the requested part; nil if it is not a part of a list.
    init(
        _ response: HTTPResponse, of window: Window?, from url: String, _ budget: DecodingBudget
    ) throws(UpstreamError) {
        self.init()
        let url = HTTPURL(url)
        let members = try JSONItems.members(of: response.body[...], budget)
        let meta = members["meta"].flatMap(JSONItem.init(item:))
        let status = meta?.number("status") ?? 200
        if status != 200 {
            // Whatever else this is, it is no status of a response.
            let known = (400...599).contains(status) ? status : 502
            let body = response.body.count <= JSONItems.maximumItem ? response.body : []
            throw UpstreamError(status: known, from: url, headers: [], body: body, now: response.receivedAt)
        }
        // Giphy sends this for a response that it could not make: 200, nothing in it, and no id of a response. Where
        // nothing was found there is an id.
        let isSynthetic = (meta?.text("response_id", .id) ?? "").isEmpty
        var items = 0
        if let data = members["data"] {
            items = try take(data, budget)
        } else if meta == nil || !isSynthetic {
            throw .unusable("answered with JSON without data")
        }
        if items == 0 && isSynthetic {
            let name = url?.hostAndPath ?? "The upstream"
            let message = "\(name) answered without a result; Giphy has a problem."
            var error = UpstreamError(.http(status: 200), message)
            error.isTransient = true
            throw error
        }
        if gifs.isEmpty && items > 0 { throw .unusable("answered with \(items) GIFs, none of them usable") }
        let pagination = members["pagination"].flatMap(JSONItem.init(item:))
        totalCount = pagination?.number("total_count")
        guard let window else { return }
        // Counted from the request: an `offset` in the response that does not move would lead in a circle. A page may
        // be short before the end; without pagination a short page has to be the last.
        let count = pagination?.number("count") ?? items
        let hasPagination = pagination?.number("count") != nil || totalCount != nil
        let next = window.offset + count
        let isLast = count == 0 || !hasPagination && count < window.limit || next >= totalCount ?? .max
        nextOffset = isLast || next > window.maximumOffset ? nil : next
    }

    /// Takes one GIF, several, or in various ways none.
    ///
    /// - Returns: the number of items.
    private mutating func take(_ data: ArraySlice<UInt8>, _ budget: DecodingBudget) throws(UpstreamError) -> Int {
        var ids: Set<String> = []
        func take(_ item: ArraySlice<UInt8>) {
            // No request is for more; a response that holds more fills the cache with nothing.
            guard gifs.count < Giphy.maximumIDs else { return }
            guard let gif = JSONItem(item: item).flatMap({ Gif(giphy: $0, budget) }) else { return skipped += 1 }
            if ids.insert(gif.id).inserted { gifs.append(gif) }
        }
        var items = 0
        switch data.first {
        case "["?:
            try JSONItems.forEach(in: data, budget) { item throws(UpstreamError) in
                items += 1
                take(item)
            }
        case "{"? where JSONItem(item: data)?.isEmpty != true:
            items = 1
            take(data)
        default:
            guard data.first == "{" || data.elementsEqual("null".utf8) else {
                throw .unusable("answered with JSON in which data is no GIF")
            }
        }
        return items
    }
}
