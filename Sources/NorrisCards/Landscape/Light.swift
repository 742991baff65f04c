import Glibc

/// Linear light: red, green and blue of sRGB before its transfer function, in which colors may be added and multiplied.
/// The fourth number is unused.
typealias LinearColor = SIMD4<Float>

extension LinearColor {
    /// WCAG 2.2, "relative luminance".
    var luminance: Float { 0.2126 * x + 0.7152 * y + 0.0722 * z }

    /// This color mixed with a part, from 0 to 1, of another color.
    @inline(__always) func mixed(_ other: LinearColor, _ part: Float) -> LinearColor { self + (other - self) * part }
}

/// A perceptual color, whose mixtures are clear: OKLab (Björn Ottosson, "A perceptual color space for image
/// processing", 2020).
///
/// The direction of (a, b) is the hue: 30° is red, 110° yellow, 145° green, 265° blue. Its length is the chroma: 0 is
/// gray, 0.1 a saturated color of a painting, 0.3 the color of a lamp.
struct Tone: Equatable {
    /// 0 (black) to 1 (white).
    var lightness: Float
    var a: Float
    var b: Float

    /// The color as light, with as much chroma as sRGB can represent.
    var light: LinearColor {
        for step in 0...32 {
            let color = light(chroma: 1 - Float(step) / 32)
            if color.min() >= 0, color.max() <= 1 { return color }
        }
        return lightness > 0.5 ? LinearColor(1, 1, 1, 0) : .zero
    }

    /// - Parameter chroma: the remaining part of the chroma, from 0 to 1.
    private func light(chroma: Float) -> LinearColor {
        let (a, b) = (a * chroma, b * chroma)
        func cube(_ value: Float) -> Float { value * value * value }
        let long = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b)
        let medium = cube(lightness - 0.105_561_35 * a - 0.063_854_17 * b)
        let short = cube(lightness - 0.089_484_18 * a - 1.291_485_55 * b)
        return LinearColor(
            4.076_741_66 * long - 3.307_711_59 * medium + 0.230_969_93 * short,
            -1.268_438_00 * long + 2.609_757_40 * medium - 0.341_319_40 * short,
            -0.004_196_09 * long - 0.703_418_61 * medium + 1.707_614_70 * short, 0)
    }
}

/// Converts light to pixels: sRGB with 8 bits a channel, and fine grain, so that gradients show no steps.
struct PixelEncoder {
    /// Levels of sRGB (IEC 61966-2-1) in parts of 256, by exponent and upper nine bits of the light as a Float: steps
    /// of a quarter of a level at most.
    private let levels: [Int32]

    /// The darkest light of the table, half a level, and the brightest.
    private static let darkest = index(0x1p-13)
    private static let brightest = index(1)
    /// The lowest bits of a Float, which are ignored.
    private static let unused: UInt32 = 14
    /// The strength of the grain to each side, in parts of 256 of a level.
    private static let grain: Int32 = 192

    init() {
        levels = (Self.darkest...Self.brightest).map { index in
            let light = Double(Float(bitPattern: index << Self.unused))
            let level = light <= 0.003_130_8 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            return Int32((level * 255 * 256).rounded())
        }
    }

    /// - Parameter row: the row in the picture, because the grain depends on the position.
    func encode(
        _ line: UnsafeMutableBufferPointer<LinearColor>, row: Int, into pixels: UnsafeMutableBufferPointer<UInt32>
    ) {
        let start = UInt32(truncatingIfNeeded: row) &* 0x85EB_CA77
        for column in 0..<line.count {
            // The high bits of a product are better than the low bits.
            var hash = UInt32(truncatingIfNeeded: column) &* 0x9E37_79B1 ^ start
            hash = (hash ^ (hash >> 15)) &* 0x2C1B_3C6D
            let noise = ((Int32(bitPattern: hash) >> 16) &* Self.grain) >> 15
            let color = line[column]
            pixels[column] = channel(color.x, noise) << 16 | channel(color.y, noise) << 8 | channel(color.z, noise)
        }
    }

    @inline(__always) private func channel(_ light: Float, _ noise: Int32) -> UInt32 {
        let index = min(max(Self.index(light), Self.darkest), Self.brightest)
        return UInt32(bitPattern: min(max(levels[Int(index &- Self.darkest)] &+ noise &+ 128, 0), 0xFFFF) >> 8)
    }

    /// - Parameter light: not negative, so that the bits have the order of the numbers.
    @inline(__always) private static func index(_ light: Float) -> UInt32 { light.bitPattern >> unused }
}
