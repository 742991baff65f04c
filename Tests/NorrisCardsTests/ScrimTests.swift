import Testing

@testable import NorrisCards

struct ScrimTests {
    private let scrim = Scrim(area: Rectangle(x: 10, y: 10, width: 5, height: 5), fade: 4, ceiling: 0.15)

    @Test func isStrongInsideAndFadesToNothing() {
        #expect(scrim.strength(column: 10) == 1)
        #expect(scrim.strength(row: 14) == 1)
        #expect(scrim.strength(column: 8) == 0.5)
        #expect(scrim.strength(row: 16) == 0.5)
        #expect(scrim.strength(column: 6) == 0)
        #expect(scrim.strength(row: 19) == 0)
    }

    @Test func leavesTheDarkAloneAndKeepsTheBrightBelowItsCeiling() {
        #expect(scrim.kept(ofLuminance: 0) == 1)
        #expect(scrim.kept(ofLuminance: 0.05) == 1)
        var before: Float = 0.05
        for step in 6...100 {
            let luminance = Float(step) / 100
            let left = luminance * scrim.kept(ofLuminance: luminance)
            #expect(left > before && left < 0.15)
            before = left
        }
    }
}
