/// A fact as it goes over the wire.
package struct Fact: Equatable, Sendable {
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
        id: String,
        text: String,
        categories: [String],
        source: String,
        url: String? = nil,
        createdAt: Timestamp? = nil,
        updatedAt: Timestamp? = nil
    ) {
        self.id = id
        self.text = text
        self.categories = categories
        self.source = source
        self.url = url
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension Fact: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.member("text", text)
        json.member("categories", categories)
        json.member("source", source)
        json.member("url", url)
        json.member("created_at", createdAt)
        json.member("updated_at", updatedAt)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        id = try object.required("id")
        text = try object.required("text")
        categories = try object.required("categories")
        source = try object.required("source")
        url = try object.optional("url")
        createdAt = try object.optional("created_at")
        updatedAt = try object.optional("updated_at")
    }
}
