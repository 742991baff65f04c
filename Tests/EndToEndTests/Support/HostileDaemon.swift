import Foundation
import NorrisProtocol
import NorrisTestSupport

/// A hostile server on norrisd's socket. Every string member of its replies contains a hostile text.
final class HostileDaemon: Sendable {
    enum Manner: Sendable {
        case results, errors
        /// Lines that are not replies.
        case noise
        /// The same result for every call.
        case fixed(String)
    }

    let folder = TemporaryFolder()
    var socket: String { folder("sock") }
    private let listener: Int32
    private let finished = DispatchSemaphore(value: 0)

    init(_ manner: Manner) throws {
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isListening = withUnixAddress(folder("sock")) { bind(listener, $0, $1) == 0 && listen(listener, 64) == 0 }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [listener, finished] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    serve(descriptor, manner)
                    close(descriptor)
                }
            }
            finished.signal()
        }
    }

    deinit {
        // Wakes the thread that waits for a connection.
        shutdown(listener, Int32(SHUT_RDWR))
        finished.wait()
        close(listener)
    }
}

/// Answers each line that the client sends until the client disconnects.
private func serve(_ descriptor: Int32, _ manner: HostileDaemon.Manner) {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(received[..<end])
            received.removeSubrange(...end)
            let reply = answer(line, manner)
            _ = reply.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // Closes the connection after the events, so that a client that waits for events ends. If client bytes were
            // unread, the kernel would reset the connection and the events could be lost.
            if received.isEmpty, reply.count(where: { $0 == UInt8(ascii: "\n") }) > 1 { return }
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        received += buffer[..<count]
    }
}

private func answer(_ line: [UInt8], _ manner: HostileDaemon.Manner) -> [UInt8] {
    guard case .object(let request)? = try? JSON.parse(line), case .string(let method)? = request["method"] else {
        return []
    }
    let id = request["id"]?.jsonText ?? "null"
    switch manner {
    case .fixed(let result): return Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}\n".utf8)
    case .noise: return Hostile.bytes.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")]
    case .errors:
        return Array(
            """
            {"jsonrpc":"2.0","id":\(id),"error":{"code":-32002,"message":\(Hostile.json),"data":{\
            "reason":\(Hostile.json),"hint":\(Hostile.json),"source":\(Hostile.json),"parameter":\(Hostile.json),\
            "last_error":\(HostileResults.failure.jsonText),\(Hostile.json):\(Hostile.json)}}}

            """.utf8)
    case .results:
        let isFirstPage = if case .object(let params)? = request["params"] { params["cursor"] == nil } else { true }
        let result = HostileResults.result(of: method, next: isFirstPage ? Hostile.text : nil)
        let reply = Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}\n".utf8)
        // A client that waits for a run subscribes and then requests the run. `watch` only subscribes.
        let isFollowed = method == EventSubscribe.name || method == SourceRefresh.name
        return isFollowed ? reply + HostileResults.events : reply
    }
}
