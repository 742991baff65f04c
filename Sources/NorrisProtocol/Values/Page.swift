/// The result of a list method: a page of items, and the cursor of the next page.
package struct Page<Item: WireValue>: WireObject {
    package var items: [Item] = []
    /// The number of all matching items; nil if it exceeds ``countedMatches``.
    package var total: Int?
    /// An opaque cursor that requests the next page; nil on the last page.
    package var next: String?
    package var freshness: Freshness?

    package init(items: [Item], total: Int? = nil, next: String? = nil, freshness: Freshness? = nil) {
        (self.items, self.total, self.next, self.freshness) = (items, total, next, freshness)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
        try members.optional("total", &total, .integer(0...countedMatches))
        try members.optional("next", &next)
        try members.optional("freshness", &freshness)
    }
}

/// The largest exact `total` of a list. Counting further would cost more than it is worth.
package let countedMatches = 1_000

extension Page: Equatable where Item: Equatable {}
extension Page: Sendable where Item: Sendable {}

/// The result of a method that returns items without pages.
package struct Items<Item: WireValue>: WireObject {
    package var items: [Item] = []
    package var freshness = Freshness()

    package init(items: [Item], freshness: Freshness) { (self.items, self.freshness) = (items, freshness) }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
        try members.required("freshness", &freshness)
    }
}

extension Items: Equatable where Item: Equatable {}
extension Items: Sendable where Item: Sendable {}

/// The result of a method that returns items without pages and without a freshness of all items.
package struct ItemList<Item: WireValue & Equatable & Sendable>: WireObject, Equatable, Sendable {
    package var items: [Item] = []

    package init(items: [Item]) { self.items = items }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
    }
}

/// The parameters `limit`, `cursor` and `numbered` of a list method.
package struct PageRequest: Hashable, Sendable {
    /// The number of items of a page. The daemon replaces 0 by the default of the method.
    package var limit: Int
    /// The ``Page/next`` of the previous page; nil for the first page.
    package var cursor: String?
    /// Whether the daemon keeps the ids of the page for `recent.served` with an index.
    package var isNumbered: Bool

    package init(limit: Int? = nil, cursor: String? = nil, isNumbered: Bool = false) {
        (self.limit, self.cursor, self.isNumbered) = (limit ?? 0, cursor, isNumbered)
    }
}

extension MemberVisitor where Self: ~Copyable {
    mutating func page(
        _ page: inout PageRequest, _ range: ClosedRange<Int> = 1...100, default count: Int
    ) throws(Failure) {
        try number("limit", &page.limit, range, default: count, "The maximum number of items on a page.")
        try optional("cursor", &page.cursor, .string, "The `next` of the previous page.")
    }

    mutating func numbered(_ page: inout PageRequest) throws(Failure) {
        let summary: StaticString = "Whether recent.served may refer to the items of this list by their numbers."
        try flag("numbered", &page.isNumbered, summary)
    }
}
