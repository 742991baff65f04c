extension SeededRandom {
    /// What in a landscape has numbers of its own, so that the others do not change them.
    enum Thing {
        case hour, ground, sky, water, foreground, ranges, slopes
        case forest(Int)
        case stars(Int)

        fileprivate var number: UInt64 {
            switch self {
            case .hour: 1
            case .ground: 2
            case .sky: 3
            case .water: 4
            case .foreground: 5
            case .ranges: 6
            case .slopes: 7
            case .forest(let range): 0x100 + UInt64(range)
            case .stars(let band): 0x200 + UInt64(band)
            }
        }
    }

    init(seed: UInt64, thing: Thing) {
        self.init(seed: seed ^ (thing.number &* 0xD1B5_4A32_D192_ED03))
    }

    mutating func number(in range: ClosedRange<Float>) -> Float {
        range.lowerBound + (range.upperBound - range.lowerBound) * (Float(next() >> 40) / 16_777_216)
    }

    mutating func noise() -> Noise { Noise(seed: UInt32(truncatingIfNeeded: next())) }
}
