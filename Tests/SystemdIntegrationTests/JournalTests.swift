import Glibc
import SystemdIntegration
import Testing

struct JournalTests {
    @Test(arguments: [
        ("8:1234", true), ("8:1235", false), ("9:1234", false), ("", false), ("8", false), ("8:", false),
        ("8:1234:1", false), ("08:1234", false), (" 8:1234", false), ("8:1234\n", false),
    ])
    func streamNamesOneFile(stream: String, expected: Bool) {
        #expect(Journal.matches(stream: stream, device: 8, inode: 1234) == expected)
    }

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

    @Test func fieldsAreEncodedSideBySide() throws {
        let (bytes, ranges) = try #require(
            Journal.encode([("MESSAGE", "two\nlines"), ("PRIORITY", "6"), ("NORRIS_EMPTY_1", "")])
        )
        let fields = ranges.map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(fields == ["MESSAGE=two\nlines", "PRIORITY=6", "NORRIS_EMPTY_1="])
    }

    @Test(arguments: ["", "_PID", "1ST", "message", "MESS AGE", "MESSAGE=", "MÉSSAGE", "A\nB", "A.B"])
    func invalidNamesAreRefused(name: String) {
        #expect(Journal.encode([("MESSAGE", "ok"), (name, "value")]) == nil)
        #expect(!Journal.send([("MESSAGE", "ok"), (name, "value")]))
    }

    @Test func nameHasAtMost64Characters() {
        #expect(Journal.encode([(String(repeating: "A", count: 64), "")]) != nil)
        #expect(Journal.encode([(String(repeating: "A", count: 65), "")]) == nil)
    }

    @Test func entryWithoutFieldsIsRefused() {
        #expect(!Journal.send([]))
    }
}
