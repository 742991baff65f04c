import NorrisSystem

/// The sun or the moon.
struct Luminary {
    enum Kind: Equatable {
        case sun

        /// - Parameter terminator: the end of the shadow on the axis of the disc: 1 is new moon, 0 half moon, -1 full
        ///   moon.
        case moon(terminator: Float)
    }

    let kind: Kind
    /// The position of the center, in widths from the left edge and above the horizon.
    var x: Float
    var elevation: Float
    /// Whether the disc is visible, not only its light.
    private(set) var isVisible = true
    /// The radius in widths.
    let radius: Float
    /// The light of the disc, and of the three parts of its glow, from the inside to the outside.
    let color: LinearColor
    private(set) var glow: (LinearColor, LinearColor, LinearColor)
    /// The height of the center above the skyline, in radii; near 0 during sunrise and sunset.
    var clearance: Float
    private let isRising: Bool

    init(hour: Hour, palette: Palette, random: inout SeededRandom) {
        let isLeft = random.next() % 2 == 0
        let third = random.number(in: 0.29...0.37)
        x = isLeft ? third : 1 - third
        elevation = 0
        isRising = hour == .dawn || hour == .morning
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

    /// Removes the disc, and the glow that would show its position.
    mutating func hide() {
        isVisible = false
        glow = (.zero, glow.1 * 0.3, glow.2)
    }

    /// A part of a sentence after a comma; empty without a disc.
    var description: String {
        switch kind {
        case _ where !isVisible: ""
        case .sun where clearance < 1: isRising ? ", before the rising sun" : ", before the setting sun"
        case .sun: elevation > 0.4 ? ", under a high sun" : ", under a low sun"
        case .moon(let terminator) where terminator > 0.3: ", under a crescent moon"
        case .moon(let terminator) where terminator > -0.3: ", under a half moon"
        case .moon: ", under a full moon"
        }
    }

    /// The brightness of the disc at a point, from 0 to 1.
    ///
    /// - Parameter point: from the center, in radii; y increases downward.
    func brightness(at point: SIMD2<Float>, noise: Noise) -> Float {
        guard case .moon(let terminator) = kind else { return 1 }
        // The lit side faces the sun, away from the nearer edge of the picture.
        let side: Float = x < 0.5 ? 1 : -1
        let along = point.x * side * 0.86 + point.y * 0.5
        let across = point.y * 0.86 - point.x * side * 0.5
        let edge = terminator * max(1 - across * across, 0).squareRoot()
        let part = terminator <= -1 ? 1 : min(max((along - edge) / 0.16 + 0.5, 0), 1)
        let plains = 1 - 0.16 * max(noise.value(point.x * 2.2 + 5, point.y * 2.2), 0)
        return 0.006 + 0.994 * part * plains
    }
}

/// The disc of sun or moon and its surroundings, in pixels.
struct Halo {
    /// The outer radius, in radii of the disc.
    static let reach: Float = 1.6

    let rows: Range<Int>
    private let middle: SIMD2<Float>
    private let radius: Float

    /// nil if no disc is visible.
    init?(_ luminary: Luminary, ground: Ground) {
        guard luminary.isVisible else { return nil }
        middle = SIMD2(luminary.x * Float(ground.width), ground.row(elevation: luminary.elevation))
        radius = luminary.radius * Float(ground.width)
        rows = Int(middle.y - radius * Halo.reach)..<Int(middle.y + radius * Halo.reach) + 1
    }

    /// 1 on the disc, decreasing to 0 at the outer edge.
    func share(column: Int, row: Int) -> Float {
        let offset = SIMD2(Float(column), Float(row)) + 0.5 - middle
        let distance = (offset * offset).sum().squareRoot() / radius
        return min(max((Halo.reach - distance) / (Halo.reach - 1), 0), 1)
    }
}

/// The position of sun or moon, and the mountains, which have a gap at the position.
///
/// Behind letters a disc would be dimmed to a stain. Therefore the disc is moved to a visible position: beside the
/// letters, down to the mountains, or above the letters. Without such a position only its light remains.
struct LuminaryPlacement {
    private(set) var luminary: Luminary
    let ridges: [Ridge]

    /// - Parameter ranges: returns the mountains with a gap at a position.
    init(of wanted: Luminary, hour: Hour, ground: Ground, letters: Rectangle?, ranges: (_ gap: Float) -> [Ridge]) {
        self.init(wanted, x: wanted.x, clearance: wanted.clearance, ranges)
        guard let letters else { return }
        let unit = Float(ground.width)
        let left = Float(letters.x) / unit
        let right = Float(letters.x + letters.width) / unit
        let top = ground.elevation(row: letters.y)
        let bottom = ground.elevation(row: letters.y + letters.height)
        let reach = wanted.radius * Halo.reach
        // Closer to a line, the disc would look like a full stop.
        let aside = max(wanted.radius + 0.06, reach)
        let apart = max(wanted.radius + 0.045, reach)

        func isFree(_ luminary: Luminary) -> Bool {
            luminary.x + aside < left || luminary.x - aside > right
                || luminary.elevation + apart < bottom || luminary.elevation - apart > top
        }
        if isFree(luminary) { return }
        // Beside the letters, first on the original side.
        let sides = [left - aside * 1.05, right + aside * 1.05].filter { (reach...1 - reach).contains($0) }
        var attempts = (wanted.x < 0.5 ? sides : sides.reversed()).map { (x: $0, clearance: wanted.clearance) }
        // A low sun may set.
        if wanted.kind == .sun, hour != .noon { attempts.append((wanted.x, 0.1)) }
        for (x, clearance) in attempts {
            let attempt = LuminaryPlacement(wanted, x: x, clearance: clearance, ranges)
            guard isFree(attempt.luminary) else { continue }
            self = attempt
            return
        }
        // Sun and moon are high at noon and at night.
        let sky = ground.horizon / unit
        var high = luminary
        high.elevation = (top + sky) / 2
        if wanted.kind != .sun || hour == .noon, isFree(high), high.elevation + reach < sky {
            luminary = high
        } else {
            luminary.hide()
        }
    }

    /// - Parameter clearance: the height above the skyline; near 0 the disc is partly hidden.
    private init(_ luminary: Luminary, x: Float, clearance: Float, _ ranges: (_ gap: Float) -> [Ridge]) {
        self.luminary = luminary
        ridges = ranges(x)
        self.luminary.x = x
        self.luminary.clearance = clearance
        self.luminary.elevation =
            luminary.radius * clearance + Ridge.summit(ridges, from: x - luminary.radius, to: x + luminary.radius)
    }
}
