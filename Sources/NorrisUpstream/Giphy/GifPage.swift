package import NorrisProtocol

/// The usable GIFs of one response, and the position of the next page.
package struct GifPage: Sendable, Equatable {
    /// The GIFs in the order of the response, without repeated ids. A later page may repeat GIFs if the list changes.
    package var gifs: [Gif] = []
    package var skipped = 0
    /// Giphy's estimate of the total number of GIFs; nil if not stated.
    package var totalCount: Int?
    /// The offset of the next page; nil after the last page.
    package var nextOffset: Int?
}

extension GifPage {
    /// The requested part of a long list.
    struct Window {
        var offset: Int
        var limit: Int
        var maximumOffset: Int
    }

    /// Decodes `data`, `pagination` and `meta`. Throws also if the body reports an error despite a successful status.
    ///
    /// - Parameter window: the requested part; nil if the request is not for a list.
    init(
        _ response: HTTPResponse, of window: Window?, from url: String, _ budget: DecodingBudget
    ) throws(UpstreamError) {
        self.init()
        let url = HTTPURL(url)
        let members = try JSONItems.members(of: response.body[...], budget)
        let meta = members["meta"].flatMap(JSONItem.init(item:))
        let status = meta?.number("status") ?? 200
        if status != 200 {
            // A value outside the range of errors is not a status.
            let known = (400...599).contains(status) ? status : 502
            let body = response.body.count <= JSONItems.maximumItem ? response.body : []
            throw UpstreamError(status: known, from: url, headers: [], body: body, now: response.receivedAt)
        }
        // If its backend fails, Giphy sends status 200 without data and `response_id`. An empty result has that id.
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
        // Counted from the request, because an unchanged `offset` in the response would cause a loop. With pagination,
        // a short page may precede others; without it, a short page is the last.
        let count = pagination?.number("count") ?? items
        let hasPagination = pagination?.number("count") != nil || totalCount != nil
        let next = window.offset + count
        let isLast = count == 0 || !hasPagination && count < window.limit || next >= totalCount ?? .max
        nextOffset = isLast || next > window.maximumOffset ? nil : next
    }

    /// Adds the GIFs in `data`: an object, an array or null. Returns the number of items; an empty object has none.
    private mutating func take(_ data: ArraySlice<UInt8>, _ budget: DecodingBudget) throws(UpstreamError) -> Int {
        var ids: Set<String> = []
        func take(_ item: ArraySlice<UInt8>) {
            // Ignores further GIFs, because no request asks for more.
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
                throw .unusable("answered with JSON in which data is not a GIF")
            }
        }
        return items
    }
}
