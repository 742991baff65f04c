/// `post.list`: the posts of all sources.
package enum PostList {
    package static let description = MethodDescription(
        "post.list",
        summary: "Lists posts, newest first; those without a date, or with one to come, by when they were first seen.",
        parameters: [
            .optional("source", .text(1...200), "Only posts of this source."),
            .optional("author", .text(1...200), "Only posts of the author with this id, handle or name."),
            .optional("unread", .boolean, "Whether to leave out what the user has marked as read."),
            .limit(1...100, default: 20),
            .cursor,
        ],
        result: .page(of: "Post")
    )

    package struct Parameters: JSONEncodable {
        package var source: String?
        package var author: String?
        package var unread: Bool
        package var limit: Int?
        package var cursor: String?

        package init(
            source: String? = nil,
            author: String? = nil,
            unread: Bool = false,
            limit: Int? = nil,
            cursor: String? = nil
        ) {
            self.source = source
            self.author = author
            self.unread = unread
            self.limit = limit
            self.cursor = cursor
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("source", source)
            json.member("author", author)
            json.member("unread", unread ? true : nil)
            json.member("limit", limit)
            json.member("cursor", cursor)
            json.endObject()
        }
    }

    package typealias Result = Page<Post>
}
