import NorrisSystem

extension SeededRandom {
    /// The parts of a landscape with separate random numbers, so that a change of one does not change the others.
    enum Thing: UInt64 {
        case hour = 1
        case ground, sky, water, foreground, ranges, slopes, scene, windows
        case forest = 0x100
        case stars = 0x200
    }

    /// - Parameter number: the index of the thing, if there are several.
    init(seed: UInt64, thing: Thing, number: Int = 0) {
        self.init(seed: seed ^ ((thing.rawValue + UInt64(number)) &* 0xD1B5_4A32_D192_ED03))
    }

    mutating func number(in range: ClosedRange<Float>) -> Float {
        range.lowerBound + (range.upperBound - range.lowerBound) * (Float(next() >> 40) / 16_777_216)
    }

    mutating func noise() -> Noise { Noise(seed: UInt32(truncatingIfNeeded: next())) }
}

/// A smooth rise from 0 to 1, level at both ends.
@inline(__always) func eased(_ part: Float) -> Float { part * part * (3 - 2 * part) }

/// Smooth noise: similar numbers for near positions.
struct Noise {
    let seed: UInt32

    /// -1 to 1; goes up and down about once for every 1 of `x`.
    @inline(__always) func value(_ x: Float) -> Float {
        let floor = x.rounded(.down)
        let cell = Int32(floor)
        let left = corner(cell, 0)
        return left + (corner(cell &+ 1, 0) - left) * eased(x - floor)
    }

    /// The same in two dimensions.
    func value(_ x: Float, _ y: Float) -> Float {
        let (floorX, floorY) = (x.rounded(.down), y.rounded(.down))
        let (column, row) = (Int32(floorX), Int32(floorY))
        let across = eased(x - floorX)
        let upperLeft = corner(column, row)
        let upper = upperLeft + (corner(column &+ 1, row) - upperLeft) * across
        let lowerLeft = corner(column, row &+ 1)
        let lower = lowerLeft + (corner(column &+ 1, row &+ 1) - lowerLeft) * across
        return upper + (lower - upper) * eased(y - floorY)
    }

    /// A sum of octaves, about -1 to 1.
    ///
    /// - Parameter roughness: the factor from one octave to the next; 0.5 gives hills, 0.6 rocks.
    func fractal(_ x: Float, octaves: Int, roughness: Float) -> Float {
        var (sum, strength, total, position) = (Float(0), Float(1), Float(0), x)
        for _ in 0..<octaves {
            sum += strength * value(position)
            total += strength
            strength *= roughness
            // Not exactly twice, so that the corners of octaves do not coincide.
            position = position * 2.03 + 17.3
        }
        return sum / total
    }

    /// The outline of summits with straight flanks, 0 to 1; about one for every 1 of `x`.
    func summits(_ x: Float) -> Float {
        let cell = Int32(x.rounded(.down))
        var highest: Float = 0
        for number in cell - 2...cell + 2 {
            let summit = Float(number) + 0.5 + 0.42 * corner(number, 1)
            let height = 0.68 + 0.32 * corner(number, 2)
            let reach = 1.25 + 0.35 * corner(number, 3)
            // The slope decreases toward the foot.
            let part = max(1 - abs(x - summit) / reach, 0)
            highest = max(highest, height * part * (0.55 + 0.45 * part))
        }
        return highest
    }

    /// -1 to 1, without a visible pattern: "lowbias32" (Chris Wellons, "Prospecting for Hash Functions", 2018).
    @inline(__always) private func corner(_ column: Int32, _ row: Int32) -> Float {
        var hash = UInt32(bitPattern: column) &* 0x9E37_79B1 &+ UInt32(bitPattern: row) &* 0x85EB_CA77 &+ seed
        hash ^= hash >> 16
        hash = hash &* 0x7FEB_352D
        hash ^= hash >> 15
        hash = hash &* 0x846C_A68B
        hash ^= hash >> 16
        return Float(hash >> 8) * (2 / 16_777_216) - 1
    }
}
