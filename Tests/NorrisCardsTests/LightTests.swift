import Testing

@testable import NorrisCards

struct ToneTests {
    @Test func whiteIsWhiteAndBlackIsBlack() {
        #expect(abs(Tone(lightness: 0.999, a: 0, b: 0).light.luminance - 0.997) < 0.002)
        #expect(Tone(lightness: 0, a: 0, b: 0).light.luminance == 0)
    }

    /// #3366CC, #CC6633 and #449955, computed with the inverse of the paper's matrices.
    @Test(arguments: [
        (Tone(lightness: 0.5325, a: -0.0225, b: -0.1663), LinearColor(0.0331, 0.1329, 0.6038, 0)),
        (Tone(lightness: 0.6228, a: 0.1021, b: 0.1023), LinearColor(0.6038, 0.1329, 0.0331, 0)),
        (Tone(lightness: 0.6132, a: -0.1108, b: 0.0692), LinearColor(0.0578, 0.3185, 0.0908, 0)),
    ]) func colorsAreWhereTheyAre(tone: Tone, color: LinearColor) {
        let off = tone.light - color
        #expect(max(abs(off.x), abs(off.y), abs(off.z)) < 0.001)
    }

    @Test func whatSRGBCanNotShowIsPaler() {
        let light = Tone(lightness: 0.9, a: -0.4, b: 0.4).light
        for channel in [light.x, light.y, light.z] { #expect((0...1).contains(channel)) }
        #expect(light.y > light.x, "still green")
        for lightness in [-0.1, 1.2] as [Float] {
            let light = Tone(lightness: lightness, a: 0.1, b: 0.1).light
            for channel in [light.x, light.y, light.z] { #expect((0...1).contains(channel)) }
        }
    }
}

struct PaletteTests {
    private static let categories = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history", "money", "movie", "music",
        "political", "religion", "science", "sport", "travel",
    ]

    @Test func everyCategoryHasColorsOfItsOwn() {
        let palettes = Self.categories.map { Palette(category: $0, seed: 0) }
        for (index, palette) in palettes.enumerated() {
            let isNew = !palettes[..<index].contains(palette)
            #expect(isNew, "\(Self.categories[index])")
        }
    }

    @Test func aCategoryHasTheSameColorsForEverySeed() {
        #expect(Palette(category: "dev", seed: 1) == Palette(category: "dev", seed: 2))
        #expect(Palette(category: "köder", seed: 1) == Palette(category: "köder", seed: 2))
    }

    @Test func withoutACategoryTheSeedChooses() {
        #expect(Palette(category: nil, seed: 0) != Palette(category: nil, seed: 1))
        #expect(Palette(category: nil, seed: .max) == Palette(category: nil, seed: .max))
    }
}

struct ShadeTests {
    private let shade = Shade(rows: 10..<15, fade: 4, ceiling: 0.15)

    @Test func isStrongInsideAndFadesToNothing() {
        #expect(shade.strength(row: 10) == 1)
        #expect(shade.strength(row: 14) == 1)
        #expect(shade.strength(row: 8) == 0.5)
        #expect(shade.strength(row: 16) == 0.5)
        #expect(shade.strength(row: 6) == 0)
        #expect(shade.strength(row: 19) == 0)
    }

    @Test func leavesTheDarkAloneAndKeepsTheBrightBelowItsCeiling() {
        #expect(shade.kept(ofLuminance: 0) == 1)
        #expect(shade.kept(ofLuminance: 0.05) == 1)
        var before: Float = 0.05
        for step in 6...100 {
            let luminance = Float(step) / 100
            let left = luminance * shade.kept(ofLuminance: luminance)
            #expect(left > before && left < 0.15)
            before = left
        }
    }

    @Test(
        "The luminance of known colors",
        arguments: [
            (UInt32(0xFFFFFF), Float(1)), (0, 0), (0xFF0000, 0.2126), (0x777777, 0.1845),
        ])
    func knowsLuminances(color: UInt32, expected: Float) { #expect(abs(relativeLuminance(color) - expected) < 0.0001) }
}
