import Glibc
import SystemdIntegration
import Testing

/// Each test runs in a process of its own, because the environment belongs to a process.
struct NotifierTests {
    @Test func everyMessageArrivesLiterally() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            let notifier = Notifier()

            #expect(notifier.ready())
            #expect(socket.receive() == "READY=1")
            #expect(notifier.ready(status: "Serving 104 facts"))
            #expect(socket.receive() == "READY=1\nSTATUS=Serving 104 facts")
            #expect(notifier.status("Degraded: cache.db is read-only"))
            #expect(socket.receive() == "STATUS=Degraded: cache.db is read-only")
            #expect(notifier.stopping())
            #expect(socket.receive() == "STOPPING=1")
            #expect(notifier.stopping(status: "Answering what has arrived"))
            #expect(socket.receive() == "STOPPING=1\nSTATUS=Answering what has arrived")
            #expect(notifier.watchdog())
            #expect(socket.receive() == "WATCHDOG=1")
            #expect(notifier.extendTimeout(by: .milliseconds(90_500)))
            #expect(socket.receive() == "EXTEND_TIMEOUT_USEC=90500000")
            #expect(socket.receive() == nil)
        }
    }

    @Test func reloadingCarriesTheMonotonicTime() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }

            let before = monotonicMicroseconds()
            #expect(Notifier().reloading())
            let after = monotonicMicroseconds()

            let message = try #require(socket.receive())
            let prefix = "RELOADING=1\nMONOTONIC_USEC="
            #expect(message.hasPrefix(prefix))
            let time = try #require(Int(message.dropFirst(prefix.count)))
            #expect((before...after).contains(time))
        }
    }

    @Test func statusIsOneShortLine() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            let notifier = Notifier()

            notifier.status("a\nREADY=1\r\nb\tc\0d\u{7F}\u{85}e")
            #expect(socket.receive() == "STATUS=a READY=1  b c d  e")
            // "é" takes two bytes; one that would only fit by half is left out.
            notifier.ready(status: "x" + String(repeating: "é", count: 3000))
            let expected = "x" + String(repeating: "é", count: (Notifier.maximumStatusLength - 1) / 2)
            #expect(socket.receive() == "READY=1\nSTATUS=" + expected)
        }
    }

    @Test func aManagerThatDoesNotReadHoldsNobodyUp() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            let notifier = Notifier()

            // As many as the kernel keeps, whatever its limit.
            var kept = 0
            while notifier.watchdog() { kept += 1 }
            #expect(kept > 0)
            #expect(!notifier.stopping())
            #expect(socket.receive() == "WATCHDOG=1")
            #expect(notifier.stopping())
        }
    }

    @Test func timeoutsOutOfRangeAreClamped() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            let notifier = Notifier()

            notifier.extendTimeout(by: .seconds(-5))
            #expect(socket.receive() == "EXTEND_TIMEOUT_USEC=0")
            notifier.extendTimeout(by: .seconds(Int64.max))
            #expect(socket.receive() == "EXTEND_TIMEOUT_USEC=4294967296000000")
        }
    }

    @Test func abstractSocketIsReached() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket(abstract: true)
            defer { socket.remove() }

            #expect(Notifier().ready(status: "up"))
            #expect(socket.receive() == "READY=1\nSTATUS=up")
        }
    }

    @Test func nothingIsSentOutsideSystemd() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            defer { socket.remove() }
            unsetenv("NOTIFY_SOCKET")
            let notifier = Notifier()

            #expect(!notifier.ready(status: "up"))
            #expect(!notifier.status("up"))
            #expect(!notifier.reloading())
            #expect(!notifier.stopping())
            #expect(!notifier.watchdog())
            #expect(!notifier.extendTimeout(by: .seconds(1)))
            #expect(socket.receive() == nil)
        }
    }

    @Test func unreachableManagerIsNotAnError() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            socket.remove()

            #expect(!Notifier().ready())
            // The variable stays, so later messages are tried again.
            #expect(getenv("NOTIFY_SOCKET") != nil)
        }
    }
}

private func monotonicMicroseconds() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}
