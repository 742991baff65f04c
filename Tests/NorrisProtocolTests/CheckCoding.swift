import NorrisProtocol
import NorrisTestSupport
import Testing

/// A text on the wire that is decoded, also with an unknown member in each object as from a newer peer, and encoded as
/// the same text.
struct WireCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let check: @Sendable () throws -> Void

    init<Value: JSONEncodable & JSONDecodable & SendableMetatype>(_ type: Value.Type, _ json: String) {
        testDescription = json
        check = { try checkCoding(type, json: json) }
    }

    /// - Parameters:
    ///   - parameters: the parameters as a client sends them.
    ///   - read: the parameters as the daemon reads them, with defaults; as they are sent if nil.
    init<M: Method>(_ method: M.Type, _ parameters: String = "{}", reads read: String? = nil, result: String? = nil) {
        testDescription = "\(M.name) \(parameters)"
        check = {
            let decoded = try NorrisProtocolTests.read(parameters, of: method)
            #expect(decoded.jsonText == read ?? parameters)
            if let result { try checkCoding(M.Result.self, json: result) }
        }
    }
}

private func checkCoding<Value: JSONEncodable & JSONDecodable>(_ type: Value.Type, json: String) throws {
    let parsed = try JSON.parse(json)
    // Compared by bytes. Renditions keep unknown names.
    for value in json.contains("renditions") ? [parsed] : [parsed, parsed.withUnknownMembers] {
        let written = try Value(json: value).jsonText
        #expect(written.utf8.elementsEqual(json.utf8), "\(written)")
    }
}

func checkEncoding(_ value: some JSONEncodable, json: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let written = value.jsonText
    #expect(written.utf8.elementsEqual(json.utf8), "\(written)", sourceLocation: sourceLocation)
}

/// Returns the parameters as the daemon decodes them, with defaults.
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
