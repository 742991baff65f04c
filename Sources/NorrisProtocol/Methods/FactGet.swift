/// `fact.get`: one fact by its id.
package enum FactGet {
    package static let description = MethodDescription(
        "fact.get",
        summary: "Gives the fact of an id.",
        parameters: [.id],
        result: .object([.required("fact", .reference("Fact"))])
    )

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
