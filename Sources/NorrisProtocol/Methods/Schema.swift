/// The shape of a parameter or a result: it checks what comes in, and describes both to `rpc.discover` and the manual.
package indirect enum Schema: Equatable, Sendable {
    case boolean
    /// A calendar day, `YYYY-MM-DD`.
    case date
    case integer(ClosedRange<Int>)
    /// A number of items or seconds: an integer without an upper bound.
    case count
    case string
    /// A string of so many Unicode code points.
    case text(ClosedRange<Int>)
    /// One of these words.
    case word([String])
    /// A string, or a list of at least one.
    case stringOrStrings
    case timestamp
    case list(Schema)
    /// A value that is null where it is unknown.
    case nullable(Schema)
    case object([Member])
    /// An object of values of one shape, under names that are not known beforehand.
    case dictionary(Schema)
    /// A value described under `components.schemas`.
    case reference(String)

    /// One member of an object.
    package struct Member: Equatable, Sendable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool

        package static func required(_ name: String, _ schema: Schema) -> Member {
            Member(name: name, schema: schema, isRequired: true)
        }

        package static func optional(_ name: String, _ schema: Schema) -> Member {
            Member(name: name, schema: schema, isRequired: false)
        }
    }
}

extension Schema {
    /// What a parameter must be, as the end of the sentence "must be …".
    var requirement: String {
        switch self {
        case .boolean: "true or false"
        case .date: "a day written as YYYY-MM-DD"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .count: "an integer of 0 or more"
        case .string: "a string"
        case .text(let range) where range.lowerBound == 1: "a string of 1 to \(range.upperBound) characters"
        case .text(let range): "a string of at most \(range.upperBound) characters"
        case .word(let words): "one of " + words.joined(separator: ", ")
        case .stringOrStrings: "a string, or a list of at least one string"
        case .timestamp: "a time such as 2026-01-31T12:00:00Z"
        case .list(let element): "a list, each item " + element.requirement
        case .nullable(let schema): schema.requirement + ", or null"
        case .object, .dictionary, .reference: "an object"
        }
    }

    /// Whether a parameter's value has this shape.
    ///
    /// An integer is a literal without fraction and exponent, as everywhere in the protocol. Objects do not occur
    /// among the parameters, so they are only looked at for their kind.
    ///
    /// - Parameter parser: of the bytes that the token is of.
    func accepts(_ value: JSONToken, _ parser: JSONParser) -> Bool {
        switch (self, value.kind) {
        case (.boolean, .true), (.boolean, .false), (.string, .string), (.stringOrStrings, .string): true
        case (.date, .string): CivilDate(parser.text(of: value)) != nil
        case (.integer(let range), .integer): range.contains(Int(parser.integer(of: value)))
        case (.count, .integer): parser.integer(of: value) >= 0
        case (.text(let range), .string) where value.isPlain: range.contains(value.content.count)
        case (.text(let range), .string): range.contains(parser.text(of: value).unicodeScalars.count)
        case (.word(let words), .string): words.contains { parser.isText($0, value) }
        case (.stringOrStrings, .array):
            parser.allElements(of: value, satisfy: { $0.kind == .string }, areSome: true)
        case (.timestamp, .string): Timestamp(parser.text(of: value)) != nil
        case (.list(let element), .array):
            parser.allElements(of: value, satisfy: { element.accepts($0, parser) })
        case (.nullable, .null): true
        case (.nullable(let schema), _): schema.accepts(value, parser)
        case (.object, .object), (.dictionary, .object), (.reference, .object): true
        default: false
        }
    }
}
