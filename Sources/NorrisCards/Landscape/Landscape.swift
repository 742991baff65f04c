import NorrisSystem

/// A landscape that is determined by a seed.
struct Landscape {
    let width: Int
    let height: Int
    /// A description as a part of a sentence: `mountains above a lake at dusk, under a crescent moon`.
    let description: String
    private let ground: Ground
    private let sky: Sky
    private let stars: Stars
    private let terrain: Terrain
    private let water: Water
    private let foreground: Foreground?
    /// The halo of a disc beside the letters, which no shade dims.
    let halo: Halo?
    private let encoder = PixelEncoder()

    /// - Parameters:
    ///   - seed: the same seed gives the same landscape at every size, if the letters have the same position.
    ///   - category: the fact's category, which determines the colors.
    ///   - scene: replaces the seed's scene, as `hour` does for the hour.
    ///   - letters: the area of the letters, which sun and moon avoid, and below which the land lies.
    init(
        seed: UInt64, category: String?, scene: Scene? = nil, hour: Hour? = nil, width: Int, height: Int,
        letters: Rectangle? = nil
    ) {
        self.width = width
        self.height = height
        let scene = scene ?? Scene(seed: seed)
        var random = SeededRandom(seed: seed, thing: .hour)
        let hour = hour ?? scene.hours[Int(random.next() % UInt64(scene.hours.count))]
        random = SeededRandom(seed: seed, thing: .ground)
        let palette = Palette(category: category, seed: random.next())
        let below = random.number(in: scene.below)
        random = SeededRandom(seed: seed, thing: .sky)
        let wanted = Luminary(hour: hour, palette: palette, random: &random)
        let surplus = max(Float(height) / Float(width) - 1, 0)
        func ridges(gap: Float) -> [Ridge] { scene.ridges(gap: gap, surplus: surplus, seed: seed) }
        // Without letters the land leaves a part of the sky.
        let limit = letters.map { Float(height - $0.y - $0.height) - 0.035 * Float(min(width, height)) }
        let ground = Ground(
            width: width, height: height, below: below, hasWater: scene.hasWater,
            peak: Ridge.peak(ridges(gap: wanted.x), scene), limit: (limit ?? 0.88 * Float(height)) / Float(width))
        self.ground = ground
        let gradient = SkyGradient(
            hour: hour, palette: palette, top: ground.horizon / Float(width),
            dark: letters == nil ? .infinity : ground.room + 0.035)
        let placement = LuminaryPlacement(of: wanted, hour: hour, ground: ground, letters: letters) { gap in
            Ridge.lowered(ridges(gap: gap), scene, to: ground.room)
        }
        let luminary = placement.luminary
        description = "\(scene.description) \(hour.description)\(luminary.description)"
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
        let hasTrees = random.number(in: 0...1) < scene.foreground
        foreground =
            hasTrees || letters != nil
            ? Foreground(
                ground: ground, scene: scene, tallest: hasTrees ? ground.room + 0.02 : nil,
                side: luminary.x < 0.5 ? 1 : -1, hasFoot: letters != nil, hour: hour, palette: palette,
                random: &random) : nil
    }

    /// Paints rows.
    ///
    /// - Parameters:
    ///   - pixels: consecutive rows, each pixel 0x00RRGGBB in sRGB, as in `CAIRO_FORMAT_RGB24`.
    ///   - stride: the pixels from one row to the next; by default the width.
    func paint(rows: Range<Int>, shade: Shade?, into pixels: UnsafeMutableBufferPointer<UInt32>, stride: Int? = nil) {
        let stride = stride ?? width
        precondition(pixels.count >= (rows.count - 1) * stride + width)
        var line = [LinearColor](repeating: .zero, count: width)
        line.withUnsafeMutableBufferPointer { line in
            for row in rows {
                paint(row: row, into: line)
                shade?.dim(row: row, of: line, sparing: halo)
                let start = (row - rows.lowerBound) * stride
                let target = UnsafeMutableBufferPointer(rebasing: pixels[start..<start + width])
                encoder.encode(line, row: row, into: target)
            }
        }
    }

    /// Paints everything except shade and grain.
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

/// The dimensions of a landscape. All lengths are in widths of the picture, so that a larger picture shows the same and
/// a taller picture shows more.
struct Ground {
    let width: Int
    let height: Int
    /// The row of the far shore, in pixels.
    let horizon: Float
    /// The rows with land and sky.
    let landRows: Int
    /// The highest elevation of land, in widths.
    let room: Float

    /// - Parameters:
    ///   - below: the part below the horizon of a square picture.
    ///   - peak: the highest elevation of land in a picture without letters.
    ///   - limit: the highest land above the lower edge. The horizon sinks first, then the land.
    init(
        width: Int, height: Int, below: Float, hasWater: Bool = true, peak: Float = 0, limit: Float = .infinity
    ) {
        self.width = width
        self.height = height
        let ratio = Float(height) / Float(width)
        let usual = below * min(ratio, 1) + 0.12 * min(max(ratio - 1, 0), 2)
        let depth = min(max(limit - peak, 0.62 * usual), usual)
        room = max(limit - depth, 0.02)
        horizon = Float(height) - depth * Float(width)
        landRows = hasWater ? Int(horizon.rounded()) : height
    }

    /// The middle of a column, from 0 to 1.
    @inline(__always) func position(column: Int) -> Float { (Float(column) + 0.5) / Float(width) }

    /// The middle of a row above the horizon, in widths.
    @inline(__always) func elevation(row: Int) -> Float { (horizon - Float(row) - 0.5) / Float(width) }

    /// The row of an elevation, in pixels.
    @inline(__always) func row(elevation: Float) -> Float { horizon - elevation * Float(width) }
}
