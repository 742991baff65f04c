import Glibc

/// The water: the reflection at each point, and the absorbed light.
struct Water {
    /// The number of rows of ripples between the far shore and the lower edge.
    private static let ripples: Float = 120
    /// The shift of the reflection by ripples, in widths.
    private static let swell: Float = 0.034

    private let ground: Ground
    private let noise: Noise
    /// The glitter below sun or moon.
    private let glitterX: Float
    private let glitter: LinearColor
    private let deep: LinearColor
    private let shore: LinearColor

    init(ground: Ground, hour: Hour, palette: Palette, sky: SkyGradient, luminary: Luminary, noise: Noise) {
        self.ground = ground
        self.noise = noise
        glitterX = luminary.x
        // Without a visible disc there is nothing to reflect.
        glitter = luminary.isVisible ? luminary.color * (luminary.kind == .sun ? 0.34 : 0.16) : .zero
        deep = palette.tone(0.13 + 0.12 * hour.sky[0].lightness, 0.045, way: 0.1 * hour.warmth).light
        shore = sky.tone(elevation: 0.05).light
    }

    /// Paints a row of the water.
    func paint(row: Int, terrain: Terrain, sky: Sky, into line: UnsafeMutableBufferPointer<LinearColor>) {
        let unit = Float(ground.width)
        let distance = (Float(row) + 0.5 - ground.horizon) / unit
        let part = min(distance / 0.30, 1.5)
        let position = Self.ripples * Float(log(1 + 20 * Double(part)) / log(21))
        let wave = position.rounded(.down)
        let share = eased(position - wave)
        let first = Wave(number: wave, noise: noise)
        let second = Wave(number: wave + 1, noise: noise)
        let swell = Self.swell * part.squareRoot() * (0.15 + 0.85 * part) * unit
        let mirrored = 2 * ground.horizon - Float(row) - 0.5
        let light = 0.80 - 0.50 * min(part, 1)
        let depths = deep * (0.15 + 0.45 * min(part, 1))
        let band = shore * (0.30 * Float(exp(-Double(distance) / 0.0035)))
        let spread = 0.020 + 0.085 * part
        let glitter = glitter * (2 * (1 - 0.82 * min(part, 1)))
        let last = ground.landRows - 1
        for column in 0..<ground.width {
            let x = ground.position(column: column)
            let before = first.height(x)
            let height = before + (second.height(x) - before) * share
            let y = min(max(mirrored + height * swell, 0.5), Float(last) + 0.49)
            var color = terrain.color(column: column, row: Int(y), y: y, sky: sky) * light + depths + band
            let aside = (x - glitterX) / spread
            let shine = aside * aside
            if shine < 4 {
                let spark = max(height - 0.05, 0) * (1 - shine / 4)
                color += glitter * (spark * spark)
            }
            line[column] = color
        }
    }

    /// A row of ripples, which are larger near the viewer.
    private struct Wave {
        private let frequency: Float
        private let heights: [Float]

        init(number: Float, noise: Noise) {
            let frequency = 90 / (1 + 0.04 * number)
            self.frequency = frequency
            heights = (0...Int(frequency) + 1).map { noise.value(Float($0) + number * 67) }
        }

        /// -1 to 1.
        @inline(__always) func height(_ x: Float) -> Float {
            let position = x * frequency
            let crest = Int32(position)
            let before = heights[Int(crest)]
            return before + (heights[Int(crest) &+ 1] - before) * eased(position - Float(crest))
        }
    }
}
