/// A number of bytes for people: `512 B`, `1.2 MiB`, `36 KiB`; one decimal below ten, rounded; never negative.
package func byteSizeText(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var tenths = Double(bytes) * 10 / 1024
    // The largest value, 2^63, is 8 EiB.
    var unit = 0
    // 1,023.5 and more would be rounded to 1,024 of the unit, which is one of the next.
    while tenths >= 10_235 {
        tenths /= 1024
        unit += 1
    }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    if tenths < 99.5 {
        let rounded = Int(tenths.rounded())
        return "\(rounded / 10).\(rounded % 10) \(units[unit])"
    }
    return "\(Int((tenths / 10).rounded())) \(units[unit])"
}
