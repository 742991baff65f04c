import Glibc
import NorrisTestSupport
import SystemdIntegration
import Testing

/// Each test runs in a separate process, because the environment belongs to a process.
struct NotifierTests {
    @Test func everyMessageArrivesLiterally() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let socket = NotifySocket(path: folder("notify"))
            setenv("NOTIFY_SOCKET", socket.path, 1)
            let notifier = Notifier()

            #expect(notifier.ready(status: "Serving 104 facts"))
            #expect(socket.receive() == "READY=1\nSTATUS=Serving 104 facts")
            #expect(notifier.status("Degraded: cache.db is read-only"))
            #expect(socket.receive() == "STATUS=Degraded: cache.db is read-only")
            #expect(notifier.stopping())
            #expect(socket.receive() == "STOPPING=1")
            #expect(notifier.watchdog())
            #expect(socket.receive() == "WATCHDOG=1")
            #expect(notifier.extendTimeout(by: .milliseconds(90_500)))
            #expect(socket.receive() == "EXTEND_TIMEOUT_USEC=90500000")
            #expect(notifier.reloading())
            #expect(socket.receive()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
            unsetenv("NOTIFY_SOCKET")
            #expect(!Notifier().ready())
            #expect(socket.receive() == nil)
        }
    }

    @Test func statusIsOneShortLine() async {
        await #expect(processExitsWith: .success) {
            let socket = manager()
            let notifier = Notifier()

            notifier.status("a\nREADY=1\r\nb\tc\0d\u{7F}\u{85}e")
            #expect(socket.receive() == "STATUS=a READY=1  b c d  e")
            // "é" has two bytes. The notifier omits a character that does not fit completely.
            notifier.ready(status: "x" + String(repeating: "é", count: 3000))
            let expected = "x" + String(repeating: "é", count: (Notifier.maximumStatusLength - 1) / 2)
            #expect(socket.receive() == "READY=1\nSTATUS=" + expected)
        }
    }

    @Test func aManagerThatDoesNotReadHoldsNobodyUp() async {
        await #expect(processExitsWith: .success) {
            let socket = manager()
            let notifier = Notifier()

            // Sends until the kernel's queue is full.
            var kept = 0
            while notifier.watchdog() { kept += 1 }
            #expect(kept > 0)
            #expect(!notifier.stopping())
            #expect(socket.receive() == "WATCHDOG=1")
            #expect(notifier.stopping())
        }
    }
}

/// Sets `NOTIFY_SOCKET` to a new manager in the abstract namespace, which leaves no file.
private func manager() -> NotifySocket {
    let socket = NotifySocket(path: "@norrisd-test-\(getpid())")
    setenv("NOTIFY_SOCKET", socket.path, 1)
    return socket
}

/// Each test runs in a separate process, because sd_watchdog_enabled(3) reads the environment.
struct WatchdogTests {
    @Test func intervalIsHalfOfWhatTheManagerAllows() async {
        await #expect(processExitsWith: .success) {
            unsetenv("WATCHDOG_PID")
            setenv("WATCHDOG_USEC", "30000000", 1)
            #expect(Watchdog.interval() == .seconds(15))

            setenv("WATCHDOG_PID", "1", 1)
            #expect(Watchdog.interval() == nil, "It is for another process")
        }
    }
}

struct JournalTests {
    /// In a separate process, because the test changes the environment and standard error.
    @Test func connectionIsThatOfStandardError() async {
        await #expect(processExitsWith: .success) {
            var ends: [CInt] = [0, 0]
            try #require(pipe(&ends) == 0)
            dup2(ends[1], STDERR_FILENO)
            var status = stat()
            try #require(fstat(ends[0], &status) == 0)

            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
            #expect(Journal.isConnected)
            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino + 1)", 1)
            #expect(!Journal.isConnected)
            unsetenv("JOURNAL_STREAM")
            #expect(!Journal.isConnected)
        }
    }

    @Test func fieldsAreEncodedSideBySide() {
        let (bytes, ranges) = Journal.encode([("MESSAGE", "two\nlines"), ("PRIORITY", "6"), ("NORRIS_EMPTY_1", "")])
        let fields = ranges.map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(fields == ["MESSAGE=two\nlines", "PRIORITY=6", "NORRIS_EMPTY_1="])
    }
}
