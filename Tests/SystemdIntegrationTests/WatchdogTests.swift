import Glibc
import SystemdIntegration
import Testing

/// Runs in a process of its own, because sd_watchdog_enabled(3) reads the environment of the process.
struct WatchdogTests {
    @Test func intervalIsHalfOfWhatTheManagerAllows() async {
        await #expect(processExitsWith: .success) {
            unsetenv("WATCHDOG_PID")
            setenv("WATCHDOG_USEC", "30000000", 1)
            #expect(Watchdog.interval() == .seconds(15))

            setenv("WATCHDOG_PID", "\(getpid())", 1)
            #expect(Watchdog.interval() == .seconds(15))
        }
    }

    @Test func watchdogIsOffWhenNotMeantForThisProcess() async {
        await #expect(processExitsWith: .success) {
            unsetenv("WATCHDOG_PID")
            unsetenv("WATCHDOG_USEC")
            #expect(Watchdog.interval() == nil)

            setenv("WATCHDOG_USEC", "soon", 1)
            #expect(Watchdog.interval() == nil)

            setenv("WATCHDOG_USEC", "30000000", 1)
            setenv("WATCHDOG_PID", "1", 1)
            #expect(Watchdog.interval() == nil)
        }
    }
}
