import CSystemd
import Glibc
import NorrisSystem

/// Reports the state of the daemon to the service manager, like sd_notify(3).
///
/// Without `NOTIFY_SOCKET` in the environment, every call does nothing and returns `false`. Each call sends one short
/// datagram. The variable is read each time and never removed.
///
/// sd_notify(3) waits without limit if the manager does not read, and many kernels queue only ten datagrams
/// (`net.unix.max_dgram_qlen`). Here such a manager costs each call ``timeout``, and the datagram is lost.
package struct Notifier: Sendable {
    /// The longest status text, in bytes of UTF-8; longer texts are truncated.
    ///
    /// systemd discards messages above 4,096 bytes, and the `READY=1` in the same message would be lost.
    package static let maximumStatusLength = 1024

    /// The longest wait for space in the manager's queue, in microseconds.
    private static let timeout = 100_000

    package init() {}

    /// Reports that the daemon serves: `READY=1`. Also ends a reload, successful or not.
    ///
    /// - Parameter status: the text for ``status(_:)``; nil keeps the current text.
    /// - Returns: whether the message was sent, here and below.
    @discardableResult
    package func ready(status: String? = nil) -> Bool { send(["READY=1", status.map(Self.statusAssignment)]) }

    /// Sets the one line that `systemctl status` shows: `STATUS=`. Control characters become spaces.
    @discardableResult package func status(_ text: String) -> Bool { send([Self.statusAssignment(text)]) }

    /// Reports that the configuration is being read again: `RELOADING=1`. ``ready(status:)`` must always follow.
    ///
    /// Contains the time of CLOCK_MONOTONIC in microseconds, without which newer versions of systemd never end the
    /// reload.
    @discardableResult package func reloading() -> Bool {
        send(["RELOADING=1", "MONOTONIC_USEC=\(monotonicNanoseconds() / 1000)"])
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
            // A newline would begin another assignment, and a NUL would end the message.
            let isControl = scalar.properties.generalCategory == .control
            assignment.unicodeScalars.append(isControl ? " " : scalar)
        }
        return assignment
    }

    private func send(_ assignments: [String?]) -> Bool {
        guard let name = getenv("NOTIFY_SOCKET") else { return false }
        // A path, or `@` and an abstract name (unix(7)).
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
    /// The interval of ``Notifier/watchdog()``: half of `WATCHDOG_USEC`, so that one late message is tolerated.
    ///
    /// - Returns: nil if no watchdog is set, if it is for another process (`WATCHDOG_PID`), or if the variables are
    ///   invalid.
    package static func interval() -> Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(microseconds / 2)
    }
}

/// The systemd journal's native protocol, with fields beside the message: sd_journal_sendv(3).
package enum Journal {
    /// Whether standard error is the journal, so that ``send(_:)`` reaches the same destination with fields.
    package static var isConnected: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        return isStream(String(cString: stream), descriptor: STDERR_FILENO)
    }

    /// Whether a value of `JOURNAL_STREAM`, device and inode separated by a colon, is the file of a descriptor.
    /// systemd.exec(5) requires the comparison, because children whose standard error was redirected also inherit the
    /// variable.
    package static func isStream(_ stream: String, descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry. Values may contain any bytes, including newlines; journald adds the time and the sender.
    ///
    /// - Parameter fields: at least one. A name is one to 64 of `A-Z`, `0-9` and `_`, beginning with a letter, because
    ///   journald silently drops fields with other names.
    package static func send(_ fields: [(name: String, value: String)]) {
        var (bytes, ranges) = encode(fields)
        bytes.withUnsafeMutableBytes { buffer in
            let vectors = ranges.map { range in
                let field = UnsafeMutableRawBufferPointer(rebasing: buffer[range])
                return iovec(iov_base: field.baseAddress, iov_len: field.count)
            }
            // A line that the journal refuses is lost.
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
