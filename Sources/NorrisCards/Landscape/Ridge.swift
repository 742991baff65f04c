/// The upper edge of one range of mountains or hills: an elevation for every place.
struct Ridge {
    enum Kind: Equatable {
        /// Sharp summits.
        case peaks
        /// Soft backs.
        case hills
        /// Hills with a fringe of conifers.
        case forest
    }

    let kind: Kind

    /// Lowest elevation and what the highest summit adds, in widths.
    let foot: Float
    let rise: Float

    /// Where it is highest and how far it goes to the sides.
    let middle: Float
    let spread: Float

    /// Summits in a width.
    let frequency: Float

    /// The place of the sun or moon, which finds a gap there.
    let gap: Float
    let noise: Noise

    /// The elevation of the ground, without trees.
    func elevation(_ place: Float) -> Float {
        let distance = (place - middle) / spread
        let envelope = 0.30 + 0.70 / (1 + distance * distance)
        let way = (place - gap) / 0.16
        let open = kind == .forest ? 1 : 1 - 0.58 / (1 + way * way * way * way)
        let offset = place * frequency + 100
        let shape: Float
        switch kind {
        case .peaks:
            shape = 0.84 * noise.summits(offset) + 0.17 * noise.fractal(offset * 4, octaves: 8, roughness: 0.62)
        case .hills: shape = 0.55 + 0.45 * noise.fractal(offset, octaves: 9, roughness: 0.44)
        case .forest: shape = 0.5 + 0.5 * noise.fractal(offset, octaves: 6, roughness: 0.4)
        }
        return foot + rise * envelope * open * shape
    }

    /// Where an elevation is between the foot (0) and the summit (1), for the mist; a far range stands in more of it.
    func height(of elevation: Float) -> Float { (elevation - foot) / rise + 0.3 * foot / (foot + rise) }
}
