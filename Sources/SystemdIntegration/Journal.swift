import CSystemd
import Glibc

/// The systemd journal's native protocol, with fields beside the message: sd_journal_sendv(3).
package enum Journal {
    /// Whether standard error goes to the journal, so that ``send(_:)`` is the better way to the same place.
    ///
    /// True when `JOURNAL_STREAM` names the very file behind standard error, as systemd.exec(5) asks to compare: the
    /// variable alone also reaches children whose standard error was redirected. Looks anew each time.
    package static var isConnected: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        return isStream(String(cString: stream), descriptor: STDERR_FILENO)
    }

    /// Whether a value of `JOURNAL_STREAM` names the file behind a descriptor.
    package static func isStream(_ stream: String, descriptor: CInt) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return matches(stream: stream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Whether a value of `JOURNAL_STREAM`, device and inode in decimal with a colon between, names this file.
    package static func matches(stream: String, device: UInt64, inode: UInt64) -> Bool {
        stream.utf8.elementsEqual("\(device):\(inode)".utf8)
    }

    /// Writes one entry. Values may hold anything, line ends included; journald adds the time and the sender.
    ///
    /// - Returns: false when a name is not valid (see ``encode(_:)``) or the journal refused the entry. libsystemd
    ///   reports success also where no journal runs at all, so ask ``isConnected`` first.
    @discardableResult
    package static func send(_ fields: [(name: String, value: String)]) -> Bool {
        guard !fields.isEmpty, var encoded = encode(fields) else { return false }
        return encoded.bytes.withUnsafeMutableBytes { buffer in
            let vectors = encoded.ranges.map { range in
                let field = UnsafeMutableRawBufferPointer(rebasing: buffer[range])
                return iovec(iov_base: field.baseAddress, iov_len: field.count)
            }
            return sd_journal_sendv(vectors, CInt(vectors.count)) == 0
        }
    }

    /// The fields as `NAME=value`, all in one buffer, with the place of each in it.
    ///
    /// - Returns: nil when a name is not one to 64 of `A-Z`, `0-9` and `_`, beginning with a letter. journald keeps
    ///   leading underscores to itself and drops fields with other names without a word.
    package static func encode(
        _ fields: [(name: String, value: String)]
    ) -> (bytes: [UInt8], ranges: [Range<Int>])? {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        bytes.reserveCapacity(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 1 })
        ranges.reserveCapacity(fields.count)
        for (name, value) in fields {
            guard isValid(name: name) else { return nil }
            let start = bytes.count
            bytes.append(contentsOf: name.utf8)
            bytes.append(UInt8(ascii: "="))
            bytes.append(contentsOf: value.utf8)
            ranges.append(start..<bytes.count)
        }
        return (bytes, ranges)
    }

    private static func isValid(name: String) -> Bool {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, letters.contains(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { byte in
            letters.contains(byte) || digits.contains(byte) || byte == UInt8(ascii: "_")
        }
    }
}
