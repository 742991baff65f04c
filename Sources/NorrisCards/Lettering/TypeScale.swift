import Glibc

/// How large letters are, as parts of a card's width.
enum TypeScale {
    /// What can still be read on a telephone.
    static let smallest = 1.0 / 30

    /// The size for a text: large for a short one, and ever smaller down to the smallest.
    ///
    /// - Parameter columns: its length, where an ideograph counts as two letters.
    static func size(columns: Int) -> Double {
        let length = log(Double(max(columns, 1)))
        var previous = steps[0]
        for step in steps {
            if columns <= previous.columns {
                return previous.size
            }
            if columns <= step.columns {
                let start = log(Double(previous.columns))
                let part = (length - start) / (log(Double(step.columns)) - start)
                return previous.size + part * (step.size - previous.size)
            }
            previous = step
        }
        return smallest
    }

    /// The size of emoji that stand alone.
    static func size(emoji count: Int) -> Double {
        0.22 / pow(Double(max(count, 1)), 0.25)
    }

    /// The distance of two lines as a part of the size: large letters stand closer.
    static func lineHeight(size: Double) -> Double {
        let part = (size - smallest) / (largest - smallest)
        return 1.42 - 0.27 * min(max(part, 0), 1)
    }

    /// From this size on lines stand as close as they get.
    private static let largest = 0.12

    /// Between them the size goes by the logarithm of the length.
    private static let steps: [(columns: Int, size: Double)] = [
        (3, 0.2), (16, 0.125), (40, 0.104), (80, 0.084), (200, 0.055), (400, 0.0425), (700, 0.036), (1000, smallest),
    ]
}
