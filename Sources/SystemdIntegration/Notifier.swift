import CSystemd
import Glibc

/// Reports the state of the daemon to the service manager, as sd_notify(3) does.
///
/// Without `NOTIFY_SOCKET` in the environment, so outside systemd, every call does nothing and returns `false`.
/// Each call is one short datagram. The variable is read from the process environment each time and never removed.
///
/// sd_notify(3) itself waits for ever where the manager does not read, and ten datagrams are all that many kernels
/// queue for it (`net.unix.max_dgram_qlen`). Here such a manager costs each call ``timeout``, and the datagram.
package struct Notifier: Sendable {
    /// The longest status text, in bytes of UTF-8; the rest is cut off.
    ///
    /// systemd discards a whole message above 4,096 bytes, and with the text the `READY=1` beside it would be lost.
    package static let maximumStatusLength = 1024

    /// How long a datagram waits for room in the manager's queue, in microseconds.
    private static let timeout = 100_000

    package init() {}

    /// Reports that the daemon serves: `READY=1`. Also ends a reload, whether or not it succeeded.
    ///
    /// - Parameter status: text as for ``status(_:)``; without it the text shown so far stays.
    /// - Returns: whether the message was sent, here and below.
    @discardableResult
    package func ready(status: String? = nil) -> Bool { send(["READY=1", status.map(Self.statusAssignment)]) }

    /// Sets the one line that `systemctl status` shows: `STATUS=`. Control characters become spaces.
    @discardableResult package func status(_ text: String) -> Bool { send([Self.statusAssignment(text)]) }

    /// Reports that the configuration is being read again: `RELOADING=1`. ``ready(status:)`` must follow in any case.
    ///
    /// Carries the time of CLOCK_MONOTONIC in microseconds, without which newer versions of systemd never consider
    /// the reload finished.
    @discardableResult package func reloading() -> Bool {
        var now = timespec()
        // Fails for unknown clocks and bad pointers only.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return send(["RELOADING=1", "MONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)"])
    }

    /// Reports that the daemon is stopping: `STOPPING=1`.
    @discardableResult
    package func stopping(status: String? = nil) -> Bool { send(["STOPPING=1", status.map(Self.statusAssignment)]) }

    /// Reports that the daemon is alive: `WATCHDOG=1`, to be sent once per ``Watchdog/interval()``.
    @discardableResult package func watchdog() -> Bool { send(["WATCHDOG=1"]) }

    /// Requests more time to start or to stop, counted from now: `EXTEND_TIMEOUT_USEC=`.
    @discardableResult package func extendTimeout(by duration: Duration) -> Bool {
        let (seconds, attoseconds) = duration.components
        return send(["EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)"])
    }

    private static func statusAssignment(_ text: String) -> String {
        var assignment = "STATUS="
        var left = maximumStatusLength
        for scalar in text.unicodeScalars {
            left -= scalar.utf8.count
            guard left >= 0 else { break }
            // A line end would begin another assignment, a null byte would end the message.
            let isControl = scalar.properties.generalCategory == .control
            assignment.unicodeScalars.append(isControl ? " " : scalar)
        }
        return assignment
    }

    private func send(_ assignments: [String?]) -> Bool {
        guard let name = getenv("NOTIFY_SOCKET") else { return false }
        // A path, or `@` and the rest of an abstract name (unix(7)).
        var path = Array(String(cString: name).utf8)
        if path.first == UInt8(ascii: "@") { path[0] = 0 } else { path.append(0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count <= MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)

        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 0, tv_usec: Self.timeout)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let message = Array(assignments.compactMap(\.self).joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == message.count
    }
}

/// The service manager's watchdog: sd_watchdog_enabled(3).
package enum Watchdog {
    /// How often ``Notifier/watchdog()`` is due: half of `WATCHDOG_USEC`, so that one late message is forgiven.
    ///
    /// - Returns: nil when no watchdog is set, when it is meant for another process (`WATCHDOG_PID`), or when the
    ///   variables cannot be understood.
    package static func interval() -> Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(microseconds / 2)
    }
}

/// The systemd journal's native protocol, with fields beside the message: sd_journal_sendv(3).
package enum Journal {
    /// Whether standard error goes to the journal, so that ``send(_:)`` is the better way to the same destination.
    package static var isConnected: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        return isStream(String(cString: stream), descriptor: STDERR_FILENO)
    }

    /// Whether a value of `JOURNAL_STREAM`, device and inode with a colon between, names the file behind a descriptor,
    /// as systemd.exec(5) asks to compare: the variable alone also reaches children whose standard error was
    /// redirected.
    package static func isStream(_ stream: String, descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry. Values may hold anything, line ends included; journald adds the time and the sender.
    ///
    /// - Parameter fields: at least one. A name is one to 64 of `A-Z`, `0-9` and `_`, beginning with a letter: journald
    ///   drops fields with other names without a word.
    package static func send(_ fields: [(name: String, value: String)]) {
        var (bytes, ranges) = encode(fields)
        bytes.withUnsafeMutableBytes { buffer in
            let vectors = ranges.map { range in
                let field = UnsafeMutableRawBufferPointer(rebasing: buffer[range])
                return iovec(iov_base: field.baseAddress, iov_len: field.count)
            }
            // A journal that refuses a line is no reason to stop.
            _ = sd_journal_sendv(vectors, CInt(vectors.count))
        }
    }

    /// The fields as `NAME=value`, all in one buffer, with the range of each in it.
    package static func encode(_ fields: [(name: String, value: String)]) -> (bytes: [UInt8], ranges: [Range<Int>]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for (name, value) in fields {
            let start = bytes.count
            bytes += "\(name)=\(value)".utf8
            ranges.append(start..<bytes.count)
        }
        return (bytes, ranges)
    }
}
