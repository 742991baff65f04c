import Testing

@testable import NorrisCards

struct ToneTests {
    @Test func whiteIsWhiteAndBlackIsBlack() {
        #expect(abs(Tone(lightness: 0.999, a: 0, b: 0).light.luminance - 0.997) < 0.002)
        #expect(Tone(lightness: 0, a: 0, b: 0).light.luminance == 0)
    }

    /// #3366CC, #CC6633 and #449955, calculated by the matrices of the paper in the other direction.
    @Test(arguments: [
        (Tone(lightness: 0.5325, a: -0.0225, b: -0.1663), LinearColor(0.0331, 0.1329, 0.6038, 0)),
        (Tone(lightness: 0.6228, a: 0.1021, b: 0.1023), LinearColor(0.6038, 0.1329, 0.0331, 0)),
        (Tone(lightness: 0.6132, a: -0.1108, b: 0.0692), LinearColor(0.0578, 0.3185, 0.0908, 0)),
    ])
    func coloursAreWhereTheyAre(tone: Tone, color: LinearColor) {
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
