/// A hash that is the same in every process: FNV-1a of 64 bits with a last round of mixing, for FNV's high bits hardly
/// move with the last bytes (<http://www.isthe.com/chongo/tech/comp/fnv/>).
package func stableHash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return hash ^ (hash >> 33)
}
