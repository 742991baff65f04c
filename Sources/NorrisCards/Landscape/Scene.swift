import NorrisArguments
import NorrisSystem

typealias Scene = CardArguments.Scene

extension Scene {
    /// - Parameter look: the number of the look; consecutive looks have different scenes.
    init(seed: UInt64, look: Int = 0) {
        var random = SeededRandom(seed: seed, thing: .scene)
        let count = UInt64(Scene.allCases.count)
        self = Scene.allCases[Int((random.next() % count + UInt64(look) % count) % count)]
    }

    /// A description as a part of a sentence.
    var description: String { look.words }
    /// The part below the horizon of a square picture.
    var below: ClosedRange<Float> { look.below }
    /// Whether there is water below the horizon; otherwise the nearest range extends to the lower edge.
    var hasWater: Bool { look.hasWater }
    /// The probability of conifers on the near bank, 0 to 1.
    var foreground: Float { look.foreground }
    /// The suitable hours.
    var hours: [Hour] { Hour.allCases.filter { !look.without.contains($0) } }
    /// The height of trees, relative to trees at a lake.
    var treeHeight: Float { self == .forest ? 2.4 : 1 }
    /// Whether the ground is bare, so that the nearest range has light and shade, and no mist.
    var isBare: Bool { self == .desert || self == .snow }

    private var look: (words: String, below: ClosedRange<Float>, hasWater: Bool, foreground: Float, without: Set<Hour>)
    {
        switch self {
        case .lake: ("mountains above a lake", 0.25...0.30, true, 0.65, [])
        case .desert: ("dunes and table mountains", 0.28...0.34, false, 0, [.blueHour])
        case .sea: ("cliffs by the sea", 0.28...0.34, true, 0, [])
        case .forest: ("a forest in the mist", 0.24...0.28, false, 0.8, [.night])
        case .city: ("a city by a river", 0.18...0.22, true, 0, [.dawn, .morning, .noon, .goldenHour])
        case .snow: ("mountains in the snow", 0.24...0.28, false, 0.5, [.noon, .goldenHour, .dusk])
        }
    }

    /// The color of near ground without shadow; `way` as in ``Palette/tone(_:_:way:)``, for warm hours.
    func soil(_ hour: Hour) -> (lightness: Float, chroma: Float, way: Float) {
        let light = hour.sky[0].lightness
        switch self {
        case .desert: return (0.19 + 0.5 * light, 0.065, 0.9)
        case .snow: return (0.50 + 0.75 * light, 0.045, 0.2)
        default: return (0.12 + 0.14 * light, 0.035, 0.1)
        }
    }

    /// The ranges, the farthest first.
    ///
    /// - Parameters:
    ///   - gap: the position of sun or moon.
    ///   - surplus: the height of the picture beyond a square, in widths, which adds foothills at a lake.
    func ridges(gap: Float, surplus: Float, seed: UInt64) -> [Ridge] {
        var random = SeededRandom(seed: seed, thing: .ranges)
        let away: Float = gap < 0.5 ? 1 : -1
        /// - Parameters:
        ///   - aside: the distance of the middle from the middle of the picture, away from sun or moon.
        ///   - side: -1 for a range at the side of sun or moon.
        ///   - widest: the largest spread; nil for `spread`.
        func ridge(
            _ kind: Ridge.Kind, _ foot: Float, _ rise: ClosedRange<Float>, _ aside: ClosedRange<Float>,
            side: Float = 1, _ spread: Float, widest: Float? = nil, _ frequency: ClosedRange<Float>
        ) -> Ridge {
            Ridge(
                kind: kind, foot: foot, rise: random.number(in: rise),
                middle: 0.5 + away * side * random.number(in: aside),
                spread: widest.map { random.number(in: spread...$0) } ?? spread,
                frequency: random.number(in: frequency), gap: gap, noise: random.noise())
        }
        switch self {
        case .lake:
            // A large range opposite the sun, spurs from both sides, and a forest at the shore.
            let lift = min(surplus, 2) * 0.06
            let farthest = Ridge(
                kind: .peaks, foot: 0.055 + lift, rise: random.number(in: 0.16...0.22), middle: 0.5 - away * 0.3,
                spread: 0.7, frequency: random.number(in: 3.5...5), gap: gap, noise: random.noise())
            var ranges = [
                farthest,
                ridge(.peaks, 0.040 + lift * 0.8, 0.27...0.35, 0.14...0.26, 0.20, widest: 0.28, 2.4...3.4),
                ridge(.peaks, 0.025 + lift * 0.5, 0.14...0.20, 0.40...0.55, side: -1, 0.22, 3...4.5),
                ridge(.hills, 0.016 + lift * 0.2, 0.07...0.10, 0.45...0.6, 0.24, 3...4),
                ridge(.forest, 0.004, 0.05...0.08, 0.5...0.65, side: -1, 0.22, 2.5...4),
                ridge(.forest, -0.004, 0.025...0.045, 0.45...0.55, 0.16, 2.5...4),
            ]
            for extra in 0..<min(Int(surplus * 2 + 0.25), 3) {
                let foot = 0.03 + lift * (0.75 - Float(extra + 1) / 4)
                let side: Float = extra % 2 == 0 ? 1 : -1
                ranges.insert(ridge(.hills, foot, 0.06...0.11, 0.35...0.6, side: side, 0.3, 2.5...4), at: 3 + extra)
            }
            return ranges
        case .desert:
            return [
                ridge(.mesa, -0.004, 0.05...0.09, -0.4...0, 0.5, 4...6),
                ridge(.mesa, -0.012, 0.13...0.2, 0...0.3, 0.3, 2.4...3.4),
                ridge(.dunes, -0.05, 0.06...0.08, -0.4...0.4, 0.8, 3.5...4.5),
                ridge(.dunes, -0.13, 0.10...0.13, -0.5...0, 0.7, 2...2.6),
                ridge(.dunes, -0.27, 0.20...0.25, 0.1...0.5, 0.8, 1.1...1.5),
            ]
        case .sea:
            return [
                ridge(.hills, -0.012, 0.05...0.07, -0.7 ... -0.5, 0.3, 2...4),
                ridge(.peaks, -0.02, 0.12...0.16, 0.45...0.6, 0.2, 2...4),
                ridge(.cliff, -0.03, 0.34...0.46, 0.25...0.34, away, 6...9),
            ]
        case .forest:
            return [
                ridge(.peaks, 0.05, 0.14...0.22, -0.2...0.3, 0.4, 2...3.5),
                ridge(.forest, 0.05, 0.06...0.10, -0.5 ... -0.2, 0.6, 2...3),
                ridge(.forest, 0.01, 0.08...0.12, 0.2...0.5, 0.5, 1.6...2.4),
                ridge(.forest, -0.06, 0.08...0.12, -0.5 ... -0.3, 0.5, 1.6...2.4),
                ridge(.forest, -0.14, 0.08...0.12, 0.3...0.5, 0.6, 1.4...2),
                ridge(.forest, -0.24, 0.06...0.10, -0.4...0, 0.6, 1.4...2),
            ]
        case .city:
            return [
                ridge(.towers, 0.03, 0.12...0.17, -0.1...0.2, 0.5, 17...21),
                ridge(.towers, 0.02, 0.19...0.25, 0.1...0.25, 0.3, 13...16),
                ridge(.towers, 0.012, 0.24...0.32, 0.2...0.35, 0.17, 9...11),
            ]
        case .snow:
            return [
                ridge(.peaks, 0.05, 0.17...0.22, -0.3 ... -0.1, 0.7, 3.5...5),
                ridge(.peaks, 0.02, 0.30...0.40, 0.15...0.28, 0.26, 2...2.8),
                ridge(.hills, -0.02, 0.06...0.09, -0.5...0, 0.4, 2...3),
                ridge(.forest, -0.06, 0.05...0.07, 0.3...0.6, 0.4, 2...3),
                ridge(.hills, -0.10, 0.07...0.10, -0.5 ... -0.2, 0.5, 1.2...1.8),
                ridge(.hills, -0.27, 0.12...0.16, 0.1...0.5, 0.6, 0.8...1.2),
            ]
        }
    }
}

