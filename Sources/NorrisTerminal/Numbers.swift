/// `640×480`, in pixels; empty if one of them is unknown.
func pixelsText(_ width: Int?, _ height: Int?) -> String {
    guard let width, let height, width > 0, height > 0 else { return "" }
    return "\(width)×\(height)"
}

/// A part of a whole as a bar of ten: full only if the part is the whole, empty only if the part is zero.
func gauge(_ part: Int, of whole: Int) -> String {
    let cells = 10
    guard part < whole else { return String(repeating: "█", count: cells) }
    let filled = part > 0 ? max(1, Int(Double(part) / Double(whole) * Double(cells))) : 0
    return String(repeating: "█", count: filled) + String(repeating: "░", count: cells - filled)
}
