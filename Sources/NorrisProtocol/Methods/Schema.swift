/// The shape of a parameter or a result. Validates parameters, and describes both in `rpc.discover` and the manual.
package indirect enum Schema: Equatable, Sendable {
    case boolean
    case any
    /// A calendar day, `YYYY-MM-DD`.
    case date
    /// - Parameter default: the value of an absent parameter, if that is a number.
    case integer(ClosedRange<Int>, default: Int? = nil)
    /// A number of items, bytes or seconds, 0 or more, without an upper bound.
    case count
    case string
    /// A string whose length in Unicode code points is in this range.
    case text(ClosedRange<Int>)
    case word([String])
    /// A string, or a list of at least one string.
    case stringOrStrings
    case timestamp
    case list(Schema)
    /// A value that is null if unknown.
    case nullable(Schema)
    case object([Member])
    /// An object with arbitrary keys, whose values all have this shape.
    case dictionary(Schema)
    /// A value described under `components.schemas`.
    case reference(String)

    /// One member of an object, or one parameter of a method.
    package struct Member: Equatable, Sendable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool
        /// One sentence; empty for members of results.
        package let summary: String

        package init(name: String, schema: Schema, isRequired: Bool, summary: String = "") {
            (self.name, self.schema, self.isRequired, self.summary) = (name, schema, isRequired, summary)
        }

        /// The form in the documentation: `name`, `name?`, or `name?=25`.
        package var label: String {
            if case .integer(_, let count?) = schema { return "\(name)?=\(count)" }
            return isRequired ? name : "\(name)?"
        }
    }
}

extension Schema {
    /// The end of the sentence "must be …" about a parameter.
    var requirement: String {
        switch self {
        case .boolean: "true or false"
        case .date: "a day written as YYYY-MM-DD"
        case .integer(let range, _): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .string: "a string"
        case .text(let range): "a string of \(range.lowerBound) to \(range.upperBound) characters"
        case .word(let words): "one of " + words.joined(separator: ", ")
        case .stringOrStrings: "a string, or a list of at least one string"
        case .timestamp: "a time written as 2026-11-28T08:00:00Z"
        case .list(let element): "a list, each item " + element.requirement
        case .count: "an integer of 0 or more"
        case .nullable(let schema): "null or " + schema.requirement
        case .any: "any value"
        case .object, .dictionary, .reference: "an object"
        }
    }

    /// Whether a parameter's value has this shape.
    ///
    /// An integer has neither fraction nor exponent, as everywhere in the protocol. The members of objects are not
    /// checked. Exhaustive, so that a new schema cannot be refused, or accepted, without a decision.
    func accepts(_ value: JSONValue) -> Bool {
        let kind = value.kind
        return switch self {
        case .any: true
        case .boolean: kind == .true || kind == .false
        case .date: kind == .string && CivilDate(value.text ?? "") != nil
        case .timestamp: kind == .string && Timestamp(value.text ?? "") != nil
        case .integer(let range, _): kind == .integer && range.contains(Int(value.integer ?? 0))
        case .count: kind == .integer && value.integer ?? -1 >= 0
        case .string: kind == .string
        case .text(let range):
            kind == .string && range.contains(value.plainText?.count ?? value.text?.unicodeScalars.count ?? 0)
        case .word(let words): kind == .string && words.contains { value.hasText($0) }
        case .stringOrStrings:
            kind == .string || kind == .array && value.first != nil && value.allSatisfy { $0.kind == .string }
        case .list(let element): kind == .array && value.allSatisfy(element.accepts)
        case .nullable(let schema): kind == .null || schema.accepts(value)
        case .object, .dictionary, .reference: kind == .object
        }
    }
}

/// The schema as JSON Schema, draft 7, which OpenRPC 1.x uses.
extension Schema: JSONEncodable {
    package func encode(to json: inout JSONWriter) { json.value(document) }

    var document: JSON {
        switch self {
        case .boolean: ["type": "boolean"]
        case .any: true
        case .date: ["type": "string", "format": "date"]
        case .integer(let range, let count): .object(integerDocument(range, default: count))
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

    private func integerDocument(_ range: ClosedRange<Int>, default count: Int?) -> JSONObject {
        var document: JSONObject = [
            "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
            "maximum": .integer(Int64(range.upperBound)),
        ]
        document["default"] = count.map { .integer(Int64($0)) }
        return document
    }

    private func objectDocument(_ members: [Member]) -> JSON {
        var properties = JSONObject()
        for member in members { properties[member.name] = member.schema.document }
        let required = members.filter(\.isRequired).map { JSON.string($0.name) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }
}

extension Schema: CustomStringConvertible {
    /// The short form in the documentation: `{items:[Fact],freshness?}`.
    package var description: String {
        switch self {
        case .boolean: "true|false"
        case .any: "any"
        case .date: "\"YYYY-MM-DD\""
        case .integer(let range, _) where range.count == 1: "\(range.lowerBound)"
        case .integer(let range, _): "\(range.lowerBound)…\(range.upperBound)"
        case .count: "integer"
        case .string: "string"
        case .text(let range): "string(\(range.lowerBound)…\(range.upperBound))"
        case .word(let words): words.map { "\"\($0)\"" }.joined(separator: "|")
        case .stringOrStrings: "string|[string]"
        case .timestamp: "time"
        case .list(let element): "[\(element)]"
        case .nullable(let schema): "\(schema)|null"
        case .object(let members): "{" + members.map { "\($0.label):\($0.schema)" }.joined(separator: ",") + "}"
        case .dictionary(let value): "{name:\(value)}"
        case .reference(let name): name
        }
    }
}
