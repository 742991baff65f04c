import NorrisArguments
import NorrisSystem

/// The ranges above the water or down to the lower edge, the farthest first, with their edges in every column and their
/// colors in every row.
struct Terrain {
    private let width: Int
    private let landRows: Int
    private let ranges: Int
    /// Indexed by range and column.
    private let points: [RangePoint]
    /// For each column the first row with land.
    let skyline: [Float]
    /// Indexed by range and row, with the mist at the foot.
    private let colors: [LinearColor]
    /// For each range the sunlight on slopes that face the sun.
    private let slopeLight: [LinearColor]
    /// Indexed by the rows below an edge.
    private let depths: [SlopeDepth]
    /// The windows of the nearest range; nil without windows.
    private let windows: Windows?

    init(
        ground: Ground, scene: Scene, ridges: [Ridge], hour: Hour, palette: Palette, sky: SkyGradient,
        luminary: Luminary, seed: UInt64
    ) {
        width = ground.width
        landRows = ground.landRows
        ranges = ridges.count
        var points: [RangePoint] = []
        var colors: [LinearColor] = []
        var slopeLight: [LinearColor] = []
        var skyline = [Float](repeating: ground.horizon, count: width)
        for (index, ridge) in ridges.enumerated() {
            var random = SeededRandom(seed: seed, thing: .forest, number: ridges.count - index)
            let nearness = Float(index) / Float(ridges.count - 1)
            let tallest = ridge.tallestTree(nearness: nearness, scene)
            let line = RangePoint.line(
                of: ridge, trees: min(0.006, tallest)...tallest, ground: ground, luminary: luminary, random: &random)
            for column in 0..<width {
                skyline[column] = min(skyline[column], line[column].edge - 0.5 / line[column].sharpness)
            }
            points += line
            let paint = RangePaint(
                nearness: nearness, kind: ridge.kind, scene: scene, hour: hour, palette: palette, sky: sky)
            colors += (0..<landRows).map { paint.color(height: ridge.height(of: ground.elevation(row: $0))) }
            slopeLight.append(ridge.kind.isOutline ? .zero : paint.slopeLight)
        }
        self.points = points
        self.colors = colors
        self.slopeLight = slopeLight
        self.skyline = skyline
        var random = SeededRandom(seed: seed, thing: .windows)
        windows =
            scene != .city
            ? nil : Windows(edges: points.suffix(width).map(\.edge), ground: ground, palette: palette, random: &random)
        random = SeededRandom(seed: seed, thing: .slopes)
        depths = SlopeDepth.rows(landRows, unit: Float(width), noise: random.noise())
    }

    /// Paints a row above the water.
    func paint(row: Int, sky: Sky, into line: UnsafeMutableBufferPointer<LinearColor>) {
        sky.paint(row: row, into: line)
        let y = Float(row) + 0.5
        for column in 0..<width where y > skyline[column] {
            line[column] = color(column: column, row: row, y: y, behind: line[column])
        }
    }

    /// The light from a point of land or sky, without sun and moon.
    @inline(__always) func color(column: Int, row: Int, y: Float, sky: Sky) -> LinearColor {
        let color = sky.color(column: column, row: row)
        return y > skyline[column] ? self.color(column: column, row: row, y: y, behind: color) : color
    }

    /// From the nearest range to the farthest, until the color is opaque.
    @inline(__always) private func color(column: Int, row: Int, y: Float, behind sky: LinearColor) -> LinearColor {
        var sum = LinearColor.zero
        var rest: Float = 1
        var range = ranges &- 1
        while range >= 0 {
            let point = points[range &* width &+ column]
            let below = y - point.edge
            let cover = min(below * point.sharpness + 0.5, 1)
            if cover > 0 {
                var color = colors[range &* landRows &+ row]
                // An edge can be above the picture.
                let depth = depths[min(max(Int(below), 0), landRows)]
                if depth.light > 0 {
                    let turned = column &+ depth.wander &+ Int(point.flank * below)
                    let slope = points[range &* width &+ min(max(turned, 0), width &- 1)]
                    let lit = slope.broad + (slope.fine - slope.broad) * depth.detail
                    color += slopeLight[range] * (lit * depth.light)
                }
                if let windows, range == ranges &- 1 { color += windows.light(column: column, row: row, below: below) }
                sum += color * (rest * cover)
                rest *= 1 - cover
                if rest < 0.004 { return sum }
            }
            range &-= 1
        }
        return sum + sky * rest
    }
}

/// The colors of one range: far ranges have the color of the sky above the horizon, and near ranges are dark.
struct RangePaint {
    private let summit: LinearColor
    private let mist: LinearColor
    private let mistiness: Float
    /// The sunlight on slopes that face the sun.
    let slopeLight: LinearColor

