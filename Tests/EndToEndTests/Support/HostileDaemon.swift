import Foundation
import NorrisProtocol
import NorrisTestSupport

/// A server on norrisd's socket with the same result for every call.
final class HostileDaemon: Sendable {
    private let folder = TemporaryFolder()
    var socket: String { folder("sock") }
    private let listener: Int32
    private let finished = DispatchSemaphore(value: 0)

    init(result: String) throws {
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isListening = withUnixAddress(folder("sock")) { bind(listener, $0, $1) == 0 && listen(listener, 64) == 0 }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [listener, finished] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    serve(descriptor, result)
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
private func serve(_ descriptor: Int32, _ result: String) {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
        received += buffer[..<count]
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            guard case .object(let request)? = try? JSON.parse(received[..<end]) else { return }
            received.removeSubrange(...end)
            let id = request["id"]?.jsonText ?? "null"
            let reply = Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}\n".utf8)
            _ = reply.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }
}
