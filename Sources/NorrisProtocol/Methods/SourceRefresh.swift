/// `source.refresh`: fetches now instead of at the next run.
package enum SourceRefresh {
    package static let description = MethodDescription(
        "source.refresh",
        summary: "Fetches from a source now; without an administrator each source at most once in five minutes.",
        parameters: [.optional("source", .text(1...200), "Which; all that are enabled if absent.")],
        result: .object([.required("started", .list(.string))])
    )

    package struct Parameters: JSONEncodable {
        /// nil for all sources.
        package var source: String?

        package init(source: String? = nil) {
            self.source = source
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("source", source)
            json.endObject()
        }
    }

    package struct Result: Equatable, Sendable, JSONEncodable, JSONDecodable {
        /// The names of the sources that fetch now.
        package var started: [String]

        package init(started: [String]) {
            self.started = started
        }

        package func encode(to json: inout JSONWriter) {
            json.beginObject()
            json.member("started", started)
            json.endObject()
        }

        package init(json: JSON) throws(JSONDecodingError) {
            started = try json.objectValue().required("started")
        }
    }
}
