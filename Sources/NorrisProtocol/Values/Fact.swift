/// A fact as it goes over the wire.
package struct Fact: SharedObject {
    /// Unique over all sources of facts; may begin with `-` or `_`.
    package var id: String
    /// Plain text, free of control characters; may hold newlines and tabs (fortunes do).
    package var text: String
    /// Names of `[a-z0-9_-]{1,40}`.
    package var categories: [String]
    /// `chucknorris`, `builtin` or `fortune:NAME`.
    package var source: String
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

    package static let schemaName = "Fact"

    package init() { self.init(id: "", text: "", categories: [], source: "") }

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

/// What every source of facts has to keep to.
extension Fact {
    /// A fact longer than this is not stored: the longest that `max_length` can name, in code points.
    package static let maximumLength = 10_000

    /// A fact has no more categories than these; further ones are dropped, but never ``explicitCategory``.
    package static let maximumCategories = 16

    /// The category that is served only to those who ask for it.
    package static let explicitCategory = "explicit"

    /// Whether a name may be a category: `[a-z0-9_-]{1,40}`.
    package static func isCategoryName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }
}

/// Which facts are meant by where they come from: the parameter `source` of the methods `fact.*`.
package enum FactScope: String, Hashable, Sendable, CaseIterable, WireValue {
    /// The upstream and the starting collection.
    case norris
    /// The fortune files.
    case fortune
    case all

    package static var schema: Schema { .word(allCases.map(\.rawValue)) }

    package init(json: JSON) throws(JSONDecodingError) {
        guard let scope = FactScope(rawValue: try String(json: json)) else {
            throw JSONDecodingError(message: "must be \(FactScope.schema.requirement)")
        }
        self = scope
    }

    package func encode(to json: inout JSONWriter) { json.string(rawValue) }
}
