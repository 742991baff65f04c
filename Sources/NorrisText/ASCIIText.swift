/// A text in ASCII alone, each character as wide as before: for a terminal that is not UTF-8, to which the second byte
/// of many a character is a control.
///
/// Signs of norrisctl's own become what looks like them, a letter with separate accents the letter; any other character
/// becomes a `?` for each of its columns. A text that is ASCII already is returned as it is.
package func asciiText(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for cluster in text {
        if cluster.utf8.allSatisfy({ $0 < 0x80 }) {
            // Not by `isASCII`: CR LF is one character.
            result.append(cluster)
            continue
        }
        let columns = displayWidth(of: cluster)
        let first = cluster.unicodeScalars.first.flatMap { $0.isASCII ? $0 : asciiSigns[$0] } ?? "?"
        for column in 0..<columns { result.unicodeScalars.append(column == 0 ? first : "?") }
    }
    return result
}

/// Of one column each, as are their likenesses.
private let asciiSigns: [Unicode.Scalar: Unicode.Scalar] = [
    "\u{A0}": " ", "…": "~", "·": "-", "•": "*", "●": "*", "▣": "#", "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-",
    "×": "x", "‘": "'", "’": "'", "‚": "'", "“": "\"", "”": "\"", "„": "\"", "‹": "<", "›": ">", "«": "<", "»": ">",
    "→": ">", "✓": "+", "✗": "x",
    // Frames.
    "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+",
    // Bars and curves.
    "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#", "░": ".",
    // What turns.
    "⠋": "|", "⠙": "/", "⠹": "-", "⠸": "\\", "⠼": "|", "⠴": "/", "⠦": "-", "⠧": "\\", "⠇": "|", "⠏": "/",
]
