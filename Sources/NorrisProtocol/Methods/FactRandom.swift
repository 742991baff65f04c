/// `fact.random`: the next facts of the caller's shuffle; the only method that moves it.
package enum FactRandom {
    /// A constant of its own: a prompt needs no more of the table.
    package static let name = "fact.random"

    package static let description = MethodDescription(
        name,
        summary: "Returns the next facts that this user has not been served yet.",
        parameters: [
            .optional("category", .stringOrStrings, "Only facts of this category, or of any of these."),
            .optional("count", .integer(1...100), "How many facts; 1 if absent."),
            .optional("max_length", .integer(1...10_000), "Only facts of at most so many code points."),
            .optional("name", .text(1...64), "A name to put in place of Chuck Norris."),
            .optional("allow_explicit", .boolean, "Whether facts of the category explicit may be served."),
            FactScope.parameter,
        ],
        result: .object([.required("items", .list(.reference("Fact"))), .required("freshness", .reference("Freshness"))])
    )

    package struct Parameters: JSONEncodable {
        package var categories: [String]
        package var count: Int?
        package var maxLength: Int?
        package var name: String?
        package var allowExplicit: Bool
        package var source: FactScope?

        package init(
            categories: [String] = [],
            count: Int? = nil,
            maxLength: Int? = nil,
            name: String? = nil,
            allowExplicit: Bool = false,
            source: FactScope? = nil
        ) {
            self.categories = categories
            self.count = count
            self.maxLength = maxLength
            self.name = name
            self.allowExplicit = allowExplicit
            self.source = source
        }

        package init(_ arguments: Arguments) {
            self.init()
            guard !arguments.isEmpty else { return }
            categories = arguments.strings("category")
            count = arguments.integer("count")
            maxLength = arguments.integer("max_length")
            name = arguments.string("name")
            allowExplicit = arguments.flag("allow_explicit")
            source = FactScope(arguments)
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            if !categories.isEmpty { json.member("category", categories) }
            json.member("count", count)
            json.member("max_length", maxLength)
            json.member("name", name)
            json.member("allow_explicit", allowExplicit ? true : nil)
            json.member("source", source?.rawValue)
            json.endObject()
        }
    }

    /// The result is a page without `total` and `next`: a shuffle has no end.
    package typealias Result = Page<Fact>
}
