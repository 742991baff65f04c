import Foundation
import Glibc
import NorrisTestSupport

/// A server on a real Unix socket, with a separate thread. The first connection gets the first script, the second the
/// second script, and so on. Further connections stay in the backlog.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (Peer) -> Void

    let path: String
    private let directory: TemporaryFolder
    private let listener: Int32
    private let finished = DispatchSemaphore(value: 0)

    init(_ scripts: [Script], backlog: Int32 = 16) throws {
        directory = TemporaryFolder()
        path = directory("server.sock")
        listener = try listeningSocket(at: path, backlog: backlog)
        Thread.detachNewThread { [listener, finished] in
            for script in scripts {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                script(Peer(descriptor: descriptor))
                close(descriptor)
            }
            finished.signal()
        }
    }

    func waitUntilDone() {
        finished.wait()
        finished.signal()
    }

    deinit {
        // Wakes the thread if it waits for a connection.
        shutdown(listener, Int32(SHUT_RDWR))
        finished.wait()
        close(listener)
    }
}

/// The server's end of a connection, with blocking calls.
struct Peer: Sendable {
    let descriptor: Int32

    /// Returns the next line without LF, or the remaining bytes at the end of input.
    @discardableResult func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func waitForTheEnd() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}

/// Creates a bound and listening socket. The caller owns the descriptor.
func listeningSocket(at path: String, backlog: Int32, type: __socket_type = SOCK_STREAM) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let isBound = withUnixAddress(path) { bind(descriptor, $0, $1) == 0 }
    guard descriptor >= 0, isBound, type != SOCK_STREAM || listen(descriptor, backlog) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    return descriptor
}
