import NorrisSystem
import Testing

@testable import NorrisCards

struct LandscapeTests {
    @Test func isAnotherForAnotherSeedAndAnotherCategory() {
        let picture = painted(seed: 7, category: "dev")
        #expect(difference(picture, painted(seed: 8, category: "dev")) > 4)
        #expect(difference(picture, painted(seed: 7, category: "food")) > 4)
    }

    @Test func bandsMakeTheWhole() {
        let landscape = Landscape(seed: 3, category: nil, width: 256, height: 320)
        let shade = Shade(rows: 100..<160, fade: 20, ceiling: 0.1)
        let whole = pixels(of: landscape, shade: shade)
        var bands: [UInt32] = []
        for start in stride(from: 0, to: 320, by: 48) {
            bands += pixels(of: landscape, rows: start..<min(start + 48, 320), shade: shade)
        }
        let isSame = areSame(bands, whole)
        #expect(isSame)
    }

    @Test(arguments: [
        (Scene.lake, Hour.night), (.lake, .goldenHour), (.desert, .dusk), (.sea, .dawn), (.forest, .dusk),
        (.city, .night), (.snow, .dawn),
    ]) func aLargerOneShowsTheSame(scene: Scene, hour: Hour) {
        let small = painted(seed: 11, scene: scene, hour: hour)
        let large = painted(seed: 11, scene: scene, hour: hour, size: 512)
        var reduced: [UInt32] = []
        for row in 0..<256 {
            for column in 0..<256 {
                let corner = row * 2 * 512 + column * 2
                reduced.append(mean([corner, corner + 1, corner + 512, corner + 513].map { large[$0] }))
            }
        }
        #expect(difference(small, reduced) < 2.5)
    }

    @Test func aTallerOneShowsTheSameLakeAndMoreSky() {
        let tall = Landscape(seed: 5, category: "travel", scene: .lake, hour: .dusk, width: 256, height: 640)
        let all = pixels(of: tall)
        #expect(all.count == 256 * 640)
        // The upper half is sky, without an edge in any row.
        for row in 0..<300 {
            let line = all[row * 256..<(row + 1) * 256].map(relativeLuminance)
            #expect((line.max() ?? 0) - (line.min() ?? 0) < 0.16, "row \(row)")
        }
        #expect((all[(320 * 256)...].map(relativeLuminance).max() ?? 0) > 0.5, "there is a sun")
    }

    @Test(arguments: Hour.allCases) func whiteLettersCanBeReadOnTheUpperThirdWithoutAShade(hour: Hour) throws {
        for category in [nil, "animal", "dev", "history", "money", "sport"] {
            let landscape = Landscape(seed: 19, category: category, scene: .lake, hour: hour, width: 256, height: 256)
            let brightest = pixels(of: landscape)[..<(85 * 256)].map(relativeLuminance).max()
            #expect(try #require(brightest) < 0.183)
        }
        for scene in Scene.allCases where scene.hours.contains(hour) {
            let landscape = Landscape(seed: 19, category: "travel", scene: scene, hour: hour, width: 256, height: 256)
            #expect(try #require(pixels(of: landscape)[..<(64 * 256)].map(relativeLuminance).max()) < 0.183, "\(scene)")
        }
    }

    @Test func aShadeDimsWhatIsBright() {
        let landscape = Landscape(seed: 2, category: nil, scene: .lake, hour: .noon, width: 256, height: 256)
        let plain = pixels(of: landscape)
        let shade = Shade(rows: 64..<128, fade: 10, ceiling: 0.06)
        let dimmed = pixels(of: landscape, shade: shade)
        var (brightest, changed) = (Float(0), 0)
        for pixel in dimmed.indices {
            let row = pixel / 256
            if 64..<128 ~= row {
                brightest = max(brightest, relativeLuminance(dimmed[pixel]))
            } else if !(54..<138 ~= row), dimmed[pixel] != plain[pixel] {
                changed += 1
            }
        }
        #expect(brightest < 0.066 && changed == 0)
        let inside = 120 * 256 + 100
        #expect(relativeLuminance(plain[inside]) > 0.07)
        let isSame = areSame(pixels(of: landscape, shade: Shade(rows: 64..<128, fade: 10, ceiling: 100)), plain)
        #expect(isSame)
    }

    @Test func smoothSkyHasGrainInsteadOfSteps() {
        let all = painted(seed: 4, hour: .noon)
        for row in stride(from: 8, to: 80, by: 8) {
            let levels = Set((0..<64).map { all[(row + $0 / 32) * 256 + 100 + $0 % 32] & 0xFF })
            #expect(levels.count > 1, "row \(row)")
            #expect((levels.max() ?? 0) - (levels.min() ?? 0) < 8, "row \(row)")
        }
    }

