import NorrisProtocol

/// What a reply line says, short enough to compare: `1 {"a":2}` for a result, `null -32600 invalid_request` for an
/// error, `[…, …]` for a batch, and nothing for no line.
func outline(_ line: String) throws -> String {
    guard !line.isEmpty else { return "" }
    let message = try JSON.parse(Array(line.utf8))
    guard case .array(let entries) = message else { return try outline(message) }
    return "[" + (try entries.map(outline).joined(separator: ", ")) + "]"
}

private func outline(_ message: JSON) throws -> String {
    let response = try Response(json: message)
    let id = String(decoding: response.id.jsonBytes, as: UTF8.self)
    switch response.outcome {
    case .success(let result): return id + " " + String(decoding: result.jsonBytes, as: UTF8.self)
    case .failure(let error): return "\(id) \(error.code.rawValue) \(error.reason)"
    }
}

/// A request line without its end.
func request(_ id: some CustomStringConvertible, _ method: String, _ params: String? = nil) -> String {
    let params = params.map { #","params":"# + $0 } ?? ""
    return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"\#(params)}"#
}

func notification(_ method: String, _ params: String? = nil) -> String {
    let params = params.map { #","params":"# + $0 } ?? ""
    return #"{"jsonrpc":"2.0","method":"\#(method)"\#(params)}"#
}
