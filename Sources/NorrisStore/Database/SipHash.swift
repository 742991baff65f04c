/// SipHash-2-4, a keyed hash of 64 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
///
/// Not the standard library's Hasher, whose key differs in each process, because cursors and ids outlive a process.
enum SipHash {
    static func hash(_ bytes: UnsafeRawBufferPointer, key: (UInt64, UInt64) = (0, 0)) -> UInt64 {
        var state = State(key: key)
        let whole = bytes.count & ~7
        for start in stride(from: 0, to: whole, by: 8) {
            state.absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
        }
        var last = UInt64(bytes.count) << 56
        for (index, byte) in bytes[whole...].enumerated() { last |= UInt64(byte) << UInt64(8 * index) }
        state.absorb(last)
        return state.finish()
    }

    static func hash(_ text: String, key: (UInt64, UInt64) = (0, 0)) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0), key: key) }
    }

    /// A hash of several texts, including their boundaries.
    static func hash(ofTexts texts: [String], key: UInt64 = 0) -> UInt64 {
        // 0xFF does not occur in UTF-8, so two different lists of texts have different bytes.
        texts.flatMap { Array($0.utf8) + [0xFF] }.withUnsafeBytes { hash($0, key: (key, 0)) }
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        init(key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736F_6D65_7073_6575
            v1 = key.1 ^ 0x646F_7261_6E64_6F6D
            v2 = key.0 ^ 0x6C79_6765_6E65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        @inline(__always) mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        @inline(__always) mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        @inline(__always) private mutating func round() {
            v0 &+= v1
            v1 = rotated(v1, 13) ^ v0
            v0 = rotated(v0, 32)
            v2 &+= v3
            v3 = rotated(v3, 16) ^ v2
            v0 &+= v3
            v3 = rotated(v3, 21) ^ v0
            v2 &+= v1
            v1 = rotated(v1, 17) ^ v2
            v2 = rotated(v2, 32)
        }

        @inline(__always) private func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 {
            (value << bits) | (value >> (64 - bits))
        }
    }
}
