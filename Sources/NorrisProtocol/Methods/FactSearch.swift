/// `fact.search`: facts that contain a text.
package enum FactSearch {
    package static let description = MethodDescription(
        "fact.search",
        summary: "Finds the facts that contain all words of the query, newest stored first, without regard to case.",
        parameters: [
            .required("query", .text(1...65_536), "Words to look for; several in double quotes are one phrase."),
            .optional("category", .stringOrStrings, "Only facts of this category, or of any of these."),
            .limit(1...100, default: 25),
            .cursor,
            .optional("offline", .boolean, "Whether to answer from the cache in any case."),
            FactScope.parameter,
        ],
        result: .page(of: "Fact")
    )

    package struct Parameters: JSONEncodable {
        package var query: String
        package var categories: [String]
        package var limit: Int?
        package var cursor: String?
        package var offline: Bool
        package var source: FactScope?

        package init(
            query: String,
            categories: [String] = [],
            limit: Int? = nil,
            cursor: String? = nil,
            offline: Bool = false,
            source: FactScope? = nil
        ) {
            self.query = query
            self.categories = categories
            self.limit = limit
            self.cursor = cursor
            self.offline = offline
            self.source = source
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("query", query)
            json.member("category", categories.isEmpty ? nil : categories)
            json.member("limit", limit)
            json.member("cursor", cursor)
            json.member("offline", offline ? true : nil)
            json.member("source", source?.rawValue)
            json.endObject()
        }
    }

    package typealias Result = Page<Fact>
}
