/// `favorite.add`: keeps an item for the user who asks.
package enum FavoriteAdd {
    package static let description = MethodDescription(
        "favorite.add",
        summary: "Keeps an item for the user who asks; it is on the disk when the reply comes.",
        parameters: [kind, .id],
        result: .object([.required("added", .boolean)])
    )

    /// The parameter that says what an item is.
    static let kind = MethodDescription.Parameter.required(
        "kind", .word(Favorite.Kind.all.map(\.rawValue)), "What it is."
    )

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        /// Whether it was not kept before.
        package var added: Bool

        package init(added: Bool) {
            self.added = added
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("added", added)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            added = try json.objectValue().required("added")
        }
    }
}
