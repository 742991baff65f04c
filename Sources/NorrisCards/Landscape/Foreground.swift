/// The near bank with its conifers: a dark frame at one side of the picture.
struct Foreground {
    /// For each column the row where the bank begins.
    private let bank: Table<Float>
    private let trees: [NearTree]
    private let color: LinearColor

    /// The first row that it reaches.
    private let top: Int

    /// - Parameters:
    ///   - side: 1 for the right side, -1 for the left.
    init(ground: Ground, side: Float, hour: Hour, palette: Palette, random: inout SeededRandom) {
        let noise = random.noise()
        let tallest = random.number(in: 0.18...0.32)
        let unit = Float(ground.width)
        let bottom = Float(ground.height)
        let extent = random.number(in: 0.34...0.50)
        let rise = random.number(in: 0.045...0.075)
        /// The row of the bank, and of its lower part beyond its end.
        func row(_ place: Float) -> Float {
            let inward = side > 0 ? 1 - place : place
            let grass = 0.005 * noise.fractal(place * 9 + 50, octaves: 7, roughness: 0.6)
            return bottom - (rise * (1 - inward / extent) + grass) * unit
        }
        bank = Table((0..<ground.width).map { row(ground.position(column: $0)) })
        var trees: [NearTree] = []
        var inward = random.number(in: -0.02...0.02)
        let stand = extent * 0.6
        while inward < stand {
            let fall = 1 - max(inward, 0) / stand
            let height = tallest * (0.2 + 0.8 * fall * fall.squareRoot()) * random.number(in: 0.6...1)
            let reach = height * random.number(in: 0.17...0.22)
            let place = side > 0 ? 1 - inward : inward
            let root = row(place) + 0.01 * unit
            trees.append(NearTree(trunk: place * unit, top: root - height * unit, root: root, reach: reach * unit,
                tiers: random.number(in: 8...12), noise: random.noise()))
            inward += reach * random.number(in: 0.5...1.6)
        }
        self.trees = trees
        top = Int(min(trees.map(\.top).min() ?? bottom, bottom - (rise + 0.006) * unit))
        color = palette.tone(0.105 + 0.10 * hour.sky[0].lightness, 0.03, way: 0.1).light
    }

    func paint(row: Int, into line: UnsafeMutableBufferPointer<LinearColor>) {
        guard row >= top else { return }
        for tree in trees { tree.paint(row: row, color: color, into: line) }
        for column in 0..<line.count {
            let cover = Float(row) + 1 - bank[column]
            if cover > 0 { line[column] = line[column].mixed(color, min(cover, 1)) }
        }
    }
}
