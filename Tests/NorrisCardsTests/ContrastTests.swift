import Testing

@testable import NorrisCards

struct ContrastTests {
    @Test("The contrast of known pairs", arguments: [
        (UInt32(0xFFFFFF), UInt32(0x000000), Float(21)),
        (0xFFFFFF, 0x767676, 4.54),
        (0xFFFFFF, 0x777777, 4.48),
        (0x000000, 0xFF0000, 5.25),
        (0x123456, 0x123456, 1),
    ])
    func knowsPairs(first: UInt32, second: UInt32, expected: Float) {
        let ratio = contrast(relativeLuminance(first), relativeLuminance(second))
        #expect(abs(ratio - expected) < 0.01)
        #expect(contrast(relativeLuminance(second), relativeLuminance(first)) == ratio)
    }

    @Test func theBrightestGroundHasTheContrastAskedFor() {
        let ground = brightestGround(letters: 0.9, ratio: 4.5)
        #expect(abs(contrast(0.9, ground) - 4.5) < 0.001)
    }
}
