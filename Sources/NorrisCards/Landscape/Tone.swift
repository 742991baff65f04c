/// A colour as the eye orders it, so that what lies between two of them is not muddy: OKLab (Björn Ottosson,
/// "A perceptual color space for image processing", 2020).
///
/// The direction of (a, b) is the hue: 30° is red, 110° yellow, 145° green, 265° blue. Its length is the chroma: 0 is
/// grey, 0.1 a full colour of a painting, 0.3 that of a lamp.
struct Tone: Equatable {
    /// 0 (black) to 1 (white).
    var lightness: Float
    var a: Float
    var b: Float

    /// As light, with as much of the chroma as sRGB can show.
    var light: LinearColor {
        for step in 0...32 {
            let color = light(kept: 1 - Float(step) / 32)
            if color.x >= 0, color.y >= 0, color.z >= 0, color.x <= 1, color.y <= 1, color.z <= 1 { return color }
        }
        return lightness > 0.5 ? LinearColor(1, 1, 1, 0) : .zero
    }

    private func light(kept: Float) -> LinearColor {
        let (a, b) = (a * kept, b * kept)
        let long = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b)
        let medium = cube(lightness - 0.105_561_35 * a - 0.063_854_17 * b)
        let short = cube(lightness - 0.089_484_18 * a - 1.291_485_55 * b)
        return LinearColor(
            4.076_741_66 * long - 3.307_711_59 * medium + 0.230_969_93 * short,
            -1.268_438_00 * long + 2.609_757_40 * medium - 0.341_319_40 * short,
            -0.004_196_09 * long - 0.703_418_61 * medium + 1.707_614_70 * short,
            0
        )
    }

    private func cube(_ value: Float) -> Float { value * value * value }
}
