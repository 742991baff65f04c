import Glibc
import SystemdIntegration
import Testing

struct JournalTests {
    @Test func streamIsComparedWithTheFileBehindADescriptor() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer {
            close(ends[0])
            close(ends[1])
        }
        var status = stat()
        try #require(fstat(ends[0], &status) == 0)

        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(Journal.isStream(stream, descriptor: ends[0]))
        for other in ["", "\(status.st_dev)", "\(stream)1", "\(stream):1"] {
            #expect(!Journal.isStream(other, descriptor: ends[0]))
        }
        #expect(!Journal.isStream(stream, descriptor: CInt.max))
        let null = open("/dev/null", O_RDONLY)
        defer { close(null) }
        #expect(!Journal.isStream(stream, descriptor: null))
    }

    /// Runs in a process of its own, because the variable and standard error belong to the whole process.
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
