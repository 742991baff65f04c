/// `fact.categories`: the categories that have facts, and how many.
package enum FactCategories {
    package static let description = MethodDescription(
        "fact.categories",
        summary: "Lists the categories of the stored facts with their counts; explicit is left out.",
        parameters: [FactScope.parameter],
        result: .object([
            .required("items", .list(.object([.required("name", .string), .required("count", .count)]))),
            .required("freshness", .reference("Freshness")),
        ])
    )

    package struct Category: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var name: String
        package var count: Int

        package init(name: String, count: Int) {
            self.name = name
            self.count = count
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("name", name)
            json.member("count", count)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            name = try object.required("name")
            count = try object.required("count")
        }
    }

    package typealias Result = Page<Category>
}
