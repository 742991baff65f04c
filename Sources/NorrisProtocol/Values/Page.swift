/// The result of a list method: a page of items and how to get the next.
package struct Page<Item: JSONEncodable & JSONDecodable & Equatable & Sendable>: Equatable, Sendable {
    package var items: [Item]
    /// How many items match in all, where that is at most ``countedMatches``; nil above.
    package var total: Int?
    /// An opaque text that asks for the next page; nil at the end.
    package var next: String?
    package var freshness: Freshness?

    package init(items: [Item], total: Int? = nil, next: String? = nil, freshness: Freshness? = nil) {
        self.items = items
        self.total = total
        self.next = next
        self.freshness = freshness
    }
}

/// Up to how many matches a list's `total` is exact; above, counting would cost more than it tells.
package let countedMatches = 1_000

extension Page: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("items", items)
        json.member("total", total)
        json.member("next", next)
        json.member("freshness", freshness)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        items = try object.required("items")
        total = try object.optional("total")
        next = try object.optional("next")
        freshness = try object.optional("freshness")
    }
}
