/// `recent.served`: the last item of a kind that this user was served.
package enum RecentServed {
    package static let description = MethodDescription(
        "recent.served",
        summary: "Returns the last item of a kind that the user who asks was served.",
        parameters: [FavoriteAdd.kind],
        result: .object([.required("id", .string), .optional("name", .string)])
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
        /// The name that stood in place of Chuck Norris.
        package var name: String?

        package init(id: String, name: String? = nil) {
            self.id = id
            self.name = name
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("id", id)
            json.member("name", name)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            id = try object.required("id")
            name = try object.optional("name")
        }
    }
}
