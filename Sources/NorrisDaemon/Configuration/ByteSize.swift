/// The texts of sizes in the configuration file: a whole number and `B`, `KiB`, `MiB` or `GiB`.
enum ByteSize {
    /// Largest first, so that printing finds the shortest text.
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// The number of bytes that a text means; nil if it is not a size or does not fit in an `Int`.
    static func bytes(of text: String) -> Int? {
        // The longer names end in "B" too and so come first.
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let count = Int64(plainDigits: text.dropLast(unit.name.count))
        else { return nil }
        let (bytes, overflow) = Int(count).multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : bytes
    }

    /// The text of a number of bytes, in the largest unit that loses nothing.
    static func text(of bytes: Int) -> String {
        for unit in units where bytes != 0 && bytes.isMultiple(of: unit.bytes) {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "0B"
    }
}
