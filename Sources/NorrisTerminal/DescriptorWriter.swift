import Glibc

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
        case EAGAIN: waitUntilWritable(descriptor)
        case EPIPE: throw .closedPipe
        default: throw .system(errno: error)
        }
    }
}

private func waitUntilWritable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    poll(&entry, 1, -1)
}
