/// Thin bands of cloud: how much brighter or darker they make the sky.
struct Clouds {
    /// Cells of the grid in a width; what lies between them is interpolated.
    private static let cells = SIMD2<Float>(56, 150)

    private let columns: Int
    private let brightness: Table<Float>

    /// For each column of pixels: the cell, and how far on the way to the next one.
    private let cellOfColumn: Table<Int32>
    private let partOfColumn: Table<Float>

    /// From rows of pixels to rows of cells, from the top of the picture downward.
    private let scale: Float

    init(ground: Ground, noise: Noise, density: Float) {
        columns = Int(Self.cells.x) + 2
        scale = Self.cells.y / Float(ground.width)
        let places = (0..<ground.width).map { ground.position(column: $0) * Self.cells.x }
        cellOfColumn = Table(places.map { Int32($0) })
        partOfColumn = Table(places.map { $0 - $0.rounded(.down) })
        let rows = Int(Float(ground.landRows) * scale) + 2
        var brightness: [Float] = []
        brightness.reserveCapacity(columns * rows)
        for row in 0..<rows {
            let elevation = (ground.horizon - Float(row) / scale) / Float(ground.width)
            // Clouds lie between the mountains and the upper sky, where they get thin.
            let share = density * min(max(elevation / 0.12, 0), 1) * max(1 - elevation / 0.8, 0.12)
            for column in 0..<columns {
                let x = Float(column) / Self.cells.x
                let y = elevation + noise.value(x * 2.1 + 9, elevation * 5) * 0.05
                let value = noise.value(x * 1.9, y * 13) + 0.5 * noise.value(x * 4.7 + 3, y * 31 + 7)
                    + 0.25 * noise.value(x * 9 + 5, y * 62 + 1)
                let band = min(max((value - 0.15) / 0.9, 0), 1)
                brightness.append(1 + share * (band * band * (3 - 2 * band) - 0.1))
            }
        }
        self.brightness = Table(brightness)
    }

    @inline(__always)
    func brightness(column: Int, row: Int) -> Float {
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
