import NorrisProtocol

@testable import NorrisServer

extension Peer {
    static let nobody = Peer(uid: 65_534, gid: 65_534, groups: [])
}

extension Subscription {
    /// Of no connection: nothing comes of it.
    static var nobodys: Subscription { Subscription(hub: EventHub()) }
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
        var bytes: [UInt8]
        let exchange = Exchange(registry: self, peer: .nobody, subscription: .nobodys)
        if let rest = exchange.answer(line[...], into: &json) {
            guard json.count == 0 else { throw NotOneLine(bytes: json.bytes) }
            bytes = await rest()
        } else {
            bytes = json.bytes
        }
        guard !bytes.isEmpty else { return "" }
        let end = bytes.removeLast()
        guard end == UInt8(ascii: "\n"), !bytes.contains(UInt8(ascii: "\n")) else { throw NotOneLine(bytes: bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
