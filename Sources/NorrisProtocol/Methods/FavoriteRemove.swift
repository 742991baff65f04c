/// `favorite.remove`: lets go of an item that the user who asks kept.
package enum FavoriteRemove {
    package static let description = MethodDescription(
        "favorite.remove",
        summary: "Lets go of an item that the user who asks kept.",
        parameters: [FavoriteAdd.kind, .id],
        result: .object([.required("removed", .boolean)])
    )

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        /// Whether it was kept before.
        package var removed: Bool

        package init(removed: Bool) {
            self.removed = removed
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("removed", removed)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            removed = try json.objectValue().required("removed")
        }
    }
}
