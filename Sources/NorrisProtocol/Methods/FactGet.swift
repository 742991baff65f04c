/// `fact.get`: one fact by its id.
package enum FactGet {
    package static let description = MethodDescription(
        "fact.get",
        summary: "Gives the fact of an id.",
        parameters: [.required("id", .text(1...200), "The id, as any reply carried it.")],
        result: .object([.required("fact", .reference("Fact"))])
    )

    package struct Parameters: JSONEncodable {
        package var id: String

        package init(id: String) {
            self.id = id
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("id", id)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var fact: Fact

        package init(fact: Fact) {
            self.fact = fact
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("fact", fact)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            fact = try json.objectValue().required("fact")
        }
    }
}
