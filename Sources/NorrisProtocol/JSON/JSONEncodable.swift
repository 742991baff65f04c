/// A type that has a form on the wire.
package protocol JSONEncodable {
    /// Writes exactly one value.
    func encode(to json: inout JSONWriter)
}

extension JSONEncodable {
    /// The wire form.
    package var jsonBytes: [UInt8] {
        var json = JSONWriter()
        encode(to: &json)
        return json.bytes
    }

    /// The wire form as text, for logs, databases and tests.
    package var jsonText: String {
        String(decoding: jsonBytes, as: UTF8.self)
    }
}

extension JSONWriter {
    package mutating func value(_ value: some JSONEncodable) {
        value.encode(to: &self)
    }

    /// A member of an object; nothing at all when there is no value, since absent means unknown on this wire.
    package mutating func member<Value: JSONEncodable>(_ key: StaticString, _ value: Value?) {
        guard let value else { return }
        self.key(key)
        value.encode(to: &self)
    }
}
