/// `gif.get`: one GIF by its id.
package enum GifGet {
    package static let description = MethodDescription(
        "gif.get",
        summary: "Gives the GIF with an id; Giphy is asked only for one that is not stored.",
        parameters: [.id],
        result: .object([.required("gif", .reference("Gif"))])
    )

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var gif: Gif

        package init(gif: Gif) {
            self.gif = gif
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("gif", gif)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            gif = try json.objectValue().required("gif")
        }
    }
}