    @Test(arguments: Hour.allCases) func saysWhatIsToBeSeen(hour: Hour) {
        let landscape = Landscape(seed: 1, category: nil, scene: .lake, hour: hour, width: 256, height: 256)
        #expect(landscape.description.hasPrefix("mountains above a lake \(hour.description), "))
        #expect(landscape.description.hasSuffix("moon") || landscape.description.hasSuffix("sun"))
    }

    @Test func scenesDifferByMoreThanColor() {
        // Grayscale pictures of equal mean lightness.
        let pictures = Scene.allCases.map { scene in
            let lights = painted(seed: 5, category: "dev", scene: scene).map { relativeLuminance($0).squareRoot() }
            let mean = lights.reduce(0, +) / Float(lights.count)
            return lights.map { $0 / mean }
        }
        for one in pictures.indices {
            for other in 0..<one {
                let sum = zip(pictures[one], pictures[other]).reduce(Float(0)) { $0 + abs($1.0 - $1.1) }
                let difference = sum / Float(pictures[one].count)
                #expect(difference > 0.1, "\(Scene.allCases[one]) \(Scene.allCases[other])")
            }
        }
    }

    @Test func everySceneComesAndFollowsFromTheSeed() {
        var counts: [Scene: Int] = [:]
        for seed in 0..<600 as Range<UInt64> { counts[Scene(seed: seed), default: 0] += 1 }
        for scene in Scene.allCases { #expect((70...130).contains(counts[scene] ?? 0), "\(scene)") }
        for seed in 0..<9 as Range<UInt64> { #expect(Scene(seed: seed) == Scene(seed: seed)) }
    }

    @Test func dryScenesReachTheLowerEdge() {
        for scene in [Scene.desert, .forest, .snow] {
            for height in [256, 700] {
                let landscape = Landscape(seed: 8, category: nil, scene: scene, hour: .dusk, width: 256, height: height)
                let last = pixels(of: landscape).suffix(256).map(relativeLuminance)
                #expect((last.max() ?? 1) < 0.6, "\(scene): it is ground, not sky")
            }
        }
    }

    @Test(arguments: Scene.allCases) func landStaysBelowTheLetters(scene: Scene) {
        for seed in 0..<8 as Range<UInt64> {
            for (height, bottom) in [(256, 180), (256, 120), (144, 96), (455, 300)] {
                let letters = Rectangle(x: 30, y: 20, width: 190, height: bottom - 20)
                let landscape = Landscape(
                    seed: seed, category: "dev", scene: scene, hour: .dusk, width: 256, height: height,
                    letters: letters)
                #expect(landscape.highestLand >= Float(bottom), "\(seed) \(height) \(landscape.highestLand)")
            }
        }
    }

    @Test func towersSideBySideDiffer() {
        for seed in 0..<40 as Range<UInt64> {
            for ridge in Scene.city.ridges(gap: 0.3, surplus: 0, seed: seed) {
                // The runs of equal elevations are flat roofs. Between two towers there is lower ground; between two
                // shoulders of one tower there is not.
                var roofs: [(elevation: Float, end: Int, gap: Float)] = []
                var (elevation, count, gap) = (Float(0), 0, Float(0))
                for column in 0..<2160 {
                    let next = ridge.elevation((Float(column) + 0.5) / 2160)
                    if next == elevation {
                        count += 1
                        continue
                    }
                    if count > 45, elevation > ridge.foot + 0.2 * ridge.rise {
                        roofs.append((elevation, column, gap))
                        gap = .infinity
                    }
                    (elevation, count, gap) = (next, 1, min(gap, next))
                }
                let twins = zip(roofs, roofs.dropFirst()).count {
                    abs($0.elevation - $1.elevation) < 0.004 && $1.gap < $0.elevation - 0.004
                        && Float($1.end - $0.end) < 2.5 * 2160 / ridge.frequency
                }
                #expect(twins == 0, "\(seed)")
            }
        }
    }

    @Test func aHiddenDiscHasNoReflection() {
        let letters = Rectangle(x: 0, y: 0, width: 256, height: 256)
        let hidden = Landscape(
            seed: 3, category: nil, scene: .lake, hour: .dusk, width: 256, height: 256, letters: letters)
        // Sparks of a reflection differ by 0.36 from the pixels beside them, and reflected trees by 0.18.
        let lights = pixels(of: hidden, rows: 200..<256).map(relativeLuminance)
        let steps = zip(lights, lights.dropFirst(3)).map { abs($0 - $1) }
        #expect((steps.max() ?? 1) < 0.25)
    }

    @Test func everyHourComes() {
        let descriptions = (0..<64).map {
            Landscape(seed: $0 &* 0x9E37_79B9, category: nil, width: 256, height: 8).description
        }
        for hour in Hour.allCases {
            #expect(descriptions.contains { $0.contains(hour.description) }, "\(hour)")
        }
    }
}

struct LuminaryPlacementTests {
    private func placement(_ hour: Hour, seed: UInt64, _ letters: Rectangle?) -> (LuminaryPlacement, Ground) {
        var random = SeededRandom(seed: seed)
        let ground = Ground(width: 1000, height: 1000, below: 0.27)
        let luminary = Luminary(hour: hour, palette: Palette(category: "dev", seed: seed), random: &random)
        let placement = LuminaryPlacement(of: luminary, hour: hour, ground: ground, letters: letters) {
            Ridge.ranges(gap: $0, surplus: 0, seed: seed)
        }
        return (placement, ground)
    }

    @Test("A disc that is seen touches no letter, and is in the picture", arguments: Hour.allCases)
    func keepsAway(hour: Hour) {
        var shown = 0
        for seed: UInt64 in 0..<20 {
            for letters in [
                Rectangle(x: 200, y: 300, width: 600, height: 200), Rectangle(x: 85, y: 100, width: 830, height: 600),
                Rectangle(x: 85, y: 240, width: 500, height: 420), Rectangle(x: 150, y: 200, width: 700, height: 500),
            ] {
                let (placement, ground) = placement(hour, seed: seed, letters)
                let disc = placement.luminary
                guard disc.isVisible else { continue }
                shown += 1
                let (x, y, radius) = (disc.x * 1000, ground.row(elevation: disc.elevation), disc.radius * 1000)
                let isBeside = x + radius < Float(letters.x) || x - radius > Float(letters.x + letters.width)
                let isAboveOrBelow = y + radius < Float(letters.y) || y - radius > Float(letters.y + letters.height)
                #expect(isBeside || isAboveOrBelow, "\(seed) \(letters)")
                #expect(x - radius > 0 && x + radius < 1000 && y - radius > 0)
            }
        }
        #expect(shown > 30)
    }

    @Test func staysWhereNoLettersAre() {
        let (free, _) = placement(.night, seed: 1, nil)
        let (far, _) = placement(.night, seed: 1, Rectangle(x: 0, y: 0, width: 1000, height: 100))
        #expect(free.luminary.x == far.luminary.x && free.luminary.elevation == far.luminary.elevation)
    }

    @Test func onlyLightIsLeftWhereLettersAreEverywhere() {
        let letters = Rectangle(x: 0, y: 0, width: 256, height: 256)
        let landscape = Landscape(
            seed: 3, category: nil, scene: .lake, hour: .dusk, width: 256, height: 256, letters: letters)
        #expect(landscape.description == "mountains above a lake at dusk")
    }
}

private func painted(
    seed: UInt64, category: String? = nil, scene: Scene? = .lake, hour: Hour = .dusk, size: Int = 256
) -> [UInt32] {
    pixels(of: Landscape(seed: seed, category: category, scene: scene, hour: hour, width: size, height: size))
}

private func pixels(of landscape: Landscape, rows: Range<Int>? = nil, shade: Shade? = nil) -> [UInt32] {
    let rows = rows ?? 0..<landscape.height
    var pixels = [UInt32](repeating: 0, count: rows.count * landscape.width)
    pixels.withUnsafeMutableBufferPointer { landscape.paint(rows: rows, shade: shade, into: $0) }
    return pixels
}

private func channels(_ pixel: UInt32) -> [Int] {
    [Int(pixel >> 16 & 0xFF), Int(pixel >> 8 & 0xFF), Int(pixel & 0xFF)]
}

/// Compares pixels without printing thousands of values if the comparison fails.
private func areSame(_ one: [UInt32], _ other: [UInt32]) -> Bool { one.elementsEqual(other) }

private func difference(_ one: [UInt32], _ other: [UInt32]) -> Double {
    var sum = 0
    for (left, right) in zip(one, other) {
        for (a, b) in zip(channels(left), channels(right)) { sum += abs(a - b) }
    }
    return Double(sum) / Double(one.count * 3)
}

private func mean(_ pixels: [UInt32]) -> UInt32 {
    let sums = pixels.reduce(into: [0, 0, 0]) { sums, pixel in
        for (index, level) in channels(pixel).enumerated() { sums[index] += level }
    }
    return sums.reduce(0) { $0 << 8 | UInt32($1 / pixels.count) }
}
