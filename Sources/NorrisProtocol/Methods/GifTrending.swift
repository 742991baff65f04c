/// `gif.trending`: what is shown most.
package enum GifTrending {
    package static let description = MethodDescription(
        "gif.trending",
        summary: "Gives the GIFs that Giphy's users show most, as of the last fetch.",
        parameters: [.limit(1...GifSearch.maximumLimit, default: 25), .cursor],
        result: .page(of: "Gif")
    )

    package struct Parameters: JSONEncodable {
        package var limit: Int?
        package var cursor: String?

        package init(limit: Int? = nil, cursor: String? = nil) {
            self.limit = limit
            self.cursor = cursor
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("limit", limit)
            json.member("cursor", cursor)
            json.endObject()
        }
    }

    package typealias Result = Page<Gif>
}
