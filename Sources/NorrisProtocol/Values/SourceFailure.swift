/// The last failure of a source, as `freshness.error` carries it.
package struct SourceFailure: Equatable, Sendable {
    package struct Kind: OpenString {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package static let offline = Kind(rawValue: "offline")
        package static let timeout = Kind(rawValue: "timeout")
        package static let http = Kind(rawValue: "http")
        package static let quota = Kind(rawValue: "quota")
        package static let decode = Kind(rawValue: "decode")
        package static let credentials = Kind(rawValue: "credentials")
        package static let all: [Kind] = [.offline, .timeout, .http, .quota, .decode, .credentials]
    }

    package var kind: Kind
    /// One sentence for a person.
    package var message: String
    package var since: Timestamp
    package var retryAt: Timestamp?

    package init(kind: Kind, message: String, since: Timestamp, retryAt: Timestamp? = nil) {
        self.kind = kind
        self.message = message
        self.since = since
        self.retryAt = retryAt
    }
}

extension SourceFailure: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("kind", kind)
        json.member("message", message)
        json.member("since", since)
        json.member("retry_at", retryAt)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        kind = try object.required("kind")
        message = try object.required("message")
        since = try object.required("since")
        retryAt = try object.optional("retry_at")
    }
}
