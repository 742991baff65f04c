import NorrisProtocol
import NorrisTestSupport

@testable import NorrisServer

/// Returns a short form of a reply line: `1 {"a":2}` for a result, `null -32600 invalid_request` for an error, `[…, …]`
/// for a batch, and an empty string for an empty line.
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

/// Returns a request line without LF.
func request(_ id: some CustomStringConvertible, _ method: String, _ params: String? = nil) -> String {
    let params = params.map { #","params":"# + $0 } ?? ""
    return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"\#(params)}"#
}

func notification(_ method: String, _ params: String? = nil) -> String {
    let params = params.map { #","params":"# + $0 } ?? ""
    return #"{"jsonrpc":"2.0","method":"\#(method)"\#(params)}"#
}

func batch(_ entries: [String]) -> String { "[" + entries.joined(separator: ",") + "]" }

extension Peer { static let nobody = Peer(uid: 65_534, gid: 65_534, groups: []) }

extension Caller {
    /// A caller without a connection.
    static var nobody: Caller {
        Caller(
            peer: .nobody, subscription: Subscription(hub: EventHub(), uid: 65_534) {}, isAdministrator: { _ in true })
    }
}

extension Turn {
    /// A turn without a time limit, which ends only at the maximum number of lines.
    static var endless: Turn { Turn(start: 0, now: { 0 }) }
}

extension DeferredRequest {
    func result() async -> Result<[UInt8], ResponseError> {
        do throws(ResponseError) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}

extension MethodRegistry {
    struct NotOneLine: Error { let bytes: [UInt8] }

    /// Returns the reply line without LF, or an empty string if the line has no reply.
    func reply(to line: String) async throws -> String { try await reply(to: Array(line.utf8)) }

    func reply(to line: [UInt8]) async throws -> String {
        var json = JSONWriter()
        let (exchange, caller) = (Exchange(registry: self), Caller.nobody)
        var turn = Turn.endless
        var rest = exchange.answer(line[...], of: caller, &turn, into: &json)
        while let line = rest {
            guard json.count == 0 else { throw NotOneLine(bytes: json.bytes) }
            if let waiting = line.waiting {
                rest = exchange.finish(line, await waiting.result(), into: &json)
            } else {
                turn.finish()
                turn = .endless
                rest = exchange.proceed(line, of: caller, &turn, into: &json)
            }
        }
        turn.finish()
        var bytes = json.bytes
        guard !bytes.isEmpty else { return "" }
        let end = bytes.removeLast()
        guard end == UInt8(ascii: "\n"), !bytes.contains(UInt8(ascii: "\n")) else { throw NotOneLine(bytes: bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
