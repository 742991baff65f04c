/// The `id` of a JSON-RPC 2.0 request, returned to the sender as it came.
///
/// The specification also lets a client send a fractional number and advises against it; this protocol refuses one,
/// because it could not be returned as it was sent.
package enum RequestID: Sendable, Equatable, JSONEncodable {
    case null
    case integer(Int64)
    case string(String)

    /// The id a value stands for, or nil where the value is none.
    package init?(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .integer(let integer): self = .integer(integer)
        case .string(let string): self = .string(string)
        case .bool, .double, .array, .object: return nil
        }
    }

    package func encode(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .integer(let integer): json.integer(integer)
        case .string(let string): json.string(string)
        }
    }
}
