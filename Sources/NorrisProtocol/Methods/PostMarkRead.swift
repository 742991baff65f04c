/// `post.mark_read`: remembers what this user has read.
package enum PostMarkRead {
    package static let description = MethodDescription(
        "post.mark_read",
        summary: "Marks posts as read for the user who asks; takes either ids or all.",
        parameters: [
            .optional("ids", .list(.text(1...200)), "The ids of the posts."),
            .optional("all", .boolean, "Whether to mark every post that is stored."),
        ],
        result: .object([.required("marked", .count)])
    )

    package struct Parameters: JSONEncodable {
        package var ids: [String]?
        package var all: Bool

        package init(ids: [String]? = nil, all: Bool = false) {
            self.ids = ids
            self.all = all
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("ids", ids)
            json.member("all", all ? true : nil)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        /// How many were unread before.
        package var marked: Int

        package init(marked: Int) {
            self.marked = marked
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("marked", marked)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            marked = try json.objectValue().required("marked")
        }
    }
}
