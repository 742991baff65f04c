/// A rounded number of bytes: `512 B`, `1.2 MiB`, `36 KiB`; with one decimal below ten, never negative.
package func byteSizeText(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var tenths = Double(bytes) * 10 / 1024
    // The largest value, 2^63, is 8 EiB.
    var unit = 0
    // 1,023.5 and more would be rounded to 1,024, which is one of the next unit.
    while tenths >= 10_235 {
        tenths /= 1024
        unit += 1
    }
    let name = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit]
    guard tenths < 99.5 else { return "\(Int((tenths / 10).rounded())) \(name)" }
    let rounded = Int(tenths.rounded())
    return "\(rounded / 10).\(rounded % 10) \(name)"
}

/// `640×480`, in pixels; empty if one of them is unknown.
func pixelsText(_ width: Int?, _ height: Int?) -> String {
    guard let width, let height, width > 0, height > 0 else { return "" }
    return "\(width)×\(height)"
}

/// Counts as a line of bars, each with the height of its part of the maximum, rounded up, so that only zero has no
/// height.
///
/// - Parameters:
///   - counts: oldest first; negative counts are treated as 0.
///   - columns: the maximum number of bars, at least 1. If there are more counts, a bar represents the maximum of
///     several neighbors; the first bar may represent fewer.
func sparkline(_ counts: [Int], columns: Int) -> String {
    let bars = Array("▁▂▃▄▅▆▇█")
    let size = max(1, (counts.count + max(columns, 1) - 1) / max(columns, 1))
    let missing = (size - counts.count % size) % size
    let padded = Array(repeating: 0, count: missing) + counts
    let heights = stride(from: 0, to: padded.count, by: size).map { padded[$0..<($0 + size)].max() ?? 0 }
    guard let largest = heights.max(), largest > 0 else { return String(repeating: bars[0], count: heights.count) }
    return String(
        heights.map { height in
            let part = Double(max(height, 0)) / Double(largest)
            return bars[Int((part * Double(bars.count - 1)).rounded(.up))]
        })
}

/// A part of a whole as a bar of ten: full only if the part is the whole, empty only if the part is zero.
func gauge(_ part: Int, of whole: Int) -> String {
    let cells = 10
    guard part < whole else { return String(repeating: "█", count: cells) }
    let filled = part > 0 ? max(1, Int(Double(part) / Double(whole) * Double(cells))) : 0
    return String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
}
