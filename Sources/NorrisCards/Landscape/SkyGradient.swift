/// The tones of a sky from the horizon to the top, through five of them, without corners.
struct SkyGradient {
    /// Elevations in widths, rising.
    private let places: [Float]
    private let lightness: [Float]
    private let chroma: [Float]
    private let ways: [Float]
    private let palette: Palette

    /// - Parameter top: the elevation of the upper edge.
    init(hour: Hour, palette: Palette, top: Float) {
        self.palette = palette
        places = [0, 0.10, 0.22, 0.42, max(top, 0.6)]
        let tones = Array(hour.sky.reversed())
        lightness = tones.map(\.lightness)
        chroma = tones.map(\.chroma)
        ways = [1, 0.82, 0.5, 0.2, 0].map { $0 * hour.warmth }
    }

    func tone(elevation: Float) -> Tone {
        let level = level(elevation: elevation)
        return palette.tone(level.lightness, level.chroma, way: curve(ways, elevation))
    }

    /// Without the palette.
    func level(elevation: Float) -> (lightness: Float, chroma: Float) {
        (curve(lightness, elevation), curve(chroma, elevation))
    }

    /// A monotone cubic through the points (Fritsch and Butland, "A method for constructing local monotone piecewise
    /// cubic interpolants", 1984).
    private func curve(_ values: [Float], _ elevation: Float) -> Float {
        let place = min(max(elevation, places[0]), places[places.count - 1])
        let left = places.dropLast().lastIndex { $0 <= place } ?? 0
        let length = places[left + 1] - places[left]
        let part = (place - places[left]) / length
        let start = tangent(values, left) * length
        let end = tangent(values, left + 1) * length
        let (square, cube) = (part * part, part * part * part)
        return values[left] * (2 * cube - 3 * square + 1) + start * (cube - 2 * square + part)
            + values[left + 1] * (3 * square - 2 * cube) + end * (cube - square)
    }

    private func tangent(_ values: [Float], _ index: Int) -> Float {
        func slope(_ index: Int) -> Float { (values[index + 1] - values[index]) / (places[index + 1] - places[index]) }
        guard index > 0 else { return slope(0) }
        guard index < values.count - 1 else { return slope(index - 1) }
        let (before, after) = (slope(index - 1), slope(index))
        return before * after > 0 ? 2 * before * after / (before + after) : 0
    }
}
