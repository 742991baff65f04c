/// The result of a list method: a page of items and how to get the next.
///
/// Nothing is asked of the items here: the runtime would look for each conformance among all of the program whenever
/// a process makes its first page.
package struct Page<Item> {
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

extension Page: Equatable where Item: Equatable {}
extension Page: Sendable where Item: Sendable {}

extension Page: JSONEncodable where Item: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("items", items)
        json.member("total", total)
        json.member("next", next)
        json.member("freshness", freshness)
        json.endObject()
    }
}

extension Page: JSONDecodable where Item: JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        items = try object.required("items")
        total = try object.optional("total")
        next = try object.optional("next")
        freshness = try object.optional("freshness")
    }
}
