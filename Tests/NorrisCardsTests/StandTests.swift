import Testing

@testable import NorrisCards

/// Where sun and moon are, beside letters.
struct StandTests {
    private func stand(_ hour: Hour, seed: UInt64, _ letters: Rectangle?) -> (Stand, Ground) {
        var random = SeededRandom(seed: seed)
        let ground = Ground(width: 1000, height: 1000, water: 0.27)
        let luminary = Luminary(hour: hour, palette: Palette(category: "dev", seed: seed), random: &random)
        let stand = Stand(of: luminary, hour: hour, ground: ground, letters: letters) {
            Ridge.ranges(gap: $0, surplus: 0, seed: seed)
        }
        return (stand, ground)
    }

    @Test("A disc that is seen touches no letter, and is in the picture", arguments: Hour.allCases)
    func keepsAway(hour: Hour) {
        var shown = 0
        for seed: UInt64 in 0..<20 {
            for letters in [
                Rectangle(x: 200, y: 300, width: 600, height: 200), Rectangle(x: 85, y: 100, width: 830, height: 600),
                Rectangle(x: 85, y: 240, width: 500, height: 420), Rectangle(x: 150, y: 200, width: 700, height: 500),
            ] {
                let (stand, ground) = stand(hour, seed: seed, letters)
                let disc = stand.luminary
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
        let (free, _) = stand(.night, seed: 1, nil)
        let (far, _) = stand(.night, seed: 1, Rectangle(x: 0, y: 0, width: 1000, height: 100))
        #expect(free.luminary.x == far.luminary.x && free.luminary.elevation == far.luminary.elevation)
    }

    @Test func onlyLightIsLeftWhereLettersAreEverywhere() {
        let letters = Rectangle(x: 0, y: 0, width: 256, height: 256)
        let landscape = Landscape(seed: 3, category: nil, hour: .dusk, width: 256, height: 256, letters: letters)
        #expect(landscape.description == "mountains above a lake at dusk")
    }
}
