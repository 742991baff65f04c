import NorrisProtocol
import NorrisTestSupport
import Testing

/// Expects that a value is encoded as exactly this text, and that the text is decoded as the value.
///
/// - Parameter ignoresUnknown: true to also decode the text with an unknown member in each object, as from a newer
///   peer; false for types that keep unknown members.
func checkCoding<Value: JSONEncodable & JSONDecodable & Equatable>(
    _ value: Value, json: String, ignoresUnknown: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    checkEncoding(value, json: json, sourceLocation: sourceLocation)
    checkDecoding(value, json: json, ignoresUnknown: ignoresUnknown, sourceLocation: sourceLocation)
}

func checkEncoding(_ value: some JSONEncodable, json: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let written = value.jsonText
    #expect(written.utf8.elementsEqual(json.utf8), "\(written)", sourceLocation: sourceLocation)
}

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

/// Expects that parameters are encoded as this text. Returns the parameters as the daemon decodes them, with defaults.
@discardableResult func check<M: Method>(
    _ parameters: M.Parameters, of method: M.Type, json: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> M.Parameters {
    checkEncoding(parameters, json: json, sourceLocation: sourceLocation)
    return try read(json, of: method)
}

func read<M: Method>(_ json: String, of method: M.Type) throws -> M.Parameters {
    try M.Parameters(MethodDescription(method).arguments(from: JSON.parse(json)))
}

extension JSON {
    /// The value with an unknown member in each of its objects.
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
    /// Checks parameters in the form of a request line.
    func arguments(from params: JSON?) throws(ResponseError) -> Arguments {
        let line = Array("{\"params\":\((params ?? .object(JSONObject())).jsonText)}".utf8)[...]
        // SAFETY: The encoder wrote valid JSON.
        let envelope = try! line.withRawBytes { bytes throws(JSONError) in try RequestEnvelope(entry: bytes) }
        return try arguments(in: line, params: params == nil ? nil : envelope.params)
    }
}
