/// `author.list`: who writes the posts.
package enum AuthorList {
    package static let description = MethodDescription(
        "author.list",
        summary: "Lists the authors of the stored posts, by name.",
        parameters: [
            .optional("source", .text(1...200), "Only authors of this source."),
            .limit(1...100, default: 100),
            .cursor,
        ],
        result: .page(of: author, hasFreshness: true)
    )

    private static let author: Schema = .object([
        .required("id", .string),
        .required("name", .string),
        .optional("handle", .string),
        .optional("avatar_url", .string),
        .required("post_count", .count),
    ])

    /// An author and how much there is of theirs.
    package struct Author: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var id: String
        package var name: String
        package var handle: String?
        package var avatarURL: String?
        package var postCount: Int

        package init(id: String, name: String, handle: String? = nil, avatarURL: String? = nil, postCount: Int) {
            self.id = id
            self.name = name
            self.handle = handle
            self.avatarURL = avatarURL
            self.postCount = postCount
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("id", id)
            json.member("name", name)
            json.member("handle", handle)
            json.member("avatar_url", avatarURL)
            json.member("post_count", postCount)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            id = try object.required("id")
            name = try object.required("name")
            handle = try object.optional("handle")
            avatarURL = try object.optional("avatar_url")
            postCount = try object.required("post_count")
        }
    }

    package typealias Result = Page<Author>
}
