import NorrisArguments
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
        // Not `#expect(bands == whole)`, which would print thousands of values.
        let isSame = bands.elementsEqual(whole)
        #expect(isSame)
    }

    @Test(arguments: Hour.allCases) func saysWhatIsToBeSeen(hour: Hour) {
        let landscape = Landscape(seed: 1, category: nil, scene: .lake, hour: hour, width: 256, height: 256)
        #expect(landscape.description.hasPrefix("mountains above a lake \(hour.description), "))
        #expect(landscape.description.hasSuffix("moon") || landscape.description.hasSuffix("sun"))
    }

    @Test func everySceneComes() {
        var counts: [Scene: Int] = [:]
        for seed in 0..<600 as Range<UInt64> { counts[Scene(seed: seed), default: 0] += 1 }
        for scene in Scene.allCases { #expect((70...130).contains(counts[scene] ?? 0), "\(scene)") }
    }

    @Test func onlyLightIsLeftWhereLettersAreEverywhere() {
        let letters = Rectangle(x: 0, y: 0, width: 256, height: 256)
        let landscape = Landscape(
            seed: 3, category: nil, scene: .lake, hour: .dusk, width: 256, height: 256, letters: letters)
        #expect(landscape.description == "mountains above a lake at dusk")
    }
}

struct LuminaryTests {
    @Test("Sun and moon have a distance from the letters", arguments: Scene.allCases)
    func areApartFromTheLetters(scene: Scene) {
        // As wide as the picture.
        let letters = Rectangle(x: 0, y: 70, width: 256, height: 70)
        for seed in UInt64(0)..<60 {
            let halo = Landscape(
                seed: seed, category: nil, scene: scene, width: 256, height: 256, letters: letters
            ).halo
            guard let halo else { continue }
            let (middle, reach) = (Float(halo.rows.lowerBound + halo.rows.upperBound) / 2, Float(halo.rows.count) / 2)
            let gap = max(70 - middle, middle - 140) - reach / Halo.reach
            #expect(gap > 0.04 * 256, "\(seed)")
        }
    }
}

private func painted(seed: UInt64, category: String) -> [UInt32] {
    pixels(of: Landscape(seed: seed, category: category, scene: .lake, hour: .dusk, width: 256, height: 256))
}

private func pixels(of landscape: Landscape, rows: Range<Int>? = nil, shade: Shade? = nil) -> [UInt32] {
    let rows = rows ?? 0..<landscape.height
    var pixels = [UInt32](repeating: 0, count: rows.count * landscape.width)
    pixels.withUnsafeMutableBufferPointer { landscape.paint(rows: rows, shade: shade, into: $0) }
    return pixels
}

/// The mean difference of the levels of red, green and blue.
private func difference(_ one: [UInt32], _ other: [UInt32]) -> Double {
    var sum = 0
    for (left, right) in zip(one, other) {
        for shift in [16, 8, 0] { sum += abs(Int(left >> shift & 0xFF) - Int(right >> shift & 0xFF)) }
    }
    return Double(sum) / Double(one.count * 3)
}
