import CSystemd
import Glibc

/// The systemd journal's native protocol, with fields beside the message: sd_journal_sendv(3).
package enum Journal {
    /// Whether standard error goes to the journal, so that ``send(_:)`` is the better way to the same destination.
    package static var isConnected: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        return isStream(String(cString: stream), descriptor: STDERR_FILENO)
    }

    /// Whether a value of `JOURNAL_STREAM`, device and inode with a colon between, names the file behind a descriptor,
    /// as systemd.exec(5) asks to compare: the variable alone also reaches children whose standard error was
    /// redirected.
    package static func isStream(_ stream: String, descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry. Values may hold anything, line ends included; journald adds the time and the sender.
    ///
    /// - Parameter fields: at least one. A name is one to 64 of `A-Z`, `0-9` and `_`, beginning with a letter: journald
    ///   drops fields with other names without a word.
    package static func send(_ fields: [(name: String, value: String)]) {
        var (bytes, ranges) = encode(fields)
        bytes.withUnsafeMutableBytes { buffer in
            let vectors = ranges.map { range in
                let field = UnsafeMutableRawBufferPointer(rebasing: buffer[range])
                return iovec(iov_base: field.baseAddress, iov_len: field.count)
            }
            // A journal that refuses a line is no reason to stop.
            _ = sd_journal_sendv(vectors, CInt(vectors.count))
        }
    }

    /// The fields as `NAME=value`, all in one buffer, with the range of each in it.
    package static func encode(
        _ fields: [(name: String, value: String)]
    ) -> (bytes: [UInt8], ranges: [Range<Int>]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for (name, value) in fields {
            let start = bytes.count
            bytes += "\(name)=\(value)".utf8
            ranges.append(start..<bytes.count)
        }
        return (bytes, ranges)
    }
}
