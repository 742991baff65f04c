/// A forest on a ridge: how much higher it makes its edge. All lengths are in widths of the picture.
enum Conifers {
    /// Raises the edge where trees stand.
    ///
    /// - Parameter edge: the elevations of the middle of each column.
    static func grow(on edge: inout [Float], heights: ClosedRange<Float>, random: inout SeededRandom) {
        let ground = edge
        let clearings = random.noise()
        let width = Float(edge.count)
        var place: Float = -0.02
        while place < 1.02 {
            let size = random.number(in: 0...1)
            // Stands of trees, with gaps where the noise says so.
            let growth = min(max(clearings.value(place * 7 + 50) * 1.2 + 0.75, 0.12), 1)
            let height = (heights.lowerBound + (heights.upperBound - heights.lowerBound) * size * size) * growth
            let reach = height * random.number(in: 0.17...0.24)
            let tiers = random.number(in: 4...6.5)
            let root = ground[min(max(Int(place * width), 0), edge.count - 1)] - height * 0.06
            let first = max(Int((place - reach) * width), 0)
            let last = min(Int((place + reach) * width) + 1, edge.count - 1)
            for column in first..<max(last + 1, first) {
                let distance = abs((Float(column) + 0.5) / width - place) / reach
                guard distance < 1 else { continue }
                edge[column] = max(edge[column], root + height * outline(distance, tiers))
            }
            place += reach * random.number(in: 0.5...1.5)
        }
    }

    /// The height of a tree at a distance from its trunk, both 0 to 1: branches that hang in tiers.
    private static func outline(_ distance: Float, _ tiers: Float) -> Float {
        let tier = (distance * tiers).rounded(.down)
        let part = distance * tiers - tier
        return max(1 - (tier + 0.55 * part) / tiers - 0.25 * distance * (1 - distance), 0)
    }
}
