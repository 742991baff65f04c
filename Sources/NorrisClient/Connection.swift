import Glibc
import NorrisProtocol
package import NorrisSystem

/// Called during waits, to inform the user. Returns the time until the next call; calls may be earlier.
package typealias Ticker = () -> Duration

/// A connection to the daemon for lines in both directions, with one deadline.
///
/// Blocks the calling thread only in poll(2). A disconnected peer never causes SIGPIPE, and child processes do not
/// inherit the descriptor.
package final class Connection {
    package let path: String
    let descriptor: Int32
    /// The deadline of all further calls.
    package var deadline: Deadline
    private let ticker: Ticker?
    /// The descriptor to which the caller writes what it receives; -1 for none. A wait ends with `.closed` if its
    /// reader has disconnected.
    var output: CInt = -1
    private(set) var hasLostReader = false
    /// The splitter has no limit, because it would report a long line only after its last byte.
    private var splitter = LineSplitter(maximumLength: .max)
    /// The longest accepted line, in bytes without LF. The daemon has at most 4 MiB of results for one connection; the
    /// rest is for their envelope.
    static let maximumReply = 5 << 20

    /// Uses the descriptor of a non-blocking socket, and closes it.
    init(descriptor: Int32, path: String, deadline: Deadline, ticker: Ticker? = nil) {
        self.descriptor = descriptor
        self.path = path
        self.deadline = deadline
        self.ticker = ticker
    }

    deinit { close(descriptor) }

    /// Sends one line, with an LF if it has none.
    ///
    /// Sends nothing after the deadline, because the caller would report a request that was performed as failed. A peer
    /// that has stopped reading is no error here, because its reason may be waiting to be received.
    package func send(line bytes: [UInt8]) throws(ClientError) {
        guard !deadline.hasPassed else { throw .timedOut(path: path) }
        var line = bytes
        if line.last != UInt8(ascii: "\n") { line.append(UInt8(ascii: "\n")) }
        var sent = 0
        while sent < line.count {
            let (count, error) = line.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                return (count, errno)
            }
            if count >= 0 {
                sent += count
                continue
            }
            switch error {
            case EINTR: continue
            case EAGAIN: try wait(for: POLLOUT)
            case EPIPE, ECONNRESET: return
            default: throw .system(path: path, errno: error)
            }
        }
    }

    /// Returns the next line that is not blank, without LF.
    ///
    /// Throws `.closed` if the connection ends before a line begins, and `.malformedReply` as soon as a line is too
    /// long.
    package func receiveLine() throws(ClientError) -> [UInt8] {
        while true {
            switch splitter.next() {
            case .line(let slice) where slice.count <= Self.maximumReply: return Array(slice)
            // One byte more may be the CR before the LF.
            case nil where splitter.bufferedBytes <= Self.maximumReply + 1: try receiveMore()
            default: throw .malformedReply(path: path, detail: "a line of more than \(Self.maximumReply >> 20) MiB")
            }
        }
    }

    private func receiveMore() throws(ClientError) {
        try wait(for: POLLIN)
        let (count, error) = withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            let error = errno
            if count > 0 { splitter.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return (count, error)
        }
        guard count <= 0, count == 0 || (error != EINTR && error != EAGAIN) else { return }
        guard count == 0 || error == ECONNRESET else { throw .system(path: path, errno: error) }
        guard splitter.finish() == nil else {
            throw .malformedReply(path: path, detail: "the connection ended inside a line")
        }
        throw .closed(path: path)
    }

    private func wait(for event: Int32) throws(ClientError) {
        while !deadline.hasPassed {
            // A pipe without a reader reports POLLERR, which needs no request (poll(2)).
            var entries = (
                pollfd(fd: descriptor, events: Int16(event), revents: 0), pollfd(fd: output, events: 0, revents: 0)
            )
            let pause = ticker.map { min($0().pollTimeout, deadline.pollTimeout) } ?? deadline.pollTimeout
            withUnsafeMutablePointer(to: &entries) { entries in
                _ = entries.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, pause) }
            }
            if entries.0.revents != 0 { return }
            hasLostReader = entries.1.revents != 0
            if hasLostReader { throw .closed(path: path) }
            // Otherwise a tick is due, the call was interrupted, memory was short, or the deadline has passed.
        }
        throw .timedOut(path: path)
    }
}

extension Connection {
    /// Connects to the first candidate that accepts.
    ///
    /// Waits for a busy daemon until the deadline. If no candidate accepts, throws the most informative error.
    package static func open(
        candidates: [String], deadline: Deadline, ticker: Ticker? = nil
    ) throws(ClientError) -> Connection {
        var failures: [ClientError] = []
        for path in candidates {
            do {
                return try open(path: path, deadline: deadline, ticker: ticker)
            } catch .timedOut {
                throw .timedOut(path: path)
            } catch {
                failures.append(error)
            }
        }
        throw .mostTelling(of: failures)
    }

    private static func open(path: String, deadline: Deadline, ticker: Ticker?) throws(ClientError) -> Connection {
        guard let address = SocketAddress(path: path) else { throw .pathTooLong(path: path) }
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0)
        guard descriptor >= 0 else { throw .system(path: path, errno: errno) }
        let connection = Connection(descriptor: descriptor, path: path, deadline: deadline, ticker: ticker)
        while true {
            switch address.withPointer({ connect(descriptor, $0, $1) == 0 ? 0 : errno }) {
            case 0, EISCONN: return connection
            case EINTR: continue
            case EAGAIN:
                // The backlog is full. Unix sockets have no event for that (connect(2)), so this retries every two
                // milliseconds.
                guard !deadline.hasPassed else { throw .timedOut(path: path) }
                _ = ticker?()
                poll(nil, 0, min(2, deadline.pollTimeout))
            case let error: throw .connecting(to: path, errno: error, isSocket: isSocket(path))
            }
        }
    }

    /// The id of the process that listens on a socket (SO_PEERCRED, unix(7)); for a socket of the service manager, the
    /// manager's id. nil if no process accepts at once, or for a process in another namespace.
    package static func listener(at path: String) -> Int? {
        guard let connection = try? open(path: path, deadline: Deadline(after: .zero), ticker: nil) else { return nil }
        // `struct ucred`, which the C library declares for GNU sources only: process, user and group.
        var credentials: [Int32] = [0, 0, 0]
        var length = socklen_t(12)
        guard getsockopt(connection.descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials[0] > 0 ? Int(credentials[0]) : nil
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
