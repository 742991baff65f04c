/// A JSON value as read from or written to a line of the wire protocol.
///
/// Numbers without fraction and exponent are integers, all others doubles: the wire protocol tells them apart (an `id`
/// of `1.0` is refused), so `.integer(1)` and `.double(1)` are different values.
package enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON: Equatable {
    /// Compares strings by their bytes, and objects without regard to the order of their members.
    ///
    /// Written out because `String.==` takes canonically equivalent texts for equal, which JSON does not.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.double, _), (.string, _), (.array, _), (.object, _): false
        }
    }
}
