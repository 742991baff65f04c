import Glibc

/// Turns light into pixels: sRGB with 8 bits a channel, and a fine grain so that gradients show no steps.
struct PixelEncoder {
    /// Levels of sRGB (IEC 61966-2-1) in parts of 256, by exponent and upper nine bits of the light as a Float: steps
    /// of a quarter of a level at most.
    private let levels: Table<Int32>

    /// The darkest light of the table, half a level, and the brightest, as the bits of a Float without the lower ones.
    private static let darkest = index(0x1p-13)
    private static let brightest = index(1)

    /// Of the grain to each side, in parts of 256 of a level.
    private static let grain: Int32 = 192

    init() {
        levels = Table((Self.darkest...Self.brightest).map { index in
            let light = Double(Float(bitPattern: index << Self.unused))
            let level = light <= 0.003_130_8 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            return Int32((level * 255 * 256).rounded())
        })
    }

    /// - Parameter row: of the picture; the grain depends on the place in it.
    func encode(
        _ line: UnsafeMutableBufferPointer<LinearColor>, row: Int, into pixels: UnsafeMutableBufferPointer<UInt32>
    ) {
        let start = UInt32(truncatingIfNeeded: row) &* 0x85EB_CA77
        for column in 0..<line.count {
            // The low bits of a product are worse than the high ones.
            var hash = UInt32(truncatingIfNeeded: column) &* 0x9E37_79B1 ^ start
            hash = (hash ^ (hash >> 15)) &* 0x2C1B_3C6D
            let noise = ((Int32(bitPattern: hash) >> 16) &* Self.grain) >> 15
            let color = line[column]
            pixels[column] = channel(color.x, noise) << 16 | channel(color.y, noise) << 8 | channel(color.z, noise)
        }
    }

    @inline(__always)
    private func channel(_ light: Float, _ noise: Int32) -> UInt32 {
        let index = min(max(Self.index(light), Self.darkest), Self.brightest)
        return UInt32(bitPattern: min(max(levels[Int(index &- Self.darkest)] &+ noise &+ 128, 0), 0xFFFF) >> 8)
    }

    /// The bits of a Float that are not looked at.
    private static let unused: UInt32 = 14

    /// - Parameter light: not negative, so that bits have the order of numbers.
    @inline(__always)
    private static func index(_ light: Float) -> UInt32 { light.bitPattern >> unused }
}
