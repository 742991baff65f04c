import NorrisSystem

/// Stars: soft dots of about a pixel, many faint and few bright.
struct Stars {
    private struct Star {
        let x: Float
        let y: Float
        let radius: Float
        let color: LinearColor
    }

    /// Sorted from top to bottom.
    private let stars: [Star]

    /// Brighter stars would need dark veils behind letters: white on a relative luminance of 0.183 has a contrast of
    /// 4.5.
    private static let brightest: Float = 0.15
    /// In pixels.
    private static let smallest: Float = 0.62

    init(ground: Ground, share: Float, sky: Sky, terrain: Terrain, luminary: Luminary, seed: UInt64) {
        let unit = Float(ground.width)
        var stars: [Star] = []
        // Band by band upward, so that a taller picture has the same stars and more above them.
        for band in 0...Int(ground.horizon / unit) {
            var random = SeededRandom(seed: seed, thing: .stars, number: band)
            for _ in 0..<Int(share * 620) {
                let x = random.number(in: 0...1)
                let elevation = Float(band) + random.number(in: 0...1)
                let chance = random.number(in: 0...1)
                let tint = random.number(in: -0.18...0.18)
                let y = ground.row(elevation: elevation)
                let column = min(Int(x * unit), ground.width - 1)
                let away = SIMD2(x - luminary.x, elevation - luminary.elevation) / luminary.radius
                let distance = (away.x * away.x + away.y * away.y).squareRoot()
                // Fewer stars toward the horizon, and none beside the moon.
                let visibility = min((elevation - 0.10) / 0.45, (distance - 1.4) / 3, 1)
                guard y >= 0, y < terrain.skyline[column] - 0.004 * unit, visibility > 0 else { continue }
                let power = chance * chance * chance * chance
                let radius = (0.00062 + 0.00065 * power) * unit
                let behind = sky.color(column: column, row: Int(y)).luminance
                // A dot cannot be smaller than a pixel, so it is fainter instead.
                let light =
                    max(Self.brightest - behind, 0.02) * (0.02 + 0.98 * power) * visibility
                    * min(radius / Self.smallest, 1)
                stars.append(
                    Star(
                        x: x * unit, y: y, radius: max(radius, Self.smallest),
                        color: LinearColor(1 + tint, 1, 1 - tint, 0) * light))
            }
        }
        self.stars = stars.sorted { $0.y < $1.y }
    }

    /// Adds the stars of a row.
    func shine(row: Int, into line: UnsafeMutableBufferPointer<LinearColor>) {
        let middle = Float(row) + 0.5
        for star in stars {
            let reach = star.radius * 2.5
            let above = middle - star.y
            if above < -reach { break }
            guard above <= reach else { continue }
            let first = max(Int(star.x - reach), 0)
            let last = min(Int(star.x + reach), line.count - 1)
            guard first <= last else { continue }
            for column in first...last {
                let aside = Float(column) + 0.5 - star.x
                let distance = (aside * aside + above * above) / (reach * reach)
                if distance < 1 {
                    let part = 1 - distance
                    line[column] += star.color * (part * part * part)
                }
            }
        }
    }
}
