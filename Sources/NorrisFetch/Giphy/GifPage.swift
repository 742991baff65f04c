import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// The requested part of a long list.
struct GifWindow {
    let offset: Int
    let limit: Int
    let maximumOffset: Int

    init(_ request: FetchRequest, maximumOffset: Int) {
        (offset, limit) = (request.offset ?? 0, request.limit ?? 25)
        self.maximumOffset = maximumOffset
    }
}

extension Fetched {
    /// The largest number of GIFs that a request asks for.
    private static let maximumGifs = 100

    /// Decodes `data`, `pagination` and `meta`. Throws also if the body reports an error despite a successful status.
    ///
    /// - Parameter window: the requested part; nil if the request is not for a list.
    init(gifs response: HTTPResponse, of window: GifWindow?) throws(UpstreamError) {
        self.init()
        let members = try JSONItems.members(of: response.body[...])
        let meta = members["meta"].flatMap(JSONItem.init(item:))
        let status = meta?.number("status") ?? 200
        if status != 200 {
            // A value outside the range of errors is not a status.
            let known = (400...599).contains(status) ? status : 502
            throw UpstreamError(HTTPResponse(status: known, body: response.body, url: response.url))
        }
        // If its backend fails, Giphy sends status 200 without data and `response_id`. An empty result has that id.
        let isSynthetic = (meta?.text("response_id") ?? "").isEmpty
        var items = 0
        if let data = members["data"] {
            items = try take(data)
        } else if meta == nil || !isSynthetic {
            throw .unusable("answered with JSON without data")
        }
        if items == 0 && isSynthetic {
            let message = "\(response.url.hostAndPath) answered without a result; Giphy has a problem."
            var error = UpstreamError(.http(status: 200), message)
            error.isTransient = true
            throw error
        }
        if self.items.isEmpty && items > 0 { throw .unusable("answered with \(items) GIFs, none of them usable") }
        let pagination = members["pagination"].flatMap(JSONItem.init(item:))
        head.totalCount = pagination?.number("total_count")
        guard let window else { return }
        // Counted from the request, because an unchanged `offset` in the response would cause a loop. With pagination,
        // a short page may precede others; without it, a short page is the last.
        let count = pagination?.number("count") ?? items
        let hasPagination = pagination?.number("count") != nil || head.totalCount != nil
        let next = window.offset + count
        let isLast = count == 0 || !hasPagination && count < window.limit || next >= head.totalCount ?? .max
        head.nextOffset = isLast || next > window.maximumOffset ? nil : next
    }

    /// Adds the GIFs in `data`: an object, an array or null. Returns the number of items; an empty object has none.
    private mutating func take(_ data: ArraySlice<UInt8>) throws(UpstreamError) -> Int {
        var ids: Set<String> = []
        func take(_ item: ArraySlice<UInt8>) {
            // Ignores further GIFs, because no request asks for more.
            guard self.items.count < Self.maximumGifs else { return }
            guard let gif = JSONItem(item: item).flatMap({ Gif(giphy: $0) }) else { return head.skipped += 1 }
            if ids.insert(gif.id).inserted { self.items.append(gif) }
        }
        var items = 0
        switch data.first {
        case "["?:
            try JSONItems.forEach(in: data) { item throws(UpstreamError) in
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
