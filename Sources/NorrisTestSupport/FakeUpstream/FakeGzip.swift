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
