extension FakeUpstream {
    /// What goes wrong with an answer.
    package enum Fault: Sendable {
        /// The connection is reset in place of an answer.
        case reset
        /// There is never an answer.
        case hang
        /// The head at once, then a byte of the body each time.
        case drip(every: Duration)
        /// The connection ends in the middle of the body.
        case truncated(chunked: Bool)
        /// A body without end.
        case endless
        /// These bytes, whatever they are, and the end.
        case raw(String)
        /// These bytes, and then nothing more.
        case hangingAfter(String)
        /// These bytes at once, before anything is asked.
        case greeting(String)
        /// A well-formed answer of this content, whatever was asked.
        case answer(status: Int, headers: [(String, String)], body: [UInt8])
        /// A right answer, but another one each time.
        case changing

        package static func status(_ status: Int, retryAfter: String? = nil, body: String = "") -> Fault {
            let headers = retryAfter.map { [("Retry-After", $0)] } ?? []
            return .answer(status: status, headers: headers, body: Array(body.utf8))
        }

        /// A good status and JSON that is said to be JSON.
        package static func json(_ body: String) -> Fault {
            .answer(status: 200, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        }

        package static func redirect(to location: String, status: Int = 302) -> Fault {
            .answer(status: status, headers: [("Location", location)], body: [])
        }

        package static let redirectLoop = redirect(to: "?query=again")

        /// What a captive portal says.
        package static let html = answer(
            status: 200, headers: [("Content-Type", "text/html; charset=UTF-8")],
            body: Array("<!DOCTYPE html><html><body>Please log in</body></html>".utf8))

        package static let garbage = raw("\u{1}\u{2}\u{3} this is not HTTP \r\n\r\n")

        package static let emptyResult = json(#"{"total":0,"result":[]}"#)

        /// A good status, and 100 header lines of 64 KiB.
        package static let longHead = answer(
            status: 200,
            headers: [(String, String)](repeating: ("X-Long", String(repeating: "x", count: 65_536)), count: 100),
            body: [])

        /// 16 MiB of zeros in some 110 KB.
        package static let gzipBomb = answer(
            status: 200, headers: [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
            body: FakeGzip.bomb(inflatingTo: 16 * 1024 * 1024))
    }
}

/// Just enough of gzip (RFC 1952) and DEFLATE (RFC 1951) to send what a client must inflate.
package enum FakeGzip {
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// The bytes in stored blocks.
    package static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result = header
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            result.append(end == bytes.count ? 1 : 0)
            result += littleEndian(UInt16(end - start)) + littleEndian(~UInt16(end - start)) + bytes[start..<end]
            start = end
        } while start < bytes.count
        return result + littleEndian(checksum(bytes)) + littleEndian(UInt32(bytes.count))
    }

    /// So many zero bytes and some, a hundred and fifty times smaller; the checksum at its end is wrong.
    package static func bomb(inflatingTo size: Int) -> [UInt8] {
        var bits = Bits()
        // The last block, fixed codes; the literal 0; then matches of 258 bytes at distance 1; the end.
        bits.append([1, 1, 0])
        bits.append([0, 0, 1, 1, 0, 0, 0, 0])
        for _ in 0...(size / 258) {
            bits.append([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0])
        }
        bits.append([0, 0, 0, 0, 0, 0, 0])
        return header + bits.bytes + [0, 0, 0, 0] + littleEndian(UInt32(size))
    }

    private struct Bits {
        var bytes: [UInt8] = []
        var count = 0

        mutating func append(_ bits: [UInt8]) {
            for bit in bits {
                if count % 8 == 0 { bytes.append(0) }
                bytes[count / 8] |= bit << (count % 8)
                count += 1
            }
        }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
