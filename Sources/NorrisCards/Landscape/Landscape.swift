/// A view of mountains by the water that follows from a seed.
struct Landscape {
    let width: Int
    let height: Int

    private let hour: Hour
    private let luminary: Luminary
    private let ground: Ground
    private let sky: Sky
    private let stars: Stars
    private let terrain: Terrain
    private let water: Water
    private let foreground: Foreground?

    /// Of a disc that stands beside the letters, which no scrim has to dim.
    private let halo: Halo?
    private let encoder = PixelEncoder()

    /// - Parameters:
    ///   - seed: the same one gives the same landscape at every size, as far as the letters stand in the same place.
    ///   - category: of the fact; chooses the colours.
    ///   - letters: where they will stand; sun and moon stay away from there.
    init(seed: UInt64, category: String?, width: Int, height: Int, letters: Rectangle? = nil) {
        let hours = Hour.allCases
        var random = SeededRandom(seed: seed, thing: .hour)
        let hour = hours[Int(random.next() % UInt64(hours.count))]
        self.init(seed: seed, category: category, hour: hour, width: width, height: height, letters: letters)
    }

    /// - Parameter hour: instead of that of the seed.
    init(seed: UInt64, category: String?, hour: Hour, width: Int, height: Int, letters: Rectangle? = nil) {
        self.width = width
        self.height = height
        self.hour = hour
        var random = SeededRandom(seed: seed, thing: .ground)
        let palette = Palette(category: category, seed: random.next())
        ground = Ground(width: width, height: height, water: random.number(in: 0.25...0.30))
        let gradient = SkyGradient(hour: hour, palette: palette, top: ground.horizon / Float(width))
        random = SeededRandom(seed: seed, thing: .sky)
        let stand = Stand(
            of: Luminary(hour: hour, palette: palette, random: &random), hour: hour, ground: ground, letters: letters
        ) { [ground] in Ridge.ranges(gap: $0, surplus: ground.surplus, seed: seed) }
        let (luminary, ridges) = (stand.luminary, stand.ridges)
        self.luminary = luminary
        halo = letters == nil ? nil : Halo(luminary, ground: ground)
        let clouds = Clouds(ground: ground, noise: random.noise(), density: random.number(in: 0.15...0.55))
        sky = Sky(
            ground: ground, gradient: gradient, luminary: luminary, clouds: clouds, noise: random.noise())
        terrain = Terrain(
            ground: ground, ridges: ridges, hour: hour, palette: palette, sky: gradient, luminary: luminary, seed: seed)
        stars = Stars(
            ground: ground, share: hour.stars, sky: sky, terrain: terrain, luminary: luminary, seed: seed)
        random = SeededRandom(seed: seed, thing: .water)
        water = Water(
            ground: ground, hour: hour, palette: palette, sky: gradient, luminary: luminary, noise: random.noise())
        random = SeededRandom(seed: seed, thing: .foreground)
        foreground = random.number(in: 0...1) < 0.65
            ? Foreground(
                ground: ground, side: luminary.x < 0.5 ? 1 : -1, hour: hour, palette: palette, random: &random)
            : nil
    }

    /// What is to be seen, as part of a sentence: `mountains above a lake at dusk, under a crescent moon`.
    var description: String { "mountains above a lake \(hour.description)\(luminary.description)" }

    /// Paints rows of it.
    ///
    /// - Parameter pixels: of the rows one after the other, each 0x00RRGGBB in sRGB, as `CAIRO_FORMAT_RGB24` has it.
    func paint(rows: Range<Int>, scrims: [Scrim], into pixels: UnsafeMutableBufferPointer<UInt32>) {
        precondition(pixels.count >= rows.count * width)
        let veils = scrims.map { Veil(scrim: $0, width: width, sparing: halo) }
        var line = [LinearColor](repeating: .zero, count: width)
        line.withUnsafeMutableBufferPointer { line in
            for row in rows {
                paint(row: row, into: line)
                for veil in veils { veil.dim(row: row, of: line) }
                let start = (row - rows.lowerBound) * width
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
