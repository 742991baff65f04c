import NorrisSystem

/// A view that follows from a seed.
struct Landscape {
    let width: Int
    let height: Int
    private let scene: Scene
    private let hour: Hour
    private let luminary: Luminary
    private let ground: Ground
    private let sky: Sky
    private let stars: Stars
    private let terrain: Terrain
    private let water: Water
    private let foreground: Foreground?
    /// Of a disc beside the letters, which no scrim dims.
    private let halo: Halo?
    private let encoder = PixelEncoder()

    /// - Parameters:
    ///   - seed: the same one gives the same landscape at every size, as far as the letters have the same position.
    ///   - category: of the fact; chooses the colors.
    ///   - scene: instead of that of the seed, as is `hour`.
    ///   - letters: what they will cover; sun and moon stay away from there.
    init(
        seed: UInt64, category: String?, scene: Scene? = nil, hour: Hour? = nil, width: Int, height: Int,
        letters: Rectangle? = nil
    ) {
        self.width = width
        self.height = height
        let scene = scene ?? Scene(seed: seed)
        self.scene = scene
        var random = SeededRandom(seed: seed, thing: .hour)
        let hour = hour ?? scene.hours[Int(random.next() % UInt64(scene.hours.count))]
        self.hour = hour
        random = SeededRandom(seed: seed, thing: .ground)
        let palette = Palette(category: category, seed: random.next())
        let ground = Ground(
            width: width, height: height, below: random.number(in: scene.below), hasWater: scene.hasWater)
        self.ground = ground
        let gradient = SkyGradient(hour: hour, palette: palette, top: ground.horizon / Float(width))
        random = SeededRandom(seed: seed, thing: .sky)
        let placement = LuminaryPlacement(
            of: Luminary(hour: hour, palette: palette, random: &random), hour: hour, ground: ground, letters: letters
        ) { scene.ridges(gap: $0, surplus: ground.surplus, seed: seed) }
        let luminary = placement.luminary
        self.luminary = luminary
        halo = letters == nil ? nil : Halo(luminary, ground: ground)
        let clouds = Clouds(ground: ground, noise: random.noise(), density: random.number(in: 0.15...0.55))
        sky = Sky(ground: ground, gradient: gradient, luminary: luminary, clouds: clouds, noise: random.noise())
        terrain = Terrain(
            ground: ground, scene: scene, ridges: placement.ridges, hour: hour, palette: palette, sky: gradient,
            luminary: luminary, seed: seed)
        stars = Stars(ground: ground, share: hour.stars, sky: sky, terrain: terrain, luminary: luminary, seed: seed)
        random = SeededRandom(seed: seed, thing: .water)
        water = Water(
            ground: ground, hour: hour, palette: palette, sky: gradient, luminary: luminary, noise: random.noise())
        random = SeededRandom(seed: seed, thing: .foreground)
        foreground =
            random.number(in: 0...1) < scene.foreground
            ? Foreground(
                ground: ground, scene: scene, side: luminary.x < 0.5 ? 1 : -1, hour: hour, palette: palette,
                random: &random) : nil
    }

    /// What it shows, as part of a sentence: `mountains above a lake at dusk, under a crescent moon`.
    var description: String { "\(scene.description) \(hour.description)\(luminary.description)" }

    /// Paints rows of it.
    ///
    /// - Parameters:
    ///   - pixels: of the rows one after the other, each 0x00RRGGBB in sRGB, as `CAIRO_FORMAT_RGB24` has it.
    ///   - stride: how many pixels a row begins behind the one before; its width if not given.
    func paint(rows: Range<Int>, scrims: [Scrim], into pixels: UnsafeMutableBufferPointer<UInt32>, stride: Int? = nil) {
        let stride = stride ?? width
        precondition(pixels.count >= (rows.count - 1) * stride + width)
        var line = [LinearColor](repeating: .zero, count: width)
        line.withUnsafeMutableBufferPointer { line in
            for row in rows {
                paint(row: row, into: line)
                for scrim in scrims { scrim.dim(row: row, of: line, sparing: halo) }
                let start = (row - rows.lowerBound) * stride
                let target = UnsafeMutableBufferPointer(rebasing: pixels[start..<start + width])
                encoder.encode(line, row: row, into: target)
            }
        }
    }

    /// Everything but scrims and grain.
    private func paint(row: Int, into line: UnsafeMutableBufferPointer<LinearColor>) {
        if row < ground.landRows {
            terrain.paint(row: row, sky: sky, into: line)
            stars.shine(row: row, into: line)
        } else {
            water.paint(row: row, terrain: terrain, sky: sky, into: line)
        }
        foreground?.paint(row: row, into: line)
    }
}

/// How large a landscape is. All its lengths are in widths of the picture, so that a larger one shows the same and a
/// taller one shows more.
struct Ground {
    let width: Int
    let height: Int
    /// The row of the far shore, in pixels.
    let horizon: Float
    /// Rows that show land and sky.
    let landRows: Int
    /// How much higher the picture is than a square, in widths.
    let surplus: Float

    /// - Parameter below: what is below the horizon, as a part of a square picture.
    init(width: Int, height: Int, below: Float, hasWater: Bool = true) {
        self.width = width
        self.height = height
        let ratio = Float(height) / Float(width)
        surplus = max(ratio - 1, 0)
        horizon = Float(height) - (below * min(ratio, 1) + 0.12 * min(surplus, 2)) * Float(width)
        landRows = hasWater ? Int(horizon.rounded()) : height
    }

    /// The middle of a column, 0 to 1.
    @inline(__always) func position(column: Int) -> Float { (Float(column) + 0.5) / Float(width) }

    /// The middle of a row above the horizon, in widths.
    @inline(__always) func elevation(row: Int) -> Float { (horizon - Float(row) - 0.5) / Float(width) }

    /// The row of an elevation, in pixels.
    @inline(__always) func row(elevation: Float) -> Float { horizon - elevation * Float(width) }
}
