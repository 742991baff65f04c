/// A word of the protocol from a set that may grow: a client keeps a word it does not know instead of failing on it.
package protocol OpenString: RawRepresentable, Hashable, Sendable, JSONEncodable, JSONDecodable
where RawValue == String {
    init(rawValue: String)
}

extension OpenString {
    package func encode(to json: inout JSONWriter) {
        json.string(rawValue)
    }

    package init(json: JSON) throws(JSONDecodingError) {
        self.init(rawValue: try String(json: json))
    }
}
