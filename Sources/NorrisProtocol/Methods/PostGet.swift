/// `post.get`: one post by its id.
package enum PostGet {
    package static let description = MethodDescription(
        "post.get",
        summary: "Gives the post with an id.",
        parameters: [.id],
        result: .object([.required("post", .reference("Post"))])
    )

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var post: Post

        package init(post: Post) {
            self.post = post
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("post", post)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            post = try json.objectValue().required("post")
        }
    }
}
