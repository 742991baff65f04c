/// How large a landscape is. All its lengths are in widths of the picture, so that a larger one shows the same and a
/// taller one shows more.
struct Ground {
    let width: Int
    let height: Int

    /// The row of the far shore, in pixels.
    let horizon: Float

    /// How much higher the picture is than a square, in widths.
    let surplus: Float

    init(width: Int, height: Int, water: Float) {
        self.width = width
        self.height = height
        let ratio = Float(height) / Float(width)
        surplus = max(ratio - 1, 0)
        horizon = Float(height) - (water * min(ratio, 1) + 0.12 * min(surplus, 2)) * Float(width)
    }

    /// Rows that show land and sky.
    var landRows: Int { Int(horizon.rounded()) }

    /// The middle of a column, 0 to 1.
    @inline(__always)
    func position(column: Int) -> Float { (Float(column) + 0.5) / Float(width) }

    /// The middle of a row above the horizon, in widths.
    @inline(__always)
    func elevation(row: Int) -> Float { (horizon - Float(row) - 0.5) / Float(width) }

    /// The row of an elevation, in pixels.
    @inline(__always)
    func row(elevation: Float) -> Float { horizon - elevation * Float(width) }
}
