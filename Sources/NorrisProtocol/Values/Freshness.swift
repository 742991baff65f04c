/// How old the content of a reply is, and whether its source is well.
package struct Freshness: Equatable, Sendable {
    /// Where the items came from.
    package struct Origin: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        /// The upstream was asked for this very reply and answered.
        package static let upstream = Origin(rawValue: "upstream")
        package static let cache = Origin(rawValue: "cache")
        /// Every item is from the starting collection or a fortune file.
        package static let builtin = Origin(rawValue: "builtin")
        /// No items, and nothing was ever fetched.
        package static let none = Origin(rawValue: "none")
    }

    /// What the age of the last success means.
    package struct State: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let fresh = State(rawValue: "fresh")
        /// The last success is older than one and a half refresh intervals, or there was none.
        package static let stale = State(rawValue: "stale")
        /// There are no items.
        package static let empty = State(rawValue: "empty")
    }

    package var origin: Origin
    package var state: State
    package var fetchedAt: Timestamp?
    package var ageSeconds: Int?
    /// The source's last failure until its next success; content and a failure may come together.
    package var error: SourceFailure?

    package init(
        origin: Origin,
        state: State,
        fetchedAt: Timestamp? = nil,
        ageSeconds: Int? = nil,
        error: SourceFailure? = nil
    ) {
        self.origin = origin
        self.state = state
        self.fetchedAt = fetchedAt
        self.ageSeconds = ageSeconds
        self.error = error
    }
}

extension Freshness: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("origin", origin)
        json.member("state", state)
        json.member("fetched_at", fetchedAt)
        json.member("age_seconds", ageSeconds)
        json.key("error")
        if let error {
            error.encode(to: &json)
        } else {
            // The one member of the protocol that is null where it is unknown: it is what a script tests.
            json.null()
        }
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        origin = try object.required("origin")
        state = try object.required("state")
        fetchedAt = try object.optional("fetched_at")
        ageSeconds = try object.optional("age_seconds")
        error = try object.optional("error")
    }
}
