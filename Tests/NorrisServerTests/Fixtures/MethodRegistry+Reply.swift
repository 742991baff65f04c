import NorrisProtocol

@testable import NorrisServer

extension Peer {
    static let nobody = Peer(uid: 65_534, gid: 65_534, groups: [])
}

extension Subscription {
    /// Of no connection: nothing comes of it.
    static var nobodys: Subscription { Subscription(hub: EventHub()) }
}

extension Turn {
    /// Ends only after as many lines as a turn has.
    static var endless: Turn { Turn(start: 0, written: 0, now: { 0 }) }
}

extension UnfinishedLine.Waiting {
    func result() async -> Result<[UInt8], ResponseError> {
        do throws(ResponseError) {
            return .success(try await deferred.work())
        } catch {
            return .failure(error)
        }
    }
}

extension MethodRegistry {
    struct NotOneLine: Error {
        let bytes: [UInt8]
    }

    /// The reply line without its end; empty where there is none.
    func reply(to line: String) async throws -> String {
        try await reply(to: Array(line.utf8))
    }

    func reply(to line: [UInt8]) async throws -> String {
        var json = JSONWriter()
        let exchange = Exchange(registry: self)
        let caller = Caller(peer: .nobody, subscription: .nobodys, isAdministrator: { _ in true })
        var turn = Turn.endless
        var rest = exchange.answer(line[...], of: caller, &turn, into: &json)
        while let line = rest {
            guard json.count == 0 else { throw NotOneLine(bytes: json.bytes) }
            if let waiting = line.waiting {
                rest = exchange.finish(line, await waiting.result(), into: &json)
            } else {
                turn.finish(0)
                turn = .endless
                rest = exchange.resume(line, of: caller, &turn, into: &json)
            }
        }
        turn.finish(0)
        var bytes = json.bytes
        guard !bytes.isEmpty else { return "" }
        let end = bytes.removeLast()
        guard end == UInt8(ascii: "\n"), !bytes.contains(UInt8(ascii: "\n")) else { throw NotOneLine(bytes: bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
