import Glibc
import NorrisProtocol
import NorrisSystem

/// The colors of a category, from the deep sky over a middle color to the light.
struct Palette: Equatable {
    /// Hue in degrees and chroma, as positions in OKLab on a circle of radius 1 around gray.
    private let deep: SIMD2<Float>
    private let middle: SIMD2<Float>
    private let light: SIMD2<Float>

    /// - Parameters:
    ///   - deep: the hue of the upper sky in degrees (see ``Tone``).
    ///   - pale: the remaining chroma of the middle; low if the middle would be green or gray.
    ///   - strength: the part of all chroma.
    private init(_ deep: Float, _ middle: Float, _ light: Float, pale: Float = 1, strength: Float = 1) {
        func point(_ hue: Float, _ chroma: Float) -> SIMD2<Float> {
            let angle = Double(hue) * .pi / 180
            return SIMD2(Float(cos(angle)), Float(sin(angle))) * chroma * strength
        }
        self.deep = point(deep, 1)
        self.middle = point(middle, pale)
        self.light = point(light, 1)
    }

    /// - Parameter seed: chooses a palette without a category.
    init(category: String?, seed: UInt64) {
        let others = Self.others
        if let category {
            self = Self.named[category] ?? others[Int(stableHash(category) % UInt64(others.count))]
        } else {
            self = others[Int(seed % UInt64(others.count))]
        }
    }

    /// - Parameter way: from the deep color (0) to the light color (1).
    func tone(_ lightness: Float, _ chroma: Float, way: Float) -> Tone {
        let point = way < 0.5 ? deep + (middle - deep) * way * 2 : middle + (light - middle) * (way * 2 - 1)
        return Tone(lightness: lightness, a: point.x * chroma, b: point.y * chroma)
    }

    /// The palettes of api.chucknorris.io's categories.
    private static let named = [
        "animal": Palette(152, 112, 64, pale: 0.75), "career": Palette(255, 230, 75, pale: 0.6, strength: 0.8),
        "celebrity": Palette(316, 352, 52), "dev": Palette(228, 198, 165),
        "explicit": Palette(12, 22, 45, strength: 1.05), "fashion": Palette(298, 336, 18), "food": Palette(26, 44, 76),
        "history": Palette(55, 68, 85, strength: 0.62), "money": Palette(164, 145, 90, pale: 0.6),
        "movie": Palette(228, 200, 60, pale: 0.5), "music": Palette(286, 316, 350, strength: 1.1),
        "political": Palette(264, 320, 27, pale: 0.8), "religion": Palette(282, 325, 80, pale: 0.6),
        "science": Palette(244, 218, 192), "sport": Palette(248, 345, 52, pale: 0.85, strength: 1.1),
        "travel": Palette(210, 320, 38, pale: 0.5, strength: 1.1),
    ]

    /// The palettes of other categories, and without a category.
    private static let others = [
        Palette(262, 330, 55), Palette(250, 215, 78, pale: 0.5), Palette(286, 335, 38),
        Palette(206, 150, 66, pale: 0.35), Palette(272, 350, 68),
    ]
}

/// The time of day of a landscape.
enum Hour: CaseIterable {
    case night, blueHour, dawn, morning, noon, goldenHour, dusk, afterglow

    /// As part of a sentence.
    var description: String { look.words }
    /// The position of the lower sky between the deep color (0) and the light color (1) of a palette.
    var warmth: Float { look.warmth }
    /// The part of the stars that is visible, from 0 to 1.
    var stars: Float { look.stars }
    /// Lightness and chroma of the sky from the top to the horizon: OKLCh at five heights.
    ///
    /// The upper four are dark enough for white letters; only the last band above the mountains is bright.
    var sky: [(lightness: Float, chroma: Float)] { look.sky }

    private var look: (words: String, warmth: Float, stars: Float, sky: [(lightness: Float, chroma: Float)]) {
        switch self {
        case .night: ("at night", 0.30, 1, [(0.20, 0.046), (0.24, 0.058), (0.30, 0.068), (0.41, 0.072), (0.53, 0.066)])
        case .blueHour:
            (
                "in the blue hour", 0.50, 0.30,
                [(0.22, 0.070), (0.28, 0.085), (0.36, 0.094), (0.49, 0.088), (0.63, 0.072)]
            )
        case .dawn: ("at dawn", 1, 0, [(0.28, 0.060), (0.36, 0.075), (0.46, 0.088), (0.65, 0.095), (0.82, 0.085)])
        case .morning:
            ("in the morning", 0.88, 0, [(0.35, 0.075), (0.42, 0.082), (0.49, 0.080), (0.66, 0.064), (0.84, 0.050)])
        case .noon:
            (
                "in the haze of noon", 0.62, 0,
                [(0.39, 0.088), (0.45, 0.092), (0.50, 0.084), (0.65, 0.060), (0.82, 0.036)]
            )
        case .goldenHour:
            ("in the golden hour", 1, 0, [(0.31, 0.060), (0.38, 0.075), (0.47, 0.092), (0.66, 0.118), (0.83, 0.120)])
        case .dusk: ("at dusk", 1, 0.10, [(0.21, 0.070), (0.28, 0.086), (0.37, 0.106), (0.54, 0.128), (0.70, 0.132)])
        case .afterglow:
            ("in the afterglow", 1, 0.40, [(0.20, 0.060), (0.25, 0.074), (0.32, 0.092), (0.45, 0.118), (0.62, 0.138)])
        }
    }
}
