import CSystemd
import Glibc

/// Tells the service manager how the daemon is doing: sd_notify(3).
///
/// Without `NOTIFY_SOCKET` in the environment, so outside systemd, every call does nothing and returns `false`.
/// Each call is one short datagram. The variable is read from the process environment each time and never removed.
/// A manager that does not read costs each call ``NotifyAddress/patience``, and the datagram.
package struct Notifier: Sendable {
    /// The longest status text, in bytes of UTF-8; the rest is cut off.
    ///
    /// systemd throws away a whole message above 4,096 bytes, and with the text the `READY=1` beside it would be lost.
    package static let maximumStatusLength = 1024

    package init() {}

    /// Says that the daemon serves: `READY=1`. Also ends a reload, whether or not it succeeded.
    ///
    /// - Parameter status: text as for ``status(_:)``; without it the text shown so far stays.
    /// - Returns: whether the message was sent.
    @discardableResult
    package func ready(status: String? = nil) -> Bool {
        send("READY=1", status: status)
    }

    /// Sets the one line that `systemctl status` shows: `STATUS=`.
    ///
    /// Line ends and other control characters become spaces.
    /// - Returns: whether the message was sent.
    @discardableResult
    package func status(_ text: String) -> Bool {
        send(Self.statusAssignment(text))
    }

    /// Says that the configuration is being read again: `RELOADING=1`. ``ready(status:)`` must follow in any case.
    ///
    /// Carries the time of CLOCK_MONOTONIC in microseconds, without which newer versions of systemd never consider
    /// the reload finished.
    /// - Returns: whether the message was sent.
    @discardableResult
    package func reloading() -> Bool {
        send("RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())")
    }

    /// Says that the daemon is on its way out: `STOPPING=1`.
    ///
    /// - Parameter status: text as for ``status(_:)``.
    /// - Returns: whether the message was sent.
    @discardableResult
    package func stopping(status: String? = nil) -> Bool {
        send("STOPPING=1", status: status)
    }

    /// Says that the daemon is alive: `WATCHDOG=1`, to be sent once per ``Watchdog/interval()``.
    ///
    /// - Returns: whether the message was sent.
    @discardableResult
    package func watchdog() -> Bool {
        send("WATCHDOG=1")
    }

    /// Asks for more time to start or to stop, counted from now: `EXTEND_TIMEOUT_USEC=`.
    ///
    /// - Parameter duration: rounded down to microseconds; a negative duration counts as zero.
    /// - Returns: whether the message was sent.
    @discardableResult
    package func extendTimeout(by duration: Duration) -> Bool {
        // The cap, 136 years, only keeps the arithmetic below from trapping.
        let clamped = min(max(duration, .zero), .seconds(1 << 32))
        let (seconds, attoseconds) = clamped.components
        return send("EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)")
    }

    private func send(_ state: String, status: String?) -> Bool {
        guard let status else { return send(state) }
        return send("\(state)\n\(Self.statusAssignment(status))")
    }

    private func send(_ message: String) -> Bool {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), !path.isEmpty else { return false }
        // A manager that cannot be reached is no reason to stop serving, so a failure is `false` like the rest.
        return NotifyAddress(path)?.send(message) ?? (sd_notify(0, message) > 0)
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

    private static func monotonicMicroseconds() -> Int {
        var now = timespec()
        // Fails for unknown clocks and bad pointers only.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
