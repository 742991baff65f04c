/// `favorite.list`: what the user who asks keeps.
package enum FavoriteList {
    /// As many as a user may keep.
    package static let maximum = 10_000

    package static let description = MethodDescription(
        "favorite.list",
        summary: "Lists what the user who asks keeps, newest first, with its content where that is stored.",
        parameters: [
            .optional("kind", .word(Favorite.Kind.all.map(\.rawValue)), "Only items of this kind."),
            .limit(1...100, default: 50),
            .cursor,
        ],
        result: .page(of: .reference("Favorite"), hasFreshness: false)
    )

    package struct Parameters: JSONEncodable {
        package var kind: Favorite.Kind?
        package var limit: Int?
        package var cursor: String?

        package init(kind: Favorite.Kind? = nil, limit: Int? = nil, cursor: String? = nil) {
            self.kind = kind
            self.limit = limit
            self.cursor = cursor
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("kind", kind)
            json.member("limit", limit)
            json.member("cursor", cursor)
            json.endObject()
        }
    }

    package typealias Result = Page<Favorite>
}
