/// Converts a text to ASCII without changing the width of any character. Used for a terminal without UTF-8, which takes
/// the later bytes of many characters for controls. Symbols of norrisctl become similar characters, and a letter with
/// combining accents loses the accents. Any other character becomes one `?` per column.
package func asciiText(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for cluster in text {
        if cluster.utf8.allSatisfy({ $0 < 0x80 }) {
            // CR LF is one character.
            result.append(cluster)
            continue
        }
        let columns = displayWidth(of: cluster)
        let first = cluster.unicodeScalars.first.flatMap { $0.isASCII ? $0 : asciiSigns[$0] } ?? "?"
        for column in 0..<columns { result.unicodeScalars.append(column == 0 ? first : "?") }
    }
    return result
}

/// Replacements for symbols of one column.
private let asciiSigns: [Unicode.Scalar: Unicode.Scalar] = [
    "\u{A0}": " ", "…": "~", "·": "-", "•": "*", "●": "*", "▣": "#", "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-",
    "×": "x", "‘": "'", "’": "'", "‚": "'", "“": "\"", "”": "\"", "„": "\"", "‹": "<", "›": ">", "«": "<", "»": ">",
    "→": ">", "✓": "+", "✗": "x",
    // Frames.
    "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+",
    // Spinners.
    "⠋": "|", "⠙": "/", "⠹": "-", "⠸": "\\", "⠼": "|", "⠴": "/", "⠦": "-", "⠧": "\\", "⠇": "|", "⠏": "/",
]
