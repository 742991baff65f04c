import NorrisProtocol

/// What stands in an answer of Giphy: `data`, `pagination` and `meta`.
struct GiphyAnswer: Sendable {
    /// In the order of the answer, no id twice.
    var gifs: [Gif] = []
    /// How many items could not be used.
    var skipped = 0
    /// How many items there were.
    var items = 0
    /// `total_count` of `pagination`.
    var totalCount: Int?
    /// `count` of `pagination`: how far this page leads.
    var pageCount: Int?

    /// - Returns: a failure where the body says that there is one, although the status does not.
    static func read(
        _ body: [UInt8], of endpoint: GiphyEndpoint, from url: String, hiding key: APIKey, now: Timestamp,
        _ budget: DecodingBudget
    ) throws(UnusableBody) -> Result<GiphyAnswer, UpstreamError> {
        let members = try JSONItems.members(of: body, budget)
        let meta = try object(members["meta"], in: body)
        let status = meta.flatMap { LenientJSON.integer($0["status"]) } ?? 200
        if status != 200 {
            // Whatever else this is, it is no status of an answer.
            let known = (400...599).contains(status) ? status : 502
            let body = body.count <= JSONItems.maximumItem ? body : []
            return .failure(UpstreamError(status: known, from: HTTPURL(url), headers: [], body: body, now: now))
        }
        var answer = GiphyAnswer()
        let isSynthetic = (LenientJSON.string(meta?["response_id"]) ?? "").isEmpty
        if let data = members["data"] {
            try answer.takeData(data, in: body, upTo: endpoint.maximumItems, hiding: key, budget)
        } else if meta == nil || !isSynthetic {
            throw .fault("answered with JSON without data")
        }
        if answer.items == 0 && isSynthetic {
            return .failure(.syntheticAnswer(from: url))
        }
        if answer.gifs.isEmpty && answer.items > 0 && !endpoint.mayBeUseless {
            throw .fault("answered with \(answer.items) GIFs of which none can be used")
        }
        let pagination = try object(members["pagination"], in: body)
        answer.totalCount = LenientJSON.integer(pagination?["total_count"])
        answer.pageCount = LenientJSON.integer(pagination?["count"])
        return .success(answer)
    }

    /// One GIF, several, or in various ways none.
    private mutating func takeData(
        _ range: Range<Int>, in body: [UInt8], upTo maximum: Int, hiding key: APIKey, _ budget: DecodingBudget
    ) throws(UnusableBody) {
        let value = body[range]
        switch value.first {
        case UInt8(ascii: "["):
            var ids: Set<String> = []
            try JSONItems.forEach(in: Array(value), under: nil, budget) { item throws(UnusableBody) in
                if items == maximum { return }
                take(item, hiding: key, &ids, budget)
            }
        case UInt8(ascii: "{"):
            if (try? Self.object(range, in: body))?.members.isEmpty == true { return }
            var ids: Set<String> = []
            value.withUnsafeBytes { take($0, hiding: key, &ids, budget) }
        default:
            guard value.elementsEqual("null".utf8) else { throw .fault("answered with JSON in which data is no GIF") }
        }
    }

    private mutating func take(
        _ item: UnsafeRawBufferPointer, hiding key: APIKey, _ ids: inout Set<String>, _ budget: DecodingBudget
    ) {
        items += 1
        guard item.count <= JSONItems.maximumItem, let json = try? JSON.parse(item),
            let gif = Gif(giphy: json, budget), !key.isHeld(in: gif.jsonText)
        else {
            skipped += 1
            return
        }
        if ids.insert(gif.id).inserted { gifs.append(gif) }
    }

    /// Nil if it is absent, something else, or too long to be what it should.
    private static func object(_ range: Range<Int>?, in body: [UInt8]) throws(UnusableBody) -> JSONObject? {
        guard let range, range.count <= JSONItems.maximumItem else { return nil }
        do {
            guard case .object(let object) = try JSON.parse(body[range]) else { return nil }
            return object
        } catch {
            throw .fault("answered with something that is not JSON")
        }
    }
}