/// The lit windows of towers, in a grid.
struct Windows {
    /// The distance of two windows, and the part of a window in it; in widths.
    private static let pitch = SIMD2<Float>(0.0074, 0.0105)
    private static let size: Float = 0.5
    /// The distance from a roof to the first windows, in widths.
    private static let roof: Float = 0.006

    /// For each column and row of pixels the part with windows, 0 to 1.
    private let columns: [Float]
    private let rows: [Float]
    /// The brightness of the window in each cell of the grid.
    private let lights: [Float]
    private let cells: Int
    private let unit: Float
    private let color: LinearColor

    /// - Parameter edges: the edge of the towers, a row for each column.
    init(edges: [Float], ground: Ground, palette: Palette, random: inout SeededRandom) {
        unit = Float(ground.width)
        let pitch = Self.pitch * unit
        func covers(_ count: Int, _ pitch: Float) -> [Float] {
            (0..<count).map { index in
                let start = (Float(index) / pitch).rounded(.down) * pitch
                return max(min(Float(index) + 1, start + pitch * Self.size) - max(Float(index), start), 0)
            }
        }
        let wall = Int(pitch.x * Self.size + 1.5)
        columns = covers(ground.width, pitch.x).enumerated().map { column, cover in
            // Near the edge of a tower there is wall.
            let near = edges[max(column - wall, 0)...min(column + wall, ground.width - 1)]
            return near.allSatisfy { $0 == edges[column] } ? cover : 0
        }
        rows = covers(ground.landRows, pitch.y)
        let cells = Int(unit / pitch.x) + 2
        self.cells = cells
        let noise = random.noise()
        lights = (0..<cells * (Int(Float(ground.landRows) / pitch.y) + 2)).map { cell in
            let (x, y) = (Float(cell % cells), Float(cell / cells))
            // Some floors and some houses are brighter than others.
            let chance = noise.value(x, y) + 0.5 * noise.value(x * 0.21 + 70, y * 0.35)
            return chance > 0.25 ? 0.25 + 0.75 * min(chance - 0.25, 1) : 0
        }
        color = palette.tone(0.80, 0.10, way: 1).light.mixed(LinearColor(1, 0.62, 0.25, 0), 0.5) * 0.8
    }

    /// - Parameter below: the distance from the edge of the tower, in rows.
    @inline(__always) func light(column: Int, row: Int, below: Float) -> LinearColor {
        let cover = columns[column] * rows[row]
        guard cover > 0, below > Self.roof * unit else { return .zero }
        let x = Int(Float(column) / (Self.pitch.x * unit))
        return color * (cover * lights[Int(Float(row) / (Self.pitch.y * unit)) &* cells &+ x])
    }
}
