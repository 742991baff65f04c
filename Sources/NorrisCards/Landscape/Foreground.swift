import NorrisSystem

/// The near bank with conifers at one side, and even, dark ground for the foot of a card.
struct Foreground {
    /// The first row of the bank in each column.
    private let bank: [Float]
    private let trees: [NearTree]
    private let color: LinearColor
    private let soil: LinearColor
    /// The first row of the foreground.
    private let top: Int

    /// - Parameters:
    ///   - tallest: the greatest height of trees, in widths; nil for a bank without trees.
    ///   - side: 1 for the right side, -1 for the left.
    ///   - hasFoot: whether the bank has the full width, because the foot of a card is on it.
    init(
        ground: Ground, scene: Scene, tallest: Float?, side: Float, hasFoot: Bool, hour: Hour, palette: Palette,
        random: inout SeededRandom
    ) {
        let noise = random.noise()
        let unit = Float(ground.width)
        let bottom = Float(ground.height)
        let lowest: Float = hasFoot ? 0.098 : -0.01
        let rise = random.number(in: 0.01...0.035) + (hasFoot ? 0 : 0.098)
        let extent = random.number(in: 0.34...0.50)
        /// The row of the bank, which is higher at its side.
        func row(_ x: Float) -> Float {
            let fall = min((side > 0 ? 1 - x : x) / (extent + 0.2), 1)
            let grass = 0.004 * noise.fractal(x * 9 + 50, octaves: 7, roughness: 0.6)
            return bottom - (lowest + rise * (1 - eased(fall)) + grass) * unit
        }
        bank = (0..<ground.width).map { row(ground.position(column: $0)) }
        var trees: [NearTree] = []
        var inward = random.number(in: -0.02...0.02)
        let forest = extent * 0.6
        let tallest = tallest.map { min(random.number(in: 0.18...0.32), $0) }
        while let tallest, inward < forest {
            let fall = 1 - max(inward, 0) / forest
            let height = tallest * (0.2 + 0.8 * fall * fall.squareRoot()) * random.number(in: 0.6...1)
            let reach = height * random.number(in: 0.17...0.22)
            let x = side > 0 ? 1 - inward : inward
            let root = row(x) + 0.01 * unit
            trees.append(
                NearTree(
                    trunk: x * unit, top: root - height * unit, root: root, reach: reach * unit,
                    tiers: random.number(in: 8...12), noise: random.noise()))
            inward += reach * random.number(in: 0.5...1.6)
        }
        self.trees = trees
        top = Int(min(trees.map(\.top).min() ?? bottom, bank.min() ?? bottom))
        color = palette.tone(0.125 + 0.14 * hour.sky[0].lightness, 0.035, way: 0.1).light
        let near = scene.soil(hour)
        // In shadow, so that the letters of the foot are readable.
        let shaded = min(0.62 * near.lightness, 0.42)
        soil = scene.isBare ? palette.tone(shaded, near.chroma, way: near.way).light : color
    }

    func paint(row: Int, into line: UnsafeMutableBufferPointer<LinearColor>) {
        guard row >= top else { return }
        for tree in trees { tree.paint(row: row, color: color, into: line) }
        for column in 0..<line.count {
            let cover = Float(row) + 1 - bank[column]
            if cover > 0 { line[column] = line[column].mixed(soil, min(cover, 1)) }
        }
    }
}

/// A conifer on the near bank with visible branches, in pixels.
struct NearTree {
    /// The column of the trunk, the row of the top, and the row of the root.
    let trunk: Float
    let top: Float
    let root: Float
    /// The length of the lowest branches.
    let reach: Float
    /// The number of branches above each other.
    let tiers: Float
    let noise: Noise

    /// Paints a row of the tree.
    func paint(row: Int, color: LinearColor, into line: UnsafeMutableBufferPointer<LinearColor>) {
        guard Float(row) + 1 > top, Float(row) < root else { return }
        // Branches end between rows, so each row is sampled three times.
        let spans = (span(at: Float(row) + 0.17), span(at: Float(row) + 0.5), span(at: Float(row) + 0.83))
        let left = min(spans.0.x, spans.1.x, spans.2.x)
        let right = max(spans.0.y, spans.1.y, spans.2.y)
        let first = max(Int(left - 1), 0)
        let last = min(Int(right + 1), line.count - 1)
        for column in first..<max(last + 1, first) {
            let start = Float(column)
            let cover = cover(spans.0, start) + cover(spans.1, start) + cover(spans.2, start)
            line[column] = line[column].mixed(color, cover / 3)
        }
    }

    /// The left and the right end at a height.
    private func span(at y: Float) -> SIMD2<Float> {
        let part = (y - top) / (root - top)
        guard part > 0 else { return SIMD2(trunk, trunk) }
        return SIMD2(trunk - branch(part, 0), trunk + branch(part, 40))
    }

    private func cover(_ span: SIMD2<Float>, _ start: Float) -> Float {
        max(min(span.y, start + 1) - max(span.x, start), 0)
    }

    /// The length of a branch: each begins at the trunk and hangs down to the beginning of the next.
    private func branch(_ part: Float, _ side: Float) -> Float {
        // Upper branches are closer to each other.
        let position = part.squareRoot() * tiers + side * 0.37
        let tier = position.rounded(.down)
        let hanging = position - tier
        let length = 0.82 + 0.30 * noise.value(tier + side)
        let ragged = 1 + 0.25 * noise.value(part * tiers * 7 + side)
        return reach * (0.03 + part * length * (0.35 + 0.65 * hanging) * ragged)
    }
}
