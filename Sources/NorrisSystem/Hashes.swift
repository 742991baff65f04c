/// The 64-bit FNV-1a hash of bytes, with the parameters of draft-eastlake-fnv. Unlike that of `Hasher`, the hash is the
/// same in every process.
package struct FNV1a64 {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func combine(_ text: some StringProtocol) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}

/// A hash of a text that is the same in every process: FNV-1a with a final mix, because the last bytes of a text hardly
/// change the high bits of FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>).
package func stableHash(_ text: String) -> UInt64 {
    var hash = FNV1a64()
    hash.combine(text)
    var value = hash.value
    value = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return value ^ (value >> 33)
}

/// Spreads every bit of the input over the whole output: one step of SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
@inlinable package func mix(_ value: UInt64) -> UInt64 {
    var bits = value &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
}

/// The random numbers that follow from a seed, the same on every machine: SplitMix64, see ``mix(_:)``.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    package private(set) var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        defer { state &+= 0x9E37_79B9_7F4A_7C15 }
        return mix(state)
    }
}

extension BinaryInteger {
    /// The digits of a number that is not negative, with leading zeros up to a width.
    package func digits(radix: Int, width: Int) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
