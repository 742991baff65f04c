/// Where sun or moon stands, and the mountains, which leave a gap there.
///
/// Behind letters a disc would have to be dimmed until it is a stain. So it goes to where it is seen: beside the
/// letters, down to the mountains, or above the letters; and if there is no such place, only its light is left.
struct Stand {
    private(set) var luminary: Luminary
    private(set) var ridges: [Ridge]

    /// - Parameter ranges: the mountains with a gap at a place.
    init(of luminary: Luminary, hour: Hour, ground: Ground, letters: Rectangle?, ranges: (_ gap: Float) -> [Ridge]) {
        self.luminary = luminary
        ridges = ranges(luminary.x)
        stand(clearance: luminary.clearance)
        guard let letters else { return }
        let unit = Float(ground.width)
        let left = Float(letters.x) / unit
        let right = Float(letters.x + letters.width) / unit
        let top = ground.elevation(row: letters.y)
        let bottom = ground.elevation(row: letters.y + letters.height)
        let reach = luminary.radius * Halo.reach
        // Closer beside a line it would stand there like a full stop.
        let aside = max(luminary.radius + 0.06, reach)

        func isFree(_ luminary: Luminary) -> Bool {
            luminary.x + aside < left || luminary.x - aside > right
                || luminary.elevation + reach < bottom || luminary.elevation - reach > top
        }
        if isFree(self.luminary) { return }
        // Beside the letters, on its own side first.
        let sides = [left - aside * 1.05, right + aside * 1.05].filter { (reach...1 - reach).contains($0) }
        for x in luminary.x < 0.5 ? sides : sides.reversed() {
            self.luminary.x = x
            ridges = ranges(x)
            stand(clearance: luminary.clearance)
            if isFree(self.luminary) { return }
        }
        self.luminary.x = luminary.x
        ridges = ranges(luminary.x)
        // A sun that is low anyway may set.
        if luminary.kind == .sun, hour != .noon {
            stand(clearance: 0.1)
            if isFree(self.luminary) { return }
        }
        // Sun and moon stand high at noon and in the night.
        let sky = ground.horizon / unit
        self.luminary.elevation = (top + sky) / 2
        if luminary.kind != .sun || hour == .noon, isFree(self.luminary), self.luminary.elevation + reach < sky {
            self.luminary.clearance = luminary.clearance
            return
        }
        stand(clearance: luminary.clearance)
        self.luminary.isVisible = false
    }

    /// Puts it above the skyline of its place, or into it.
    private mutating func stand(clearance: Float) {
        luminary.clearance = clearance
        luminary.elevation = luminary.radius * clearance
            + Ridge.summit(ridges, from: luminary.x - luminary.radius, to: luminary.x + luminary.radius)
    }
}
