extension Ridge {
    /// The ranges of a landscape, the farthest first: a great one across from the sun, spurs that come in from both
    /// sides, and a forest at the shore.
    ///
    /// - Parameters:
    ///   - gap: the place of the sun or moon.
    ///   - surplus: how much higher the picture is than a square, in widths; gives more foothills.
    static func ranges(gap: Float, surplus: Float, seed: UInt64) -> [Ridge] {
        var random = SeededRandom(seed: seed, thing: .ranges)
        let away: Float = gap < 0.5 ? 1 : -1
        let lift = min(surplus, 2) * 0.06
        var ranges = [
            Ridge(kind: .peaks, foot: 0.055 + lift, rise: random.number(in: 0.16...0.22), middle: 0.5 - away * 0.3,
                spread: 0.7, frequency: random.number(in: 3.5...5), gap: gap, noise: random.noise()),
            Ridge(kind: .peaks, foot: 0.040 + lift * 0.8, rise: random.number(in: 0.27...0.35),
                middle: 0.5 + away * random.number(in: 0.14...0.26), spread: random.number(in: 0.20...0.28),
                frequency: random.number(in: 2.4...3.4), gap: gap, noise: random.noise()),
            Ridge(kind: .peaks, foot: 0.025 + lift * 0.5, rise: random.number(in: 0.14...0.20),
                middle: 0.5 - away * random.number(in: 0.40...0.55), spread: 0.22,
                frequency: random.number(in: 3...4.5), gap: gap, noise: random.noise()),
            Ridge(kind: .hills, foot: 0.016 + lift * 0.2, rise: random.number(in: 0.07...0.10),
                middle: 0.5 + away * random.number(in: 0.45...0.6), spread: 0.24,
                frequency: random.number(in: 3...4), gap: gap, noise: random.noise()),
            Ridge(kind: .forest, foot: 0.004, rise: random.number(in: 0.05...0.08),
                middle: 0.5 - away * random.number(in: 0.5...0.65), spread: 0.22,
                frequency: random.number(in: 2.5...4), gap: gap, noise: random.noise()),
            Ridge(kind: .forest, foot: -0.004, rise: random.number(in: 0.025...0.045),
                middle: 0.5 + away * random.number(in: 0.45...0.55), spread: 0.16,
                frequency: random.number(in: 2.5...4), gap: gap, noise: random.noise()),
        ]
        for extra in 0..<min(Int(surplus * 2 + 0.25), 3) {
            let side: Float = extra % 2 == 0 ? away : -away
            let share = Float(extra + 1) / 4
            ranges.insert(
                Ridge(kind: .hills, foot: 0.03 + lift * (0.75 - share), rise: random.number(in: 0.06...0.11),
                    middle: 0.5 + side * random.number(in: 0.35...0.6), spread: 0.3,
                    frequency: random.number(in: 2.5...4), gap: gap, noise: random.noise()),
                at: 3 + extra)
        }
        return ranges
    }

    /// The highest elevation between two places, in widths.
    static func summit(_ ridges: [Ridge], from start: Float, to end: Float) -> Float {
        var highest: Float = 0
        for step in 0...16 {
            let place = start + (end - start) * Float(step) / 16
            for ridge in ridges { highest = max(highest, ridge.elevation(place)) }
        }
        return highest
    }
}
