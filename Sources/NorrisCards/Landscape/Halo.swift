/// The disc of sun or moon and what is close around it, in pixels.
struct Halo {
    /// Of the outer edge, in radii of the disc.
    static let reach: Float = 1.6

    let rows: Range<Int>
    private let middle: SIMD2<Float>
    private let radius: Float

    /// nil where no disc is seen.
    init?(_ luminary: Luminary, ground: Ground) {
        guard luminary.isVisible else { return nil }
        middle = SIMD2(luminary.x * Float(ground.width), ground.row(elevation: luminary.elevation))
        radius = luminary.radius * Float(ground.width)
        rows = Int(middle.y - radius * Halo.reach)..<Int(middle.y + radius * Halo.reach) + 1
    }

    /// 1 on the disc, from where it falls to 0 at the outer edge.
    func share(column: Int, row: Int) -> Float {
        let place = SIMD2(Float(column), Float(row)) + 0.5 - middle
        let distance = (place * place).sum().squareRoot() / radius
        return min(max((Halo.reach - distance) / (Halo.reach - 1), 0), 1)
    }
}
