package import CLinux
import Glibc

/// A failed system call.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The name of the call, such as `open`.
    package let call: String
    /// The number in errno(3).
    package let code: CInt

    package init(_ call: String, code: CInt = errno) { (self.call, self.code) = (call, code) }

    /// The reason in the words of the system, such as `Is a directory`.
    package var reason: String { SystemError.reason(code) }

    /// Whether the reader of a pipe has closed the pipe.
    package var isClosedPipe: Bool { code == EPIPE }

    package var description: String { "\(call) failed: \(reason)" }

    /// The words of strerror(3) for a number in errno(3), by default the last one of this thread.
    package static func reason(_ code: CInt = errno) -> String { String(cString: strerror(code)) }
}

/// A reason with its correction, in one sentence for the user.
package struct ExplainedError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// The status of the daemon if it ends for this reason (sysexits.h).
    package let exitStatus: CInt

    package init(_ description: String, exitStatus: CInt = EX_CANTCREAT) {
        (self.description, self.exitStatus) = (description, exitStatus)
    }
}

/// Opens a file that child processes do not inherit (open(2)).
package func openFile(_ path: String, _ flags: CInt, mode: mode_t = 0o666) throws(SystemError) -> CInt {
    let descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw SystemError("open") }
    return descriptor
}

/// Reads a descriptor to its end, or until more than `limit` bytes are read.
package func readAll(_ descriptor: CInt, limit: Int = .max) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
        let count = read(descriptor, &buffer, buffer.count)
        if count == 0 { break }
        if count > 0 {
            bytes += buffer[..<count]
        } else if errno != EINTR {
            throw SystemError("read")
        }
    }
    return bytes
}

/// Writes all bytes to a descriptor, by one write(2) if the system accepts all bytes at once.
///
/// Waits for a non-blocking descriptor. SIGPIPE must be ignored for a closed pipe to be an error.
package func writeAll(_ bytes: [UInt8], to descriptor: CInt) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes {
            write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
        }
        if count >= 0 {
            written += count
        } else if errno == EAGAIN {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&entry, 1, -1)
        } else if errno != EINTR {
            throw SystemError("write")
        }
    }
}

/// Renames a file, replacing a file with the new name (rename(2)).
package func renameFile(_ path: String, to newPath: String) throws(SystemError) {
    guard rename(path, newPath) == 0 else { throw SystemError("rename") }
}

/// A pipe whose ends are closed on exec (pipe2(2)).
package func makePipe() throws(SystemError) -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
    return (ends[0], ends[1])
}
