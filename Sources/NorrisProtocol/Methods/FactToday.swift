/// `fact.today`: one fact a day, the same for all users.
package enum FactToday {
    package static let description = MethodDescription(
        "fact.today",
        summary: "Gives the fact of a day, the same for all users and all that day.",
        parameters: [.optional("date", .date, "The day; today in the daemon's time zone if absent.")],
        result: .object([.required("fact", .reference("Fact")), .required("freshness", .reference("Freshness"))])
    )

    package struct Parameters: JSONEncodable {
        package var date: CivilDate?

        package init(date: CivilDate? = nil) {
            self.date = date
        }

        package init(_ arguments: Arguments) {
            date = arguments.string("date").flatMap(CivilDate.init)
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("date", date?.description)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var fact: Fact
        package var freshness: Freshness

        package init(fact: Fact, freshness: Freshness) {
            self.fact = fact
            self.freshness = freshness
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("fact", fact)
            json.member("freshness", freshness)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            let object = try json.objectValue()
            fact = try object.required("fact")
            freshness = try object.required("freshness")
        }
    }
}
