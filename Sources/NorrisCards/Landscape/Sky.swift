import Glibc

/// The sky without stars: a gradient, the glow around sun or moon, and bands of thin cloud.
struct Sky {
    /// The colors of the gradient, one for each row.
    private let rows: [LinearColor]
    /// The glow is a sum of three Gaussian functions, each a product of a number for the column and a number for the
    /// row.
    private let glowColumns: [SIMD4<Float>]
    private let glowRows: [SIMD4<Float>]
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
        rows = (0..<ground.landRows).map { gradient.tone(elevation: ground.elevation(row: $0)).light }
        let widths = SIMD4<Float>(luminary.radius * 1.5, luminary.radius * 4.2, 0.46, 1)
        let heights = SIMD4<Float>(luminary.radius * 1.5, luminary.radius * 3.4, 0.15, 1)
        glowColumns = (0..<ground.width).map { bell(ground.position(column: $0) - luminary.x, widths) }
        glowRows = (0..<ground.landRows).map { bell(ground.elevation(row: $0) - luminary.elevation, heights) }
        glowColors = luminary.glow
    }

    /// The light from a point, without the disc of sun or moon.
    ///
    /// - Parameter row: from 0 to the last row above the water.
    @inline(__always) func color(column: Int, row: Int) -> LinearColor {
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

    /// - Parameter offset: the distance from the center of the disc.
    private func withDisc(_ sky: LinearColor, _ offset: SIMD2<Float>) -> LinearColor {
        let distance = (offset.x * offset.x + offset.y * offset.y).squareRoot()
        let cover = min(max(radius - distance + 0.5, 0), 1)
        guard cover > 0 else { return sky }
        let brightness = luminary.brightness(at: offset / radius, noise: noise)
        return sky.mixed(sky + (luminary.color - sky) * brightness, cover)
    }
}

/// `exp(-x²)` of a distance in the first three widths.
private func bell(_ distance: Float, _ widths: SIMD4<Float>) -> SIMD4<Float> {
    var result = SIMD4<Float>()
    for lane in 0..<3 {
        let part = Double(distance / widths[lane])
        // Subnormal numbers would take the processor a hundred times as long.
        result[lane] = abs(part) < 3.5 ? Float(exp(-part * part)) : 0
    }
    return result
}

/// The tones of a sky from the horizon to the top: a smooth curve through five tones.
struct SkyGradient {
    /// The elevations in widths, rising.
    private let elevations: [Float]
    private let lightness: [Float]
    private let chroma: [Float]
    private let ways: [Float]
    private let palette: Palette

    /// - Parameters:
    ///   - top: the elevation of the upper edge.
    ///   - dark: the elevation above which the sky is dark enough for letters, except near sun and moon.
    init(hour: Hour, palette: Palette, top: Float, dark: Float = .infinity) {
        self.palette = palette
        let scale = min(dark / 0.2, 1)
        elevations = [0, 0.10, 0.22, 0.42].map { $0 * scale } + [max(top, 0.6)]
        let tones = Array(hour.sky.reversed())
        lightness = tones.map(\.lightness)
        chroma = tones.map(\.chroma)
        ways = [1, 0.82, 0.5, 0.2, 0].map { $0 * hour.warmth }
    }

    func tone(elevation: Float) -> Tone {
        let level = level(elevation: elevation)
        return palette.tone(level.lightness, level.chroma, way: curve(ways, elevation))
    }

    /// Lightness and chroma without the palette's hue.
    func level(elevation: Float) -> (lightness: Float, chroma: Float) {
        (curve(lightness, elevation), curve(chroma, elevation))
    }

    /// A monotone cubic through the points (Fritsch and Butland, "A method for constructing local monotone piecewise
    /// cubic interpolants", 1984).
    private func curve(_ values: [Float], _ elevation: Float) -> Float {
        let height = min(max(elevation, elevations[0]), elevations[elevations.count - 1])
        let left = elevations.dropLast().lastIndex { $0 <= height } ?? 0
        let length = elevations[left + 1] - elevations[left]
        let part = (height - elevations[left]) / length
        let start = tangent(values, left) * length
        let end = tangent(values, left + 1) * length
        let (square, cube) = (part * part, part * part * part)
        return values[left] * (2 * cube - 3 * square + 1) + start * (cube - 2 * square + part)
            + values[left + 1] * (3 * square - 2 * cube) + end * (cube - square)
    }

    private func tangent(_ values: [Float], _ index: Int) -> Float {
        func slope(_ index: Int) -> Float {
            (values[index + 1] - values[index]) / (elevations[index + 1] - elevations[index])
        }
        guard index > 0 else { return slope(0) }
        guard index < values.count - 1 else { return slope(index - 1) }
        let (before, after) = (slope(index - 1), slope(index))
        return before * after > 0 ? 2 * before * after / (before + after) : 0
    }
}

/// Thin bands of clouds, as changes of the sky's brightness.
struct Clouds {
    /// The cells of the grid in a width; values between them are interpolated.
    private static let cells = SIMD2<Float>(56, 150)

    private let columns: Int
    private let brightness: [Float]
    /// For each column of pixels the cell, and the position between it and the next cell.
    private let cellOfColumn: [Int32]
    private let partOfColumn: [Float]
    /// The factor from rows of pixels to rows of cells, from the top of the picture.
    private let scale: Float

    init(ground: Ground, noise: Noise, density: Float) {
        columns = Int(Self.cells.x) + 2
        scale = Self.cells.y / Float(ground.width)
        let positions = (0..<ground.width).map { ground.position(column: $0) * Self.cells.x }
        cellOfColumn = positions.map { Int32($0) }
        partOfColumn = positions.map { $0 - $0.rounded(.down) }
        let rows = Int(Float(ground.landRows) * scale) + 2
        var brightness: [Float] = []
        brightness.reserveCapacity(columns * rows)
        for row in 0..<rows {
            let elevation = (ground.horizon - Float(row) / scale) / Float(ground.width)
            // Clouds are between the mountains and the upper sky, where they become thin.
            let share = density * min(max(elevation / 0.12, 0), 1) * max(1 - elevation / 0.8, 0.12)
            for column in 0..<columns {
                let x = Float(column) / Self.cells.x
                let y = elevation + noise.value(x * 2.1 + 9, elevation * 5) * 0.05
                let value =
                    noise.value(x * 1.9, y * 13) + 0.5 * noise.value(x * 4.7 + 3, y * 31 + 7)
                    + 0.25 * noise.value(x * 9 + 5, y * 62 + 1)
                brightness.append(1 + share * (eased(min(max((value - 0.15) / 0.9, 0), 1)) - 0.1))
            }
        }
        self.brightness = brightness
    }

    @inline(__always) func brightness(column: Int, row: Int) -> Float {
        let y = (Float(row) + 0.5) * scale
        let upper = Int(y)
        let index = upper &* columns &+ Int(cellOfColumn[column])
        let part = partOfColumn[column]
        let above = brightness[index] + (brightness[index &+ 1] - brightness[index]) * part
        let next = index &+ columns
        let below = brightness[next] + (brightness[next &+ 1] - brightness[next]) * part
        return above + (below - above) * (y - Float(upper))
    }
}
