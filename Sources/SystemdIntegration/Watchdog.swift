import CSystemd

/// The service manager's watchdog: sd_watchdog_enabled(3).
package enum Watchdog {
    /// How often ``Notifier/watchdog()`` is due: half of `WATCHDOG_USEC`, so that one late ping is forgiven.
    ///
    /// - Returns: nil when no watchdog is set, when it is meant for another process (`WATCHDOG_PID`), or when the
    ///   variables cannot be understood.
    package static func interval() -> Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(microseconds / 2)
    }
}
