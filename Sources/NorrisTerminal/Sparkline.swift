/// Counts as a curve of bars, each as high as its part of the largest, rounded up: only a zero is as low as a zero.
///
/// - Parameters:
///   - counts: oldest first; negative ones count 0.
///   - columns: how many bars fit, at least 1. Where there are more counts, a bar stands for the largest of several
///     neighbours, so many for each bar but the first, which may have fewer.
func sparkline(_ counts: [Int], columns: Int) -> String {
    let bars = Array("▁▂▃▄▅▆▇█")
    let size = max(1, (counts.count + max(columns, 1) - 1) / max(columns, 1))
    let missing = (size - counts.count % size) % size
    let padded = Array(repeating: 0, count: missing) + counts
    let heights = stride(from: 0, to: padded.count, by: size).map { padded[$0..<($0 + size)].max() ?? 0 }
    guard let largest = heights.max(), largest > 0 else { return String(repeating: bars[0], count: heights.count) }
    return String(heights.map { height in
        let part = Double(max(height, 0)) / Double(largest)
        return bars[Int((part * Double(bars.count - 1)).rounded(.up))]
    })
}

/// A part of a whole as a bar of ten: full only when all is there, empty only when nothing is.
func gauge(_ part: Int, of whole: Int) -> String {
    let cells = 10
    guard part < whole else { return String(repeating: "█", count: cells) }
    let filled = part > 0 ? max(1, Int(Double(part) / Double(whole) * Double(cells))) : 0
    return String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
}
