import Foundation
import NorrisSystem
import NorrisTestSupport
import Testing

struct DescriptorWriterTests {
    /// A pipe whose ends are closed in the programs that other tests start.
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
        // Not blocking, so that the test waits for a full pipe.
        #expect(fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
        async let received = withCheckedContinuation { continuation in
            // It blocks, which no thread of Swift's pool may.
            Thread.detachNewThread { continuation.resume(returning: try? pipe.fileHandleForReading.readToEnd()) }
        }
        try await TestThread.run {
            try writeAll(Array(bytes), to: pipe.fileHandleForWriting.fileDescriptor)
            try pipe.fileHandleForWriting.close()
        }
        #expect(await received == bytes)
    }

    @Test func tellsThatTheDiskIsFull() {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let error = #expect(throws: SystemError.self) { try writeAll([1], to: full) }
        #expect(error == SystemError("write", code: ENOSPC))
        #expect(error?.description == "write failed: No space left on device")
    }
}
