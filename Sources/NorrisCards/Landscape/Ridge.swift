import NorrisSystem

/// The upper edge of a range of mountains or hills: an elevation for every position.
struct Ridge {
    enum Kind: Equatable {
        /// Sharp summits.
        case peaks
        /// Rounded hills.
        case hills
        /// Hills with a fringe of conifers.
        case forest
        /// Table mountains.
        case mesa
        case dunes
        /// Land that ends at the middle, and rocks after it; the spread is 1 for land on the right, -1 on the left.
        case cliff
        case towers

        /// Whether only the outline is visible.
        var isOutline: Bool { self == .forest || self == .towers }
    }

    let kind: Kind
    /// The lowest elevation, and the additional height of the highest summit, in widths.
    let foot: Float
    let rise: Float
    /// The position of the highest point, and the extent to the sides.
    let middle: Float
    let spread: Float
    /// The number of summits in a width.
    let frequency: Float
    /// The position of the sun or moon, which has a gap there.
    let gap: Float
    let noise: Noise
    /// The factor of all elevations.
    var scale: Float = 1

    /// The elevation of the ground, without trees.
    func elevation(_ x: Float) -> Float { scale * fullElevation(x) }

    private func fullElevation(_ x: Float) -> Float {
        let envelope = envelope(x)
        let way = (x - gap) / 0.16
        let open = kind == .peaks || kind == .hills ? 1 - 0.58 / (1 + way * way * way * way) : 1
        let offset = x * frequency + 100
        let shape: Float
        switch kind {
        case .peaks:
            shape = 0.84 * noise.summits(offset) + 0.17 * noise.fractal(offset * 4, octaves: 8, roughness: 0.62)
        case .hills: shape = 0.55 + 0.45 * noise.fractal(offset, octaves: 9, roughness: 0.44)
        case .forest: shape = 0.5 + 0.5 * noise.fractal(offset, octaves: 6, roughness: 0.4)
        case .mesa:
            let value = noise.value(offset) + 0.12 * noise.fractal(offset * 3, octaves: 6, roughness: 0.6)
            // Scree at the foot of a wall.
            let height = 0.35 * step(value, -0.25, 0.12) + 0.65 * step(value, 0.1, 0.17)
            return foot + rise * (height + 0.025 * noise.fractal(offset * 6, octaves: 5, roughness: 0.6))
        case .dunes:
            // Sharp, winding crests between round hollows.
            let value = noise.value(offset + 0.2 * noise.value(offset * 1.7))
            // Not negative where the noise reaches 1.
            let crest = max(1 - (value * value + 0.003).squareRoot(), 0)
            shape = 0.72 * crest * crest.squareRoot() + 0.28 * (0.5 + 0.5 * noise.value(offset * 0.6 + 40))
        case .cliff: return foot + rise * cliff((x - middle) * spread)
        case .towers: return foot + rise * max(tower(x, row: 0), tower(x, row: 1))
        }
        return foot + rise * envelope * open * shape
    }

    /// The remaining part of the rise at a distance from the middle.
    private func envelope(_ x: Float) -> Float {
        let distance = (x - middle) / spread
        return 0.30 + 0.70 / (1 + distance * distance)
    }

    /// - Parameter distance: from the edge into the land.
    private func cliff(_ distance: Float) -> Float {
        let rock = noise.fractal(distance * frequency + 100, octaves: 7, roughness: 0.6)
        let wall = distance + 0.02 * rock
        let land = 0.5 * step(wall, 0, 0.03) + 0.26 * step(wall, 0.045, 0.075) + 0.25 * min(max(distance, 0), 0.4)
        let lighthouse = 0.15 * min(max((0.007 - abs(distance - 0.12)) / 0.003, 0), 1)
        let rocks = 0.34 * max(noise.summits(distance * 24) - 0.5, 0) * step(distance, -0.2, -0.05)
        return max(land + 0.05 * rock * min(land, 1) + lighthouse, rocks)
    }

    /// The towers of a row of houses, 0 to 1. The second row has narrower and lower towers.
    ///
    /// No two towers side by side are alike: their heights differ by a step, and at most one of two is flat.
    private func tower(_ x: Float, row: Int) -> Float {
        let scale: Float = row == 0 ? 1 : 1.63
        let position = x * frequency * scale + 100 * scale
        let house = position.rounded(.down)
        let side = position - house - 0.5
        let aside = abs(side)
        let middle = (house + 0.5 - 100 * scale) / (frequency * scale)
        let wish = ((0.55 + 0.45 * noise.value(house, 5)) * envelope(middle) + 0.08) * (row == 0 ? 1 : 0.75)
        let isEven = Int32(house) & 1 == 0
        // Four towers side by side have different remainders of four steps, and the second row lies between.
        let step: Float = 0.045
        let remainder = [0, 2, 1, 3][Int(Int32(house) & 3)] + 0.5 * Float(row)
        let height = ((wish / (4 * step)).rounded() * 4 + remainder) * step
        let width = 0.36 + 0.13 * noise.value(house, 11)
        // Low houses between the towers.
        if aside > width { return 0.05 }
        let top = noise.value(house, 17)
        if isEven && row == 0 { return top < -0.3 && aside > 0.6 * width ? 0.86 * height : height }
        // The second row has no flat towers, because its steps are between the steps of the first row.
        switch row == 0 ? top : min(top * 0.3, 0.34) - (top < 0 ? 1 : 0) {
        case 0.35...: return aside < 0.022 * scale ? height + 0.14 : height
        case 0..<0.35: return height + 0.10 * (side / width)
        case -0.4..<0: return aside > 0.55 * width ? 0.86 * height : height
        default: return height + 0.10 * max(1 - 1.8 * aside / width, 0)
        }
    }

