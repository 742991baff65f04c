import Foundation
import Glibc
import NorrisTerminal
import Testing

struct DescriptorWriterTests {
    @Test func writesAllBytesPastTheSizeOfAPipe() throws {
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let pipe = Pipe()
        // Not blocking, so that a full pipe has to be waited for.
        #expect(fcntl(pipe.writing, F_SETFL, O_NONBLOCK) == 0)
        let reading = dup(pipe.reading)
        let reader = Reader(descriptor: reading)
        try writeAll(bytes, to: pipe.writing)
        _ = consume pipe
        #expect(reader.bytes() == bytes)
    }

    @Test func writesNothingWhenThereIsNothing() throws {
        // A descriptor that is not open would fail.
        try writeAll([], to: -1)
    }

    @Test func tellsThatTheReaderHasGone() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        close(ends[0])
        defer { close(ends[1]) }
        #expect(throws: WriteError.closedPipe) {
            // A program that another test has just started may hold the other end as well, until it is another program.
            for _ in 0..<3000 {
                try writeAll([1], to: ends[1])
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

/// Reads a descriptor to its end on a thread of its own, and closes it.
private final class Reader: @unchecked Sendable {
    // Written by the thread before the signal, read after it.
    private var result: [UInt8] = []
    private let finished = DispatchSemaphore(value: 0)

    init(descriptor: Int32) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { break }
                result += buffer[..<count]
            }
            close(descriptor)
            finished.signal()
        }
    }

    func bytes() -> [UInt8] {
        finished.wait()
        return result
    }
}
