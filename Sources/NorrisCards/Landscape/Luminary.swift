/// Sun or moon, whichever stands in the sky.
struct Luminary {
    enum Kind: Equatable {
        case sun

        /// - Parameter terminator: where the shadow ends on the axis of the disc: 1 is new moon, 0 half, -1 full.
        case moon(terminator: Float)
    }

    let kind: Kind

    /// Of the middle, in widths from the left edge and above the horizon.
    var x: Float
    var elevation: Float

    /// Whether the disc is seen, not only its light.
    var isVisible = true

    /// In widths.
    let radius: Float

    /// Light of the disc, and of the three parts of its glow from the inner to the wide one.
    let color: LinearColor
    let glow: (LinearColor, LinearColor, LinearColor)

    /// How far the middle stands above the skyline, in radii: where it is near 0, the sun rises or sets.
    var clearance: Float

    private let isRising: Bool

    init(hour: Hour, palette: Palette, random: inout SeededRandom) {
        let isLeft = random.next() % 2 == 0
        let third = random.number(in: 0.29...0.37)
        x = isLeft ? third : 1 - third
        elevation = 0
        isRising = hour == .dawn
        let chance = random.number(in: 0...1)
        switch hour {
        case .night: kind = .moon(terminator: [0.62, 0.05, -1][Int(chance * 2.99)])
        case .blueHour: kind = .moon(terminator: chance < 0.5 ? -1 : 0.55)
        case .afterglow: kind = .moon(terminator: 0.66)
        case .dawn, .morning, .noon, .goldenHour, .dusk: kind = .sun
        }
        func tone(_ lightness: Float, _ chroma: Float) -> LinearColor {
            palette.tone(lightness, chroma, way: hour.warmth).light
        }
        switch hour {
        case .night, .blueHour, .afterglow:
            radius = random.number(in: 0.028...0.036)
            color = tone(0.95, 0.025)
            glow = (tone(0.62, 0.05) * 0.35, tone(0.55, 0.07) * 0.20, tone(0.5, 0.10) * 0.14)
            clearance = random.number(in: 1.8...3.2)
        case .dawn, .dusk:
            radius = random.number(in: 0.050...0.062)
            color = tone(0.93, 0.09)
            glow = (tone(0.85, 0.13) * 0.40, tone(0.75, 0.16) * 0.34, tone(0.66, 0.16) * 0.18)
            clearance = chance < 0.7 ? 0.1 : 1.3
        case .morning, .noon, .goldenHour:
            radius = random.number(in: 0.038...0.050)
            color = tone(0.97, 0.05)
            glow = (tone(0.90, 0.09) * 0.40, tone(0.82, 0.11) * 0.30, tone(0.74, 0.11) * 0.12)
            clearance = random.number(in: 1.2...1.7)
        }
    }

    /// As part of a sentence, behind a comma; empty where there is no disc.
    var description: String {
        guard isVisible else { return "" }
        return ", " + appearance
    }

    private var appearance: String {
        switch kind {
        case .sun where clearance < 1: isRising ? "before the rising sun" : "before the setting sun"
        case .sun: elevation > 0.4 ? "under a high sun" : "under a low sun"
        case .moon(let terminator) where terminator > 0.3: "under a crescent moon"
        case .moon(let terminator) where terminator > -0.3: "under a half moon"
        case .moon: "under a full moon"
        }
    }

    /// How much of the light of the disc comes from a place on it, 0 to 1.
    ///
    /// - Parameters:
    ///   - place: from the middle, in radii; y goes downward.
    ///   - noise: of the dark plains of the moon.
    func brightness(at place: SIMD2<Float>, noise: Noise) -> Float {
        guard case .moon(let terminator) = kind else { return 1 }
        // The lit side looks down to where the sun is, away from the nearer edge of the picture.
        let side: Float = x < 0.5 ? 1 : -1
        let along = place.x * side * 0.86 + place.y * 0.5
        let across = place.y * 0.86 - place.x * side * 0.5
        let edge = terminator * max(1 - across * across, 0).squareRoot()
        let part = terminator <= -1 ? 1 : min(max((along - edge) / 0.16 + 0.5, 0), 1)
        let plains = 1 - 0.16 * max(noise.value(place.x * 2.2 + 5, place.y * 2.2), 0)
        return 0.006 + 0.994 * part * plains
    }
}
