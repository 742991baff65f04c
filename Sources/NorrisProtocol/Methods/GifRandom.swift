/// `gif.random`: any GIF.
package enum GifRandom {
    package static let description = MethodDescription(
        "gif.random",
        summary: "Gives any GIF, or any that answers a tag.",
        parameters: [.optional("tag", .text(1...50), "What it is to be about.")],
        result: .object([.required("gif", .reference("Gif")), .required("freshness", .reference("Freshness"))])
    )

    package struct Parameters: JSONEncodable {
        package var tag: String?

        package init(tag: String? = nil) {
            self.tag = tag
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("tag", tag)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var gif: Gif
        package var freshness: Freshness

        package init(gif: Gif, freshness: Freshness) {
            self.gif = gif
            self.freshness = freshness
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("gif", gif)
            json.member("freshness", freshness)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            gif = try object.required("gif")
            freshness = try object.required("freshness")
        }
    }
}
