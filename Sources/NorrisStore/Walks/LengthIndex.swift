/// The lengths from `first` to `first + 4^level - 1` code points, less one: lengths count from 0 here.
struct LengthInterval: Hashable {
    let level: UInt8
    let first: UInt16

    /// Seven levels hold lengths up to 4^7, past the longest a fact may have.
    static let levels = 7

    /// The interval of a level that a length falls in.
    init(level: Int, containing length: Int) {
        self.level = UInt8(level)
        let position = min(max(length, 1) - 1, (1 << (2 * LengthInterval.levels)) - 1)
        first = UInt16((position >> (2 * level)) << (2 * level))
    }

    private init(level: Int, first: Int) {
        self.level = UInt8(level)
        self.first = UInt16(first)
    }

    /// The fewest intervals that hold exactly the lengths from 1 to `maximum`: at most three of each level.
    static func covering(upTo maximum: Int) -> [LengthInterval] {
        var intervals: [LengthInterval] = []
        var first = 0
        for level in stride(from: levels - 1, through: 0, by: -1) {
            let width = 1 << (2 * level)
            while first + width <= maximum {
                intervals.append(LengthInterval(level: level, first: first))
                first += width
            }
        }
        return intervals
    }
}

/// The seats of a roster by length, each seat once on every level, so that "at most so long" is a few lists.
struct LengthIndex {
    private var seats: [LengthInterval: [UInt32]] = [:]

    subscript(interval: LengthInterval) -> [UInt32] {
        seats[interval] ?? []
    }

    mutating func append(seat: UInt32, length: Int) {
        for level in 0..<LengthInterval.levels {
            seats[LengthInterval(level: level, containing: length), default: []].append(seat)
        }
    }
}
