import Glibc
import NorrisProtocol

/// The colours of a category: the way from the deep sky over a middle to the light.
struct Palette: Equatable {
    /// Hue in degrees and chroma, as parts of OKLab: a circle of radius 1 around grey.
    private let deep: SIMD2<Float>
    private let middle: SIMD2<Float>
    private let light: SIMD2<Float>

    /// - Parameters:
    ///   - deep: the hue of the upper sky, in degrees (see ``Tone``).
    ///   - pale: what is left of the chroma in the middle; little where the way would lead through green or grey.
    ///   - strength: of all chroma.
    private init(_ deep: Float, _ middle: Float, _ light: Float, pale: Float = 1, strength: Float = 1) {
        func place(_ hue: Float, _ chroma: Float) -> SIMD2<Float> {
            let angle = Double(hue) * .pi / 180
            return SIMD2(Float(cos(angle)), Float(sin(angle))) * chroma * strength
        }
        self.deep = place(deep, 1)
        self.middle = place(middle, pale)
        self.light = place(light, 1)
    }

    /// - Parameter seed: chooses where there is no category.
    init(category: String?, seed: UInt64) {
        let others = Self.others
        if let category {
            self = Self.named[category] ?? others[Int(stableHash(category) % UInt64(others.count))]
        } else {
            self = others[Int(seed % UInt64(others.count))]
        }
    }

    /// - Parameter way: from the deep (0) to the light (1) colour.
    func tone(_ lightness: Float, _ chroma: Float, way: Float) -> Tone {
        let place = way < 0.5 ? deep + (middle - deep) * way * 2 : middle + (light - middle) * (way * 2 - 1)
        return Tone(lightness: lightness, a: place.x * chroma, b: place.y * chroma)
    }

    /// Those of api.chucknorris.io.
    private static let named = [
        "animal": Palette(152, 112, 64, pale: 0.75),
        "career": Palette(255, 230, 75, pale: 0.6, strength: 0.8),
        "celebrity": Palette(316, 352, 52),
        "dev": Palette(228, 198, 165),
        "explicit": Palette(12, 22, 45, strength: 1.05),
        "fashion": Palette(298, 336, 18),
        "food": Palette(26, 44, 76),
        "history": Palette(55, 68, 85, strength: 0.62),
        "money": Palette(164, 145, 90, pale: 0.6),
        "movie": Palette(228, 200, 60, pale: 0.5),
        "music": Palette(286, 316, 350, strength: 1.1),
        "political": Palette(264, 320, 27, pale: 0.8),
        "religion": Palette(282, 325, 80, pale: 0.6),
        "science": Palette(244, 218, 192),
        "sport": Palette(248, 345, 52, pale: 0.85, strength: 1.1),
        "travel": Palette(210, 320, 38, pale: 0.5, strength: 1.1),
    ]

    /// For other categories and for none.
    private static let others = [
        Palette(262, 330, 55),
        Palette(250, 215, 78, pale: 0.5),
        Palette(286, 335, 38),
        Palette(206, 150, 66, pale: 0.35),
        Palette(272, 350, 68),
    ]
}
