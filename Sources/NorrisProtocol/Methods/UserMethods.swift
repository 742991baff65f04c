// The methods for data of one user: favorites, recent searches and the last served items.

package enum FavoriteAdd: Method {
    package static let name = "favorite.add"
    package static let summary =
        "Adds a favorite of the user; it is on disk before the reply."
    package typealias Parameters = ItemParameters

    package struct Result: WireObject, Equatable, Sendable {
        /// False if the item was already a favorite.
        package var added = false

        package init(added: Bool) { self.added = added }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("added", &added)
        }
    }
}

package enum FavoriteRemove: Method {
    package static let name = "favorite.remove"
    package static let summary = "Removes a favorite of the user."
    package typealias Parameters = ItemParameters

    package struct Result: WireObject, Equatable, Sendable {
        /// False if there was no such item.
        package var removed = false
        /// The title of a removed favorite.
        package var title: String?

        package init(removed: Bool, title: String? = nil) { (self.removed, self.title) = (removed, title) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("removed", &removed)
            try members.optional("title", &title)
        }
    }
}

/// The parameters of `favorite.add` and `favorite.remove`: one item.
package struct ItemParameters: WireObject, Equatable, Sendable {
    package var kind: Favorite.Kind = .fact
    package var id = ""

    package init(kind: Favorite.Kind, id: String) { (self.kind, self.id) = (kind, id) }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind, Favorite.Kind.schema, "The kind of the item.")
        try members.id(&id)
    }
}

package enum FavoriteImport: Method {
    package static let name = "favorite.import"
    package static let summary = "Adds exported favorites, all or none; existing ones stay."

    package struct Parameters: WireObject, Equatable, Sendable {
        package var items: [Favorite] = []

        package init(items: [Favorite]) { self.items = items }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("items", &items, [Favorite].schema, "Favorites as `favorite.list` returns them.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var added = 0
        /// The number of items that were already favorites.
        package var known = 0

        package init(added: Int, known: Int) { (self.added, self.known) = (added, known) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("added", &added)
            try members.required("known", &known)
        }
    }
}

package enum FavoriteList: Method {
    package static let name = "favorite.list"
    package static let summary =
        "Lists the user's favorites, newest first, with their content if it is stored."

    /// The most favorites of one user.
    package static let maximum = 10_000
    /// The limit of their ids, titles and contents, in bytes.
    package static let maximumBytes = 16 << 20

    package struct Parameters: WireObject, Equatable, Sendable {
        package var kind: Favorite.Kind? = nil
        package var query: String?
        package var page = PageRequest()

        package init(kind: Favorite.Kind? = nil, query: String? = nil, page: PageRequest = PageRequest()) {
            (self.kind, self.query, self.page) = (kind, query, page)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.optional("kind", &kind, Favorite.Kind.schema, "Only items of this kind.")
            try members.optional(
                "query", &query, SearchQuery.schema,
                "Only favorites that contain all words of this text.")
            try members.page(&page, default: 50)
            try members.numbered(&page)
        }
    }

    package typealias Result = Page<Favorite>
}

package enum RecentList: Method {
    package static let name = "recent.list"
    package static let summary =
        "Lists the user's last \(maximum) distinct searches in lower case, newest first."

    /// The number of searches stored for each user.
    package static let maximum = 6

    package struct Search: WireObject, Equatable, Sendable {
        package struct Kind: OpenString {
            package let rawValue: String
            package init(rawValue: String) { self.rawValue = rawValue }
            package static let fact = Kind(rawValue: "fact")
            package static let gif = Kind(rawValue: "gif")
            package static let all = [fact, gif]
        }

        /// The kind of content that was searched.
        package var kind: Kind = .fact
        package var query = ""
        package var at = Timestamp(seconds: 0)

        package init(kind: Kind, query: String, at: Timestamp) { (self.kind, self.query, self.at) = (kind, query, at) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("kind", &kind)
            try members.required("query", &query)
            try members.required("at", &at)
        }
    }

    package typealias Result = ItemList<Search>
}

package enum RecentClear: Method {
    package static let name = "recent.clear"
    package static let summary = "Deletes the user's recent searches."
    package typealias Result = Removed
}

/// The result of methods that remove items: the number of removed items.
package struct Removed: WireObject, Equatable, Sendable {
    package var removed = 0

    package init(removed: Int) { self.removed = removed }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("removed", &removed)
    }
}

package enum RecentServed: Method {
    package static let name = "recent.served"
    package static let summary =
        "Returns the last item of a kind that the user was served, or an item of the last numbered list."

    /// Every kind: the last item, or the last numbered list, of any kind.
    package static let anyKind = Favorite.Kind(rawValue: "any")

    /// The highest number of an item in a list.
    package static let maximumIndex = 100

    package struct Parameters: WireObject, Equatable, Sendable {
        package var kind = Favorite.Kind.fact
        package var index: Int?

        package init(kind: Favorite.Kind, index: Int? = nil) { (self.kind, self.index) = (kind, index) }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required(
                "kind", &kind, .word(Favorite.Kind.all.map(\.rawValue) + [anyKind.rawValue]),
                "The kind of the item, or any.")
            try members.optional(
                "index", &index, .integer(1...maximumIndex),
                "The number of an item in the last list requested with numbered.")
        }
    }

    package struct Result: WireObject, Equatable, Sendable {
        package var id = ""
        /// nil in the reply of an older daemon, which returns items of the requested kind only.
        package var kind: Favorite.Kind?
        /// The name that replaced Chuck Norris.
        package var name: String?

        package init(id: String, kind: Favorite.Kind?, name: String? = nil) {
            (self.id, self.kind, self.name) = (id, kind, name)
        }

        package init() {}

        package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
            try members.required("id", &id)
            try members.optional("kind", &kind)
            try members.optional("name", &name)
        }
    }
}
