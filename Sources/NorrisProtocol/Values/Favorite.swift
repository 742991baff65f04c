/// Something a user keeps, as it goes over the wire and into an exported file.
package struct Favorite: Equatable, Sendable {
    /// What can be kept; a newer daemon may know more.
    package struct Kind: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let fact = Kind(rawValue: "fact")
        package static let gif = Kind(rawValue: "gif")
        package static let post = Kind(rawValue: "post")
        package static let all = [fact, gif, post]
    }

    package var kind: Kind
    package var id: String
    /// One line of plain text that tells it from others even where its content is gone.
    package var title: String
    package var addedAt: Timestamp
    /// The content, of its kind, where it is known.
    package var fact: Fact?
    package var gif: Gif?
    package var post: Post?

    package init(
        kind: Kind,
        id: String,
        title: String,
        addedAt: Timestamp,
        fact: Fact? = nil,
        gif: Gif? = nil,
        post: Post? = nil
    ) {
        self.kind = kind
        self.id = id
        self.title = title
        self.addedAt = addedAt
        self.fact = fact
        self.gif = gif
        self.post = post
    }
}

extension Favorite: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("kind", kind)
        json.member("id", id)
        json.member("title", title)
        json.member("added_at", addedAt)
        json.member("fact", fact)
        json.member("gif", gif)
        json.member("post", post)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        kind = try object.required("kind")
        id = try object.required("id")
        title = try object.required("title")
        addedAt = try object.required("added_at")
        fact = try object.optional("fact")
        gif = try object.optional("gif")
        post = try object.optional("post")
    }
}
