/// `recent.list`: what this user searched for last.
package enum RecentList {
    /// How many searches are kept for a user.
    package static let maximum = 6

    package static let description = MethodDescription(
        "recent.list",
        summary: "Lists the user's last \(maximum) searches, newest first, in lower case and without doubles.",
        result: .object([
            .required(
                "items",
                .list(
                    .object([
                        .required("kind", .word(["fact", "gif"])), .required("query", .string),
                        .required("at", .timestamp),
                    ])
                )
            )
        ])
    )

    /// One search.
    package struct Search: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package struct Kind: OpenString {
            package let rawValue: String
            package init(rawValue: String) { self.rawValue = rawValue }
            package static let fact = Kind(rawValue: "fact")
            package static let gif = Kind(rawValue: "gif")
        }

        /// What was searched.
        package var kind: Kind
        package var query: String
        package var at: Timestamp

        package init(kind: Kind, query: String, at: Timestamp) {
            self.kind = kind
            self.query = query
            self.at = at
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("kind", kind)
            json.member("query", query)
            json.member("at", at)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            kind = try object.required("kind")
            query = try object.required("query")
            at = try object.required("at")
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var items: [Search]

        package init(items: [Search]) {
            self.items = items
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("items", items)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            items = try json.objectValue().required("items")
        }
    }
}
