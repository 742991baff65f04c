/// What becomes of the light on a slope in a row below the edge.
struct SlopeDepth: BitwiseCopyable {
    /// What is left of it, 0 to 1.
    let light: Float

    /// What is left of the single rocks, 0 to 1.
    let detail: Float

    /// How far the border between light and shade has moved aside, in columns.
    let wander: Int

    /// - Parameter unit: pixels in a width.
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
