/// The colours of one range: the air before far ones has the colour of the sky above the horizon, near ones are dark.
struct RangePaint {
    private let summit: LinearColor
    private let mist: LinearColor
    private let mistiness: Float

    /// What the sun adds on slopes that look to it.
    let slopeLight: LinearColor

    /// - Parameter nearness: 0 (the farthest) to 1.
    init(nearness: Float, hour: Hour, palette: Palette, sky: SkyGradient) {
        let far = sky.level(elevation: 0.16)
        let haze = sky.level(elevation: 0.06)
        let dark = 0.10 + 0.10 * hour.sky[0].lightness
        let share = nearness.squareRoot()
        let lightness = far.lightness * 0.96 + (dark - far.lightness * 0.96) * share
        let chroma = far.chroma * 0.9 + (0.035 - far.chroma * 0.9) * nearness
        summit = palette.tone(lightness, chroma, way: (0.62 - 0.52 * nearness) * hour.warmth).light
        mist = palette.tone(
            haze.lightness * (0.99 - 0.22 * nearness), haze.chroma * 0.85,
            way: (0.85 - 0.35 * nearness) * hour.warmth
        ).light
        mistiness = 0.90 - 0.55 * nearness
        slopeLight = sky.tone(elevation: 0).light * (0.9 * (1 - nearness) * (0.22 + nearness))
    }

    /// - Parameter height: 0 at the foot, 1 at the summit.
    func color(height: Float) -> LinearColor {
        let depth = 1 - min(max(height, 0), 1)
        return summit.mixed(mist, mistiness * depth * depth)
    }
}
