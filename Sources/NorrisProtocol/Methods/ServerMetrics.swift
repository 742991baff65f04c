/// `server.metrics`: figures for a monitoring system.
package enum ServerMetrics {
    package static let description = MethodDescription(
        "server.metrics",
        summary: "Gives the daemon's figures as OpenMetrics text, for a monitoring system.",
        result: .object([.required("text", .string)])
    )

    package struct Result: Equatable, Sendable {
        /// In the text format of OpenMetrics 1.0 (`application/openmetrics-text; version=1.0.0`).
        package var text: String

        package init(text: String) {
            self.text = text
        }
    }
}

extension ServerMetrics.Result: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("text", text)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        text = try json.objectValue().required("text")
    }
}
