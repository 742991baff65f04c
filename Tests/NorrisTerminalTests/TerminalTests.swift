import Foundation
import NorrisProtocol
import NorrisTerminal
import NorrisTestSupport
import Testing

struct TerminalFactsTests {
    @Test(
        arguments: [
            (40, 100, "90", 40), (nil, 100, "90", 100), (nil, nil, "90", 90), (nil, nil, nil, 80), (nil, nil, "", 80),
            (nil, nil, "0", 80), (nil, nil, "-5", 80), (nil, nil, "wide", 80),
        ] as [(Int?, Int?, String?, Int)])
    func takesTheWidthFromFlagDriverOrVariable(flag: Int?, driver: Int?, variable: String?, width: Int) {
        let facts = TerminalFacts(isTerminal: true, columns: driver)
        #expect(facts.width(flag: flag, environment: variable.map { ["COLUMNS": $0] } ?? [:]) == width)
    }
}

struct ColorChoiceTests {
    @Test(
        arguments: [
            // The flag has priority.
            (ColorChoice.always, ["NO_COLOR": "1", "CLICOLOR_FORCE": "0", "TERM": "dumb"], false, true),
            (.never, ["CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
            // Then NO_COLOR, if it is not empty.
            (.auto, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
            (.auto, ["NO_COLOR": "0", "TERM": "xterm"], true, false),
            (.auto, ["NO_COLOR": "", "TERM": "xterm"], true, true),
            // Then CLICOLOR_FORCE, if it is neither empty nor 0.
            (.auto, ["CLICOLOR_FORCE": "1"], false, true),
            (.auto, ["CLICOLOR_FORCE": "yes", "TERM": "dumb"], true, true),
            (.auto, ["CLICOLOR_FORCE": "0"], false, false), (.auto, ["CLICOLOR_FORCE": ""], false, false),
            (.auto, ["CLICOLOR_FORCE": "0", "TERM": "xterm"], true, true),
            // Then a terminal that is not dumb.
            (.auto, ["TERM": "xterm"], true, true), (.auto, [:], true, false), (.auto, ["TERM": ""], true, false),
            (.auto, ["TERM": "dumb"], true, false), (.auto, ["TERM": "xterm"], false, false),
        ] as [(ColorChoice, [String: String], Bool, Bool)])
    func decidesInOrder(choice: ColorChoice, environment: [String: String], isTerminal: Bool, allows: Bool) {
        #expect(choice.allowsEscapes(environment: Environment(environment), isTerminal: isTerminal) == allows)
    }
}

struct TerminalEnvironmentTests {
    @Test(
        arguments: [
            ([:], true), (["LANG": ""], true), (["LANG": "C"], false), (["LANG": "POSIX"], false),
            (["LANG": "C.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "de_DE"], false),
            (["LANG": "de_DE.UTF-8@euro"], true), (["LANG": "de_DE@euro"], false),
            (["LANG": "de_DE.ISO-8859-15"], false),
            (["LC_CTYPE": "C", "LANG": "C.UTF-8"], false), (["LC_CTYPE": "", "LANG": "C.UTF-8"], true),
            (["LC_ALL": "en_US.UTF-8", "LC_CTYPE": "C"], true), (["LC_ALL": "C", "LC_CTYPE": "C.UTF-8"], false),
        ] as [([String: String], Bool)])
    func tellsWhetherTheLocaleIsUTF8(environment: [String: String], isUTF8: Bool) {
        #expect(isUTF8Locale(Environment(environment)) == isUTF8)
    }

    @Test func takesATerminalOfNoKindForADumbOne() {
        #expect(isDumbTerminal([:]))
        #expect(isDumbTerminal(["TERM": ""]))
        #expect(isDumbTerminal(["TERM": "dumb"]))
        #expect(!isDumbTerminal(["TERM": "linux"]))
    }
}

struct DescriptorWriterTests {
    /// Returns a pipe that children of other tests do not inherit.
    private func ownPipe() -> Pipe {
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        return pipe
    }

    @Test func writesAllBytesPastTheSizeOfAPipe() async throws {
        let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let pipe = ownPipe()
        // The descriptor does not block, so that writeAll must wait for a full pipe.
        #expect(fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
        async let received = withCheckedContinuation { continuation in
            // A separate thread, because readToEnd blocks.
            Thread.detachNewThread { continuation.resume(returning: try? pipe.fileHandleForReading.readToEnd()) }
        }
        try await TestThread.run {
            try writeAll(Array(bytes), to: pipe.fileHandleForWriting.fileDescriptor)
            try pipe.fileHandleForWriting.close()
        }
        #expect(await received == bytes)
    }

    @Test func writesNothingWhenThereIsNothing() throws {
        try writeAll([], to: -1)
    }

    @Test func tellsThatTheReaderHasGone() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = ownPipe()
        try pipe.fileHandleForReading.close()
        #expect(throws: WriteError.closedPipe) {
            // A child of another test may share the other end until its execve(2).
            for _ in 0..<3000 {
                try writeAll([1], to: pipe.fileHandleForWriting.fileDescriptor)
                poll(nil, 0, 10)
            }
        }
        #expect(WriteError.closedPipe.message == nil)
    }

    @Test func tellsThatTheDiskIsFull() {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let error = #expect(throws: WriteError.self) { try writeAll([1], to: full) }
        #expect(error == .system(errno: ENOSPC))
        #expect(error?.message == "Standard output cannot be written: No space left on device.")
    }
}
