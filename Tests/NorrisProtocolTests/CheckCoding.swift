import NorrisProtocol
import Testing

/// Pins a type to its form on the wire, both ways: the value is written as exactly this text, and the text is read as
/// the same value.
///
/// - Parameter ignoresUnknown: also reads the text with a member more in every object, as a newer peer may send it.
///   False for types that keep what they do not know.
func checkCoding<Value: JSONEncodable & JSONDecodable & Equatable>(
    _ value: Value, json: String, ignoresUnknown: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    checkEncoding(value, json: json, sourceLocation: sourceLocation)
    checkDecoding(value, json: json, ignoresUnknown: ignoresUnknown, sourceLocation: sourceLocation)
}

/// Pins what is written to exact text.
func checkEncoding(_ value: some JSONEncodable, json: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let written = value.jsonText
    #expect(written.utf8.elementsEqual(json.utf8), "\(written)", sourceLocation: sourceLocation)
}

/// Pins what a text is read as.
func checkDecoding<Value: JSONDecodable & Equatable>(
    _ value: Value, json: String, ignoresUnknown: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    do {
        let parsed = try JSON.parse(json)
        #expect(try Value(json: parsed) == value, sourceLocation: sourceLocation)
        if ignoresUnknown {
            #expect(try Value(json: parsed.withUnknownMembers) == value, sourceLocation: sourceLocation)
        }
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// Pins the text of parameters, and that the daemon reads from it what the client has written.
///
/// - Returns: what the daemon reads, with defaults in place of what is absent.
@discardableResult func check<M: Method>(
    _ parameters: M.Parameters, of method: M.Type, json: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> M.Parameters {
    checkEncoding(parameters, json: json, sourceLocation: sourceLocation)
    return try read(json, of: method)
}

/// The parameters of a method as the daemon reads them.
func read<M: Method>(_ json: String, of method: M.Type) throws -> M.Parameters {
    try M.Parameters(MethodDescription(method).arguments(from: JSON.parse(json)))
}

extension JSON {
    /// The value with a member more in each of its objects.
    fileprivate var withUnknownMembers: JSON {
        switch self {
        case .object(let object):
            var more: JSONObject = ["x_newer": ["deep": [1, nil]]]
            for (key, value) in object.members { more[key] = value.withUnknownMembers }
            return .object(more)
        case .array(let elements): return .array(elements.map(\.withUnknownMembers))
        case .null, .bool, .integer, .double, .string: return self
        }
    }
}

extension MethodDescription {
    /// Checks parameters as those of a request line.
    func arguments(from params: JSON?) throws(ResponseError) -> Arguments {
        let line = Array("{\"params\":\((params ?? .object(JSONObject())).jsonText)}".utf8)[...]
        // Written by the encoder, so it can be read.
        let envelope = try! line.withRawBytes { bytes throws(JSONError) in try RequestEnvelope(entry: bytes) }
        return try arguments(in: line, params: params == nil ? nil : envelope.params)
    }
}
