import Glibc

/// The sky without stars: a gradient, the glow around sun or moon, and bands of thin cloud.
struct Sky {
    /// The gradient, a colour a row.
    private let rows: Table<LinearColor>

    /// The glow is a sum of three bells, each of which is a product of a number a column and one a row.
    private let glowColumns: Table<SIMD4<Float>>
    private let glowRows: Table<SIMD4<Float>>
    private let glowColors: (LinearColor, LinearColor, LinearColor)

    private let clouds: Clouds

    /// The disc of sun or moon, in pixels.
    private let luminary: Luminary
    private let disc: SIMD2<Float>
    private let radius: Float
    private let noise: Noise

    init(ground: Ground, gradient: SkyGradient, luminary: Luminary, clouds: Clouds, noise: Noise) {
        self.clouds = clouds
        self.luminary = luminary
        self.noise = noise
        disc = SIMD2(luminary.x * Float(ground.width), ground.row(elevation: luminary.elevation))
        radius = luminary.radius * Float(ground.width)
        rows = Table((0..<ground.landRows).map { gradient.tone(elevation: ground.elevation(row: $0)).light })
        let widths = SIMD4<Float>(luminary.radius * 1.5, luminary.radius * 4.2, 0.46, 1)
        let heights = SIMD4<Float>(luminary.radius * 1.5, luminary.radius * 3.4, 0.15, 1)
        glowColumns = Table((0..<ground.width).map { bell(ground.position(column: $0) - luminary.x, widths) })
        glowRows = Table((0..<ground.landRows).map { bell(ground.elevation(row: $0) - luminary.elevation, heights) })
        glowColors = luminary.glow
    }

    /// The light from a place, without the disc of sun or moon.
    ///
    /// - Parameter row: 0 to the last one above the water.
    @inline(__always)
    func color(column: Int, row: Int) -> LinearColor {
        let glow = glowColumns[column] * glowRows[row]
        let color = rows[row] + glowColors.0 * glow.x + glowColors.1 * glow.y + glowColors.2 * glow.z
        return color * clouds.brightness(column: column, row: row)
    }

    /// Paints a row above the water.
    func paint(row: Int, into line: UnsafeMutableBufferPointer<LinearColor>) {
        let (gradient, bells) = (rows[row], glowRows[row])
        let (inner, middle, wide) = (glowColors.0 * bells.x, glowColors.1 * bells.y, glowColors.2 * bells.z)
        for column in 0..<line.count {
            let glow = glowColumns[column]
            let color = gradient + inner * glow.x + middle * glow.y + wide * glow.z
            line[column] = color * clouds.brightness(column: column, row: row)
        }
        let above = Float(row) + 0.5 - disc.y
        guard luminary.isVisible, abs(above) <= radius + 1 else { return }
        for column in max(Int(disc.x - radius - 1), 0)..<min(Int(disc.x + radius + 2), line.count) {
            line[column] = withDisc(line[column], SIMD2(Float(column) + 0.5 - disc.x, above))
        }
    }

    /// - Parameter place: from the middle of the disc.
    private func withDisc(_ sky: LinearColor, _ place: SIMD2<Float>) -> LinearColor {
        let distance = (place.x * place.x + place.y * place.y).squareRoot()
        let cover = min(max(radius - distance + 0.5, 0), 1)
        guard cover > 0 else { return sky }
        let brightness = luminary.brightness(at: place / radius, noise: noise)
        return sky.mixed(sky + (luminary.color - sky) * brightness, cover)
    }
}

/// `exp(-x²)` of a distance in each of the first three widths.
private func bell(_ distance: Float, _ widths: SIMD4<Float>) -> SIMD4<Float> {
    var result = SIMD4<Float>()
    for lane in 0..<3 {
        let part = Double(distance / widths[lane])
        // Numbers near the smallest that a Float can hold would take the processor a hundred times as long.
        result[lane] = abs(part) < 3.5 ? Float(exp(-part * part)) : 0
    }
    return result
}
