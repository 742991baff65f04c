/// The parameters of the methods about one item of a kind: `favorite.add` and `favorite.remove`.
package struct ItemParameters: JSONEncodable {
    package var kind: Favorite.Kind
    package var id: String

    package init(kind: Favorite.Kind, id: String) {
        self.kind = kind
        self.id = id
    }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("kind", kind)
        json.member("id", id)
        json.endObject()
    }
}

/// The parameters of the methods that give one item by its id.
package struct IDParameters: JSONEncodable {
    package var id: String

    package init(id: String) {
        self.id = id
    }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.endObject()
    }
}
