/// The schema as JSON Schema, draft 7, which OpenRPC 1.x uses.
extension Schema: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        json.value(document)
    }

    var document: JSON {
        switch self {
        case .boolean: ["type": "boolean"]
        case .date: ["type": "string", "format": "date"]
        case .integer(let range):
            [
                "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        case .count: ["type": "integer", "minimum": 0]
        case .string: ["type": "string"]
        case .text(let range):
            [
                "type": "string", "minLength": .integer(Int64(range.lowerBound)),
                "maxLength": .integer(Int64(range.upperBound)),
            ]
        case .word(let words): ["type": "string", "enum": .array(words.map(JSON.string))]
        case .stringOrStrings:
            ["oneOf": [Schema.string.document, ["type": "array", "items": ["type": "string"], "minItems": 1]]]
        case .timestamp: ["type": "string", "format": "date-time"]
        case .list(let element): ["type": "array", "items": element.document]
        case .nullable(let schema): ["oneOf": [schema.document, ["type": "null"]]]
        case .object(let members): objectDocument(members)
        case .dictionary(let value): ["type": "object", "additionalProperties": value.document]
        case .reference(let name): ["$ref": .string("#/components/schemas/\(name)")]
        }
    }

    private func objectDocument(_ members: [Member]) -> JSON {
        var properties = JSONObject()
        for member in members {
            properties[member.name] = member.schema.document
        }
        let required = members.filter(\.isRequired).map { JSON.string($0.name) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }
}

extension Schema: CustomStringConvertible {
    /// The short form of the protocol's documents: `{items:[Fact],freshness?}`.
    package var description: String {
        switch self {
        case .boolean: "true|false"
        case .date: "\"YYYY-MM-DD\""
        case .integer(let range) where range.count == 1: "\(range.lowerBound)"
        case .integer(let range): "\(range.lowerBound)…\(range.upperBound)"
        case .count: "integer"
        case .string: "string"
        case .text(let range): "string of \(range.lowerBound)…\(range.upperBound)"
        case .word(let words): words.map { "\"\($0)\"" }.joined(separator: "|")
        case .stringOrStrings: "string|[string]"
        case .timestamp: "time"
        case .list(let element): "[\(element)]"
        case .nullable(let schema): "\(schema)|null"
        case .object(let members):
            "{" + members.map { "\($0.name)\($0.isRequired ? "" : "?"):\($0.schema)" }.joined(separator: ",") + "}"
        case .dictionary(let value): "{name:\(value)}"
        case .reference(let name): name
        }
    }
}
