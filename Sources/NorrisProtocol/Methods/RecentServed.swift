/// `recent.served`: the last item of a kind that this user was given.
package enum RecentServed {
    package static let description = MethodDescription(
        "recent.served",
        summary: "Gives the id of the last item of a kind that the user who asks was given since the daemon began.",
        parameters: [FavoriteAdd.kind],
        result: .object([.required("id", .string)])
    )

    package struct Parameters: JSONEncodable {
        package var kind: Favorite.Kind

        package init(kind: Favorite.Kind) {
            self.kind = kind
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("kind", kind)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var id: String

        package init(id: String) {
            self.id = id
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("id", id)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            id = try json.objectValue().required("id")
        }
    }
}
