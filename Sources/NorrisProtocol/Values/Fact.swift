/// A fact as the protocol represents it.
package struct Fact: SharedObject {
    /// Unique in all sources of facts; can begin with `-` or `_`.
    package var id = ""
    /// Plain text without control characters, except for newlines and tabs, which fortunes contain.
    package var text = ""
    /// Names of the form `[a-z0-9_-]{1,40}`.
    package var categories: [String] = []
    /// `chucknorris`, `builtin` or `fortune:NAME`.
    package var source = ""
    package var url: String?
    package var createdAt: Timestamp?
    package var updatedAt: Timestamp?

    package init(
        id: String, text: String, categories: [String], source: String, url: String? = nil,
        createdAt: Timestamp? = nil, updatedAt: Timestamp? = nil
    ) {
        (self.id, self.text, self.categories, self.source) = (id, text, categories, source)
        (self.url, self.createdAt, self.updatedAt) = (url, createdAt, updatedAt)
    }

    package init() {}

    package mutating func visit<V: MemberVisitor & ~Copyable>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("text", &text)
        try members.required("categories", &categories)
        try members.required("source", &source)
        try members.optional("url", &url)
        try members.optional("created_at", &createdAt)
        try members.optional("updated_at", &updatedAt)
    }
}

extension Fact {
    /// The longest stored fact, in code points; also the maximum of the parameter `max_length`.
    package static let maximumLength = 10_000

    /// The most categories of a fact. Further ones are dropped, but never ``explicitCategory``.
    package static let maximumCategories = 16

    /// The longest name of a category, and of a source of posts, in bytes.
    package static let maximumNameLength = 40

    /// The category that is served only to clients that ask for it.
    package static let explicitCategory = "explicit"

    /// Whether a category can have this name: `[a-z0-9_-]{1,40}`.
    package static func isCategoryName(_ name: String) -> Bool {
        (1...maximumNameLength).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }
}

/// A set of facts by their origin: the parameter `source` of the methods `fact.*`.
package enum FactScope: String, Hashable, Sendable, CaseIterable, TextValue {
    /// The upstream and the starting collection.
    case norris
    /// The fortune files.
    case fortune
    case all

    package static var schema: Schema { .word(allCases.map(\.rawValue)) }

    package init?(_ text: String) { self.init(rawValue: text) }

    package var description: String { rawValue }
}