    private func step(_ value: Float, _ start: Float, _ end: Float) -> Float {
        eased(min(max((value - start) / (end - start), 0), 1))
    }

    /// The position of an elevation between the foot (0) and the summit (1), by which the mist is drawn. A far range
    /// has denser mist.
    func height(of elevation: Float) -> Float { (elevation / scale - foot) / rise + 0.3 * foot / (foot + rise) }

    /// The tallest tree on the ridge, in widths.
    ///
    /// - Parameter nearness: 0 (the farthest range) to 1.
    func tallestTree(nearness: Float, _ scene: Scene) -> Float {
        kind == .forest ? scale * (0.012 + 0.030 * nearness * nearness) * scene.treeHeight : 0
    }

    /// The height of masts, or of a lighthouse, which are narrower than the distance of samples.
    private var narrowTop: Float { kind == .towers || kind == .cliff ? 0.15 * rise : 0 }
}

extension Ridge {
    /// The highest elevation of ranges with trees, masts and lighthouses, in widths.
    static func peak(_ ridges: [Ridge], _ scene: Scene) -> Float {
        var highest: Float = 0.01
        for (index, ridge) in ridges.enumerated() {
            let nearness = Float(index) / Float(max(ridges.count - 1, 1))
            let top = ridge.tallestTree(nearness: nearness, scene) + ridge.scale * ridge.narrowTop
            for step in 0...96 { highest = max(highest, ridge.elevation(Float(step) / 96) + top) }
        }
        return highest
    }

    /// Ranges whose highest elevation is at most `room`.
    static func lowered(_ ridges: [Ridge], _ scene: Scene, to room: Float) -> [Ridge] {
        let scale = min(room / peak(ridges, scene), 1)
        return ridges.map { ridge in
            var ridge = ridge
            ridge.scale = scale
            return ridge
        }
    }

    /// The highest elevation between two positions, in widths.
    static func summit(_ ridges: [Ridge], from start: Float, to end: Float) -> Float {
        var highest: Float = 0
        for step in 0...16 {
            let x = start + (end - start) * Float(step) / 16
            for ridge in ridges { highest = max(highest, ridge.elevation(x)) }
        }
        return highest
    }
}

/// A forest on a ridge, which raises the ridge's edge. All lengths are in widths of the picture.
enum Conifers {
    /// Raises the edge, an elevation for the middle of each column, by the heights of the trees.
    static func grow(on edge: inout [Float], heights: ClosedRange<Float>, random: inout SeededRandom) {
        let ground = edge
        let clearings = random.noise()
        let width = Float(edge.count)
        var x: Float = -0.02
        while x < 1.02 {
            let size = random.number(in: 0...1)
            // Groups of trees, with gaps according to the noise.
            let growth = min(max(clearings.value(x * 7 + 50) * 1.2 + 0.75, 0.12), 1)
            let height = (heights.lowerBound + (heights.upperBound - heights.lowerBound) * size * size) * growth
            let reach = height * random.number(in: 0.17...0.24)
            let tiers = random.number(in: 4...6.5)
            let root = ground[min(max(Int(x * width), 0), edge.count - 1)] - height * 0.06
            let first = max(Int((x - reach) * width), 0)
            let last = min(Int((x + reach) * width) + 1, edge.count - 1)
            for column in first..<max(last + 1, first) {
                let distance = abs((Float(column) + 0.5) / width - x) / reach
                guard distance < 1 else { continue }
                edge[column] = max(edge[column], root + height * outline(distance, tiers))
            }
            x += reach * random.number(in: 0.5...1.5)
        }
    }

    /// The height of a tree at a distance from its trunk, both 0 to 1, with branches in tiers.
    private static func outline(_ distance: Float, _ tiers: Float) -> Float {
        let tier = (distance * tiers).rounded(.down)
        let part = distance * tiers - tier
        return max(1 - (tier + 0.55 * part) / tiers - 0.25 * distance * (1 - distance), 0)
    }
}
