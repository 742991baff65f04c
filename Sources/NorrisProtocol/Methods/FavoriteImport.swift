/// `favorite.import`: keeps what was kept elsewhere.
package enum FavoriteImport {
    /// As many as one request takes; a line of 64 KiB holds few of the larger ones.
    package static let maximumItems = 1_000

    package static let description = MethodDescription(
        "favorite.import",
        summary: "Keeps favourites listed elsewhere, all of them or none; those that are kept already stay as they are.",
        parameters: [.required("items", .list(.reference("Favorite")), "Favourites as `favorite.list` gives them.")],
        result: .object([.required("added", .count), .required("known", .count)])
    )

    package struct Parameters: JSONEncodable {
        package var items: [Favorite]

        package init(items: [Favorite]) {
            self.items = items
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("items", items)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var added: Int
        /// How many were kept already.
        package var known: Int

        package init(added: Int, known: Int) {
            self.added = added
            self.known = known
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("added", added)
            json.member("known", known)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            added = try object.required("added")
            known = try object.required("known")
        }
    }
}
