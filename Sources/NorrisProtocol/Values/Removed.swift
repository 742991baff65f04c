/// The result of the methods that remove things: how many there were.
package struct Removed: Equatable, Sendable, JSONEncodable, JSONDecodable {
    package var removed: Int

    package init(removed: Int) {
        self.removed = removed
    }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("removed", removed)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        removed = try json.objectValue().required("removed")
    }
}
