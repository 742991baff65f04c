/// A line cut to a number of columns, its last one then `…`; a line that fits comes back as it is.
///
/// Cut between grapheme clusters, so the result may be a column short; white space before the `…` goes. Nothing fits
/// into zero columns or fewer.
package func truncated(_ line: String, toColumns columns: Int) -> String {
    guard displayWidth(of: line) > columns else { return line }
    guard columns > 0 else { return "" }
    var result = ""
    var free = columns - 1
    for cluster in line {
        free -= displayWidth(of: cluster)
        guard free >= 0 else { break }
        result.append(cluster)
    }
    while result.last?.isWhitespace == true {
        result.removeLast()
    }
    return result + "…"
}

/// A line filled up with spaces to a number of columns; a line as wide or wider comes back as it is.
package func padded(_ line: String, toColumns columns: Int) -> String {
    let missing = columns - displayWidth(of: line)
    return missing > 0 ? line + String(repeating: " ", count: missing) : line
}
