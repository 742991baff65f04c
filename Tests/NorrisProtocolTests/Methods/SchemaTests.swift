import NorrisProtocol
import Testing

struct SchemaTests {
    @Test("A schema as JSON Schema, and in the short form of the manual", arguments: [
        (Schema.boolean, #"{"type":"boolean"}"#, "true|false"),
        (.date, #"{"type":"string","format":"date"}"#, "\"YYYY-MM-DD\""),
        (.integer(1...100), #"{"type":"integer","minimum":1,"maximum":100}"#, "1…100"),
        (.integer(1...1), #"{"type":"integer","minimum":1,"maximum":1}"#, "1"),
        (.integer(1...9, default: 5), #"{"type":"integer","minimum":1,"maximum":9,"default":5}"#, "1…9"),
        (.count, #"{"type":"integer","minimum":0}"#, "integer"),
        (.string, #"{"type":"string"}"#, "string"),
        (.text(1...64), #"{"type":"string","minLength":1,"maxLength":64}"#, "string of 1…64"),
        (.word(["ok", "degraded"]), #"{"type":"string","enum":["ok","degraded"]}"#, #""ok"|"degraded""#),
        (
            .stringOrStrings,
            #"{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"minItems":1}]}"#,
            "string|[string]"
        ),
        (.timestamp, #"{"type":"string","format":"date-time"}"#, "time"),
        (.list(.count), #"{"type":"array","items":{"type":"integer","minimum":0}}"#, "[integer]"),
        (.nullable(.boolean), #"{"oneOf":[{"type":"boolean"},{"type":"null"}]}"#, "true|false|null"),
        (.reference("Fact"), ##"{"$ref":"#/components/schemas/Fact"}"##, "Fact"),
        (
            .object([
                Schema.Member(name: "fact", schema: .reference("Fact"), isRequired: true),
                Schema.Member(name: "next", schema: .string, isRequired: false),
            ]),
            ##"{"type":"object","properties":{"fact":{"$ref":"#/components/schemas/Fact"},"##
                + #""next":{"type":"string"}},"required":["fact"]}"#,
            "{fact:Fact,next?:string}"
        ),
        (.object([]), #"{"type":"object","properties":{},"required":[]}"#, "{}"),
        (
            .dictionary(.count), #"{"type":"object","additionalProperties":{"type":"integer","minimum":0}}"#,
            "{name:integer}"
        ),
    ])
    func hasItsDocument(_ schema: Schema, _ json: String, _ short: String) {
        checkEncoding(schema, json: json)
        #expect(schema.description == short)
    }
}
