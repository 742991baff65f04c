/// A column of a range of mountains.
struct RangePoint: BitwiseCopyable {
    /// The row where it begins.
    let edge: Float

    /// 1 by the number of rows over which the edge is soft: more where it is steep.
    let sharpness: Float

    /// How many columns a gully comes nearer to the summit in a row.
    let flank: Float

    /// How much the slope is turned to the light, 0 to 1: of a single rock, and of the whole flank.
    let fine: Float
    let broad: Float

    /// The columns of a range.
    ///
    /// - Parameter trees: their heights, in widths.
    static func line(
        of ridge: Ridge, trees: ClosedRange<Float>, ground: Ground, luminary: Luminary, random: inout SeededRandom
    ) -> [RangePoint] {
        var elevations = (0..<ground.width).map { ridge.elevation(ground.position(column: $0)) }
        if ridge.kind == .forest {
            Conifers.grow(on: &elevations, heights: trees, random: &random)
        }
        let rows = elevations.map { ground.row(elevation: $0) }
        let sharpness = sharpness(of: rows)
        return rows.indices.map { column in
            guard ridge.kind != .forest else {
                return RangePoint(edge: rows[column], sharpness: sharpness[column], flank: 0, fine: 0, broad: 0)
            }
            let place = ground.position(column: column)
            let towardLight: Float = place < luminary.x ? 1 : -1
            let fine = (ridge.elevation(place - 0.004) - ridge.elevation(place + 0.004)) / 0.008
            let broad = (ridge.elevation(place - 0.03) - ridge.elevation(place + 0.03)) / 0.06
            return RangePoint(
                edge: rows[column], sharpness: sharpness[column], flank: min(max(broad * -2.5, -0.7), 0.7),
                fine: min(max((fine * 0.5 + broad * 0.6) * towardLight, 0), 1),
                broad: min(max(broad * 0.9 * towardLight, 0), 1))
        }
    }

    /// For each column of an edge 1 by the number of rows over which it is soft.
    static func sharpness(of rows: [Float]) -> [Float] {
        rows.indices.map { column in
            1 / max(abs(rows[max(column - 1, 0)] - rows[min(column + 1, rows.count - 1)]) / 2, 1)
        }
    }
}
