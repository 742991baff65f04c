/// A factor between 0.9 and 1.1 for each source of each machine, always the same, so that the machines of an office do
/// not all ask at one time.
package struct Jitter: Sendable {
    private let machine: String

    /// - Parameter machine: what tells this machine from others, such as the content of machine-id(5); only a hash of
    ///   it is used.
    package init(machine: String) {
        self.machine = machine
    }

    func applied(to interval: Duration, of source: String) -> Duration {
        let hash = stableHash(machine + "\n" + source)
        return interval * (0.9 + 0.2 * (Double(hash >> 11) / Double(1 << 53)))
    }
}

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
