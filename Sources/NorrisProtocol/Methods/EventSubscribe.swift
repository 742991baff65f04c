/// `event.subscribe`: asks for events on this connection.
package enum EventSubscribe {
    package static let description = MethodDescription(
        "event.subscribe",
        summary: "Sends the events of some topics on this connection from now on, in place of those asked for before.",
        parameters: [
            .optional(
                "topics",
                .list(.word(Event.Topic.all.map(\.rawValue))),
                "Which; all if absent, none and an end of it if empty."
            )
        ],
        result: .object([.required("topics", .list(.word(Event.Topic.all.map(\.rawValue))))])
    )

    package struct Parameters: JSONEncodable {
        /// nil for all.
        package var topics: [Event.Topic]?

        package init(topics: [Event.Topic]? = nil) {
            self.topics = topics
        }

        package init(_ arguments: Arguments) {
            topics = arguments.isGiven("topics")
                ? arguments.strings("topics").map(Event.Topic.init(rawValue:)) : nil
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("topics", topics)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        package var topics: [Event.Topic]

        package init(topics: [Event.Topic]) {
            self.topics = topics
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("topics", topics)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            topics = try json.objectValue().required("topics")
        }
    }
}