    /// - Parameter nearness: 0 (the farthest) to 1.
    init(nearness: Float, kind: Ridge.Kind, scene: Scene, hour: Hour, palette: Palette, sky: SkyGradient) {
        let far = sky.level(elevation: 0.16)
        let haze = sky.level(elevation: 0.06)
        let near = (kind.isOutline ? .forest : scene).soil(hour)
        // Snow is bright at any distance.
        let share = scene == .snow ? 0.55 + 0.45 * nearness : nearness.squareRoot()
        let lightness = far.lightness * 0.96 + (near.lightness - far.lightness * 0.96) * share
        let chroma = far.chroma * 0.9 + (near.chroma - far.chroma * 0.9) * nearness
        summit = palette.tone(lightness, chroma, way: (0.62 + (near.way - 0.62) * nearness) * hour.warmth).light
        mist =
            palette.tone(
                haze.lightness * (0.99 - 0.22 * nearness), haze.chroma * 0.85,
                way: (0.85 - 0.35 * nearness) * hour.warmth
            ).light
        mistiness = scene.isBare ? 0.85 * (1 - nearness) : 0.90 - 0.55 * nearness
        let relief = scene.isBare ? (kind == .peaks ? 1.3 : 0.3) : 0.9 * (1 - nearness) * (0.22 + nearness)
        slopeLight = sky.tone(elevation: 0).light * relief
    }

    /// - Parameter height: 0 at the foot, 1 at the summit.
    func color(height: Float) -> LinearColor {
        let depth = 1 - min(max(height, 0), 1)
        return summit.mixed(mist, mistiness * depth * depth)
    }
}

/// A column of a range of mountains.
struct RangePoint: BitwiseCopyable {
    /// The first row of the land.
    let edge: Float
    /// 1 divided by the number of rows over which the edge is soft, which is greater for a steep edge.
    let sharpness: Float
    /// The columns by which a gully approaches the summit in a row.
    let flank: Float
    /// The part of the light on the slope, 0 to 1: of a single rock, and of the whole flank.
    let fine: Float
    let broad: Float

    /// The columns of a range.
    ///
    /// - Parameter trees: the heights of the trees, in widths.
    static func line(
        of ridge: Ridge, trees: ClosedRange<Float>, ground: Ground, luminary: Luminary, random: inout SeededRandom
    ) -> [RangePoint] {
        var elevations = (0..<ground.width).map { ridge.elevation(ground.position(column: $0)) }
        if ridge.kind == .forest { Conifers.grow(on: &elevations, heights: trees, random: &random) }
        let rows = elevations.map { ground.row(elevation: $0) }
        // Walls are between two columns.
        let sharpness = ridge.kind == .towers ? rows.map { _ in 1 } : sharpness(of: rows)
        return rows.indices.map { column in
            guard !ridge.kind.isOutline else {
                return RangePoint(edge: rows[column], sharpness: sharpness[column], flank: 0, fine: 0, broad: 0)
            }
            let x = ground.position(column: column)
            // Without a step below sun or moon.
            let towardLight = min(max((luminary.x - x) / 0.1, -1), 1)
            let fine = (ridge.elevation(x - 0.004) - ridge.elevation(x + 0.004)) / 0.008
            let broad = (ridge.elevation(x - 0.03) - ridge.elevation(x + 0.03)) / 0.06
            return RangePoint(
                edge: rows[column], sharpness: sharpness[column], flank: min(max(broad * -2.5, -0.7), 0.7),
                fine: min(max((fine * 0.5 + broad * 0.6) * towardLight, 0), 1),
                broad: min(max(broad * 0.9 * towardLight, 0), 1))
        }
    }

    /// For each column of an edge 1 divided by the number of rows over which the edge is soft.
    static func sharpness(of rows: [Float]) -> [Float] {
        rows.indices.map { column in
            1 / max(abs(rows[max(column - 1, 0)] - rows[min(column + 1, rows.count - 1)]) / 2, 1)
        }
    }
}

/// The light on a slope in a row below the edge.
struct SlopeDepth: BitwiseCopyable {
    /// The remaining light, 0 to 1.
    let light: Float
    /// The remaining detail of single rocks, 0 to 1.
    let detail: Float
    /// The shift of the border between light and shade, in columns.
    let wander: Int

    /// - Parameter unit: the pixels in a width.
    static func rows(_ count: Int, unit: Float, noise: Noise) -> [SlopeDepth] {
        (0...count).map { row in
            let depth = Float(row) / unit
            let light = max(1 - depth / 0.17, 0)
            let wander = noise.fractal(depth * 45, octaves: 4, roughness: 0.6) * depth * 0.3
            return SlopeDepth(
                light: light * light, detail: max(1 - depth / 0.06, 0.12), wander: Int((wander * unit).rounded()))
        }
    }
}
