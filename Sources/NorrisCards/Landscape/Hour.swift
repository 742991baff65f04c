/// The time of day that a landscape shows.
enum Hour: CaseIterable {
    case night, blueHour, dawn, morning, noon, goldenHour, dusk, afterglow

    /// As part of a sentence.
    var description: String {
        switch self {
        case .night: "at night"
        case .blueHour: "in the blue hour"
        case .dawn: "at dawn"
        case .morning: "in the morning"
        case .noon: "in the haze of noon"
        case .goldenHour: "in the golden hour"
        case .dusk: "at dusk"
        case .afterglow: "in the afterglow"
        }
    }

    /// Lightness and chroma of the sky from the top to the horizon: OKLCh at five heights.
    ///
    /// The upper four are dark enough for white letters; only the last band above the mountains is bright.
    var sky: [(lightness: Float, chroma: Float)] {
        switch self {
        case .night: [(0.15, 0.040), (0.19, 0.052), (0.25, 0.062), (0.35, 0.066), (0.46, 0.060)]
        case .blueHour: [(0.22, 0.070), (0.28, 0.085), (0.36, 0.094), (0.49, 0.088), (0.63, 0.072)]
        case .dawn: [(0.28, 0.060), (0.36, 0.075), (0.46, 0.088), (0.65, 0.095), (0.82, 0.085)]
        case .morning: [(0.35, 0.075), (0.42, 0.082), (0.49, 0.080), (0.66, 0.064), (0.84, 0.050)]
        case .noon: [(0.39, 0.088), (0.45, 0.092), (0.50, 0.084), (0.65, 0.060), (0.82, 0.036)]
        case .goldenHour: [(0.31, 0.060), (0.38, 0.075), (0.47, 0.092), (0.66, 0.118), (0.83, 0.120)]
        case .dusk: [(0.21, 0.070), (0.28, 0.086), (0.37, 0.106), (0.54, 0.128), (0.70, 0.132)]
        case .afterglow: [(0.17, 0.056), (0.22, 0.070), (0.29, 0.088), (0.42, 0.116), (0.60, 0.138)]
        }
    }

    /// How far the sky goes on the way from the deep to the light colour of a palette, 0 to 1.
    var warmth: Float {
        switch self {
        case .night: 0.30
        case .blueHour: 0.50
        case .noon: 0.62
        case .morning: 0.88
        case .dawn, .goldenHour, .dusk, .afterglow: 1
        }
    }

    /// How many stars are seen, 0 to 1.
    var stars: Float {
        switch self {
        case .night: 1
        case .blueHour: 0.30
        case .afterglow: 0.40
        case .dusk: 0.10
        case .dawn, .morning, .noon, .goldenHour: 0
        }
    }
}
