/// The ranges above the water, the farthest first: their edges in every column and their colours in every row.
struct Terrain {
    private let width: Int
    private let landRows: Int
    private let ranges: Int

    /// For each range and column.
    private let points: Table<RangePoint>

    /// For each column the row above which there is only sky.
    let skyline: Table<Float>

    /// The row above which there is only sky in all columns.
    let top: Int

    /// For each range and row, with the mist at its foot.
    private let colors: Table<LinearColor>

    /// For each range: what the sun adds where the slope is turned to it.
    private let slopeLight: Table<LinearColor>

    /// For each row below an edge.
    private let depths: Table<SlopeDepth>

    init(
        ground: Ground, ridges: [Ridge], hour: Hour, palette: Palette, sky: SkyGradient, luminary: Luminary,
        seed: UInt64
    ) {
        width = ground.width
        landRows = ground.landRows
        ranges = ridges.count
        var points: [RangePoint] = []
        var colors: [LinearColor] = []
        var slopeLight: [LinearColor] = []
        var skyline = [Float](repeating: ground.horizon, count: width)
        for (index, ridge) in ridges.enumerated() {
            var random = SeededRandom(seed: seed, thing: .forest(ridges.count - index))
            let nearness = Float(index) / Float(ridges.count - 1)
            let line = RangePoint.line(
                of: ridge, trees: 0.006...(0.012 + 0.030 * nearness * nearness), ground: ground, luminary: luminary,
                random: &random)
            for column in 0..<width {
                skyline[column] = min(skyline[column], line[column].edge - 0.5 / line[column].sharpness)
            }
            points += line
            let paint = RangePaint(nearness: nearness, hour: hour, palette: palette, sky: sky)
            colors += (0..<landRows).map { paint.color(height: ridge.height(of: ground.elevation(row: $0))) }
            slopeLight.append(ridge.kind == .forest ? .zero : paint.slopeLight)
        }
        self.points = Table(points)
        self.colors = Table(colors)
        self.slopeLight = Table(slopeLight)
        self.skyline = Table(skyline)
        top = Int(skyline.min() ?? ground.horizon)
        var random = SeededRandom(seed: seed, thing: .slopes)
        depths = Table(SlopeDepth.rows(landRows, unit: Float(width), noise: random.noise()))
    }

    /// Paints a row above the water.
    func paint(row: Int, sky: Sky, into line: UnsafeMutableBufferPointer<LinearColor>) {
        sky.paint(row: row, into: line)
        let y = Float(row) + 0.5
        for column in 0..<width where y > skyline[column] {
            line[column] = color(column: column, row: row, y: y, behind: line[column])
        }
    }

    /// The light from a place on land or in the sky, without sun and moon.
    @inline(__always)
    func color(column: Int, row: Int, y: Float, sky: Sky) -> LinearColor {
        let color = sky.color(column: column, row: row)
        return y > skyline[column] ? self.color(column: column, row: row, y: y, behind: color) : color
    }

    /// From the nearest range to the farthest, until nothing is left to be seen.
    @inline(__always)
    private func color(column: Int, row: Int, y: Float, behind sky: LinearColor) -> LinearColor {
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
                sum += color * (rest * cover)
                rest *= 1 - cover
                if rest < 0.004 { return sum }
            }
            range &-= 1
        }
        return sum + sky * rest
    }
}
