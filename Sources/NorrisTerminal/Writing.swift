import Glibc
import NorrisText

/// Why not all could be written.
package enum WriteError: Error, Equatable {
    /// The reader has gone, which is no fault of anybody (EPIPE).
    case closedPipe
    case system(errno: Int32)

    /// One sentence about standard output; nil where there is nothing to say.
    package var message: String? {
        switch self {
        case .closedPipe: nil
        case .system(let errno): "Standard output cannot be written: \(String(cString: strerror(errno)))."
        }
    }
}

/// Writes all bytes to a descriptor, by one write(2) if the system takes them at once.
///
/// SIGPIPE must be ignored for `closedPipe` to be reported. A descriptor that does not block is waited for.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(WriteError) {
    var written = 0
    while written < bytes.count {
        let (count, error) = bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = write(descriptor, rest.baseAddress, rest.count)
            return (count, errno)
        }
        guard count < 0 else {
            written += count
            continue
        }
        switch error {
        case EINTR: continue
        case EAGAIN:
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&entry, 1, -1)
        case EPIPE: throw .closedPipe
        default: throw .system(errno: error)
        }
    }
}

/// Writes text to a descriptor, in ASCII alone where a terminal at its other end knows no UTF-8.
package struct TextWriter: Sendable {
    let descriptor: Int32
    let isASCII: Bool

    package init(descriptor: Int32, isASCII: Bool) {
        self.descriptor = descriptor
        self.isASCII = isASCII
    }

    /// As ``writeAll(_:to:)``.
    ///
    /// - Parameter bytes: whole characters; none of them is combined with one of another call.
    package func write(_ bytes: [UInt8]) throws(WriteError) {
        try writeAll(isASCII ? Array(asciiText(String(decoding: bytes, as: UTF8.self)).utf8) : bytes, to: descriptor)
    }
}
