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
        (self.items, self.total, self.next, self.freshness) = (items, total, next, freshness)
    }
}

/// Up to how many matches a list's `total` is exact; above, counting would cost more than it is worth.
package let countedMatches = 1_000

extension Page: Equatable where Item: Equatable {}
extension Page: Sendable where Item: Sendable {}
extension Page: JSONEncodable, JSONDecodable, WireValue, WireObject where Item: WireValue {
    package init() { self.init(items: []) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
        try members.optional("total", &total, .integer(0...countedMatches))
        try members.optional("next", &next)
        try members.optional("freshness", &freshness)
    }
}

/// Items of which there is no next page.
package struct Items<Item> {
    package var items: [Item]
    package var freshness: Freshness

    package init(items: [Item], freshness: Freshness) { (self.items, self.freshness) = (items, freshness) }
}

extension Items: Equatable where Item: Equatable {}
extension Items: Sendable where Item: Sendable {}
extension Items: JSONEncodable, JSONDecodable, WireValue, WireObject where Item: WireValue {
    package init() { self.init(items: [], freshness: Freshness()) }

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
        try members.required("freshness", &freshness)
    }
}

/// The parameters `limit` and `cursor` of a list method.
package struct PageRequest: Hashable, Sendable {
    /// How many items a page holds; 0 asks for the method's default, which the daemon puts in its place.
    package var limit: Int
    /// ``Page/next`` of the page before; nil for the first page.
    package var cursor: String?

    package init(limit: Int? = nil, cursor: String? = nil) { (self.limit, self.cursor) = (limit ?? 0, cursor) }
}

extension MemberVisitor where Self: ~Copyable {
    mutating func page(
        _ page: inout PageRequest, _ range: ClosedRange<Int> = 1...100, default count: Int
    ) throws(Failure) {
        try number("limit", &page.limit, range, default: count, "How many items a page holds.")
        try optional("cursor", &page.cursor, .string, "The `next` of the page before.")
    }
}
