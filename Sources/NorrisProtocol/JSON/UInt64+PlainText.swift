// Eight bytes of text looked at together: strings are most of what is read and written.
//
// `x - 0x01…01` borrows into the top bit of a byte that is zero, and `~x` rules out those that had it set before. A
// borrow may run on from such a byte into the next one, never start elsewhere: an answer of "no" is always right.

private let ones: UInt64 = 0x0101_0101_0101_0101
private let topBits: UInt64 = 0x8080_8080_8080_8080

extension UInt64 {
    /// How many bytes stand before the first that is a quote, a backslash or below U+0020: what ends a run of a JSON
    /// string. The lowest byte comes first. The lowest mark is always right, for borrows run upwards.
    var plainBytes: Int {
        let belowSpace = (self &- ones &* 0x20) & ~self
        let marks = (belowSpace | zeroByteMark(xor: 0x22) | zeroByteMark(xor: 0x5C)) & topBits
        return marks.trailingZeroBitCount / 8
    }

    /// Whether one of the eight bytes is anything but printable ASCII without quote and backslash.
    var hasByteToInspect: Bool {
        let belowSpace = (self &- ones &* 0x20) & ~self
        let marks = belowSpace | zeroByteMark(xor: 0x22) | zeroByteMark(xor: 0x5C) | zeroByteMark(xor: 0x7F)
        return (marks | self) & topBits != 0
    }

    private func zeroByteMark(xor byte: UInt64) -> UInt64 {
        let word = self ^ (ones &* byte)
        return (word &- ones) & ~word
    }
}
