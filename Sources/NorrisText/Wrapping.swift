/// Breaks a text into lines of at most `width` columns (at least 1) for a terminal, without newlines and tabs.
///
/// Newlines end lines; a final newline starts no further line, and an empty text has none. Lines break at spaces, which
/// are removed, and on both sides of wide characters, but never before closing or after opening punctuation. A word
/// wider than a line starts on a new line and is cut between grapheme clusters; a cluster wider than a line exceeds
/// `width`. Other spaces stay; tabs fill to the next multiple of eight columns. Continued lines repeat the indentation,
/// at most half of `width`.
package func wrapped(_ text: String, width: Int) -> [String] {
    // Most texts are ASCII and fit into one line.
    if text.utf8.count <= width, text.utf8.last != 0x20, text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) {
        return text.isEmpty ? [] : [text]
    }
    var hardLines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if hardLines.last?.isEmpty == true { hardLines.removeLast() }
    var wrapper = LineWrapper(width: max(width, 1))
    for hardLine in hardLines { wrapper.wrap(hardLine) }
    return wrapper.lines
}

/// Breaks text by the rules of `wrapped(_:width:)`, in pieces without a possible break, such as words.
private struct LineWrapper {
    private static let tabStop = 8

    let width: Int
    private(set) var lines: [String] = []
    private var indentation = 0
    private var line = ""
    private var column = 0
    private var lineIsBlank = true
    private var gap = ""
    private var gapWidth = 0
    private var piece = ""
    private var pieceWidth = 0

    init(width: Int) { self.width = width }

    /// Appends the lines of a text without newlines, at least one line, which may be empty.
    mutating func wrap(_ text: Substring) {
        let body = text.drop { $0 == " " || $0 == "\t" }
        indentation = columns(of: text[..<body.startIndex], from: 0)
        if indentation > width / 2 && columns(of: body, from: indentation) > width {
            indentation = width / 2
        }
        startLine()
        var previous: (cluster: Character, isWide: Bool)?
        for cluster in body {
            if cluster.isBreakingSpace {
                placePiece()
                widenGap(by: cluster)
                previous = nil
                continue
            }
            let columns = displayWidth(of: cluster)
            if let previous, previous.isWide || columns == 2,
                !previous.cluster.isBarredFromLineEnd, !cluster.isBarredFromLineStart
            {
                placePiece()
            }
            piece.append(cluster)
            pieceWidth += columns
            previous = (cluster, columns == 2)
        }
        placePiece()
        finishLine()
    }

    /// The column at the end of a text that begins at column `start`, including tab stops.
    private func columns(of text: Substring, from start: Int) -> Int {
        text.reduce(start) { column, cluster in
            cluster == "\t" ? nextTabStop(after: column) : column + displayWidth(of: cluster)
        }
    }

    private func nextTabStop(after column: Int) -> Int { (column / Self.tabStop + 1) * Self.tabStop }

    private mutating func startLine() {
        line = String(repeating: " ", count: indentation)
        column = indentation
        lineIsBlank = true
        closeGap()
    }

    private mutating func finishLine() { lines.append(lineIsBlank ? "" : line) }

    private mutating func closeGap() {
        gap = ""
        gapWidth = 0
    }

    /// Adds white space to the gap, which is written only if a piece follows on the same line.
    private mutating func widenGap(by space: Character) {
        let columns =
            space == "\t" ? nextTabStop(after: column + gapWidth) - column - gapWidth : displayWidth(of: space)
        gap += space == "\t" ? String(repeating: " ", count: columns) : String(space)
        gapWidth += columns
    }

    /// Appends the piece to the line, or to further lines if it does not fit.
    private mutating func placePiece() {
        guard !piece.isEmpty else { return }
        if column + gapWidth + pieceWidth > width {
            if !lineIsBlank {
                finishLine()
                startLine()
            }
            closeGap()
        }
        if column + gapWidth + pieceWidth <= width {
            line += gap
            column += gapWidth
            append(piece, columns: pieceWidth)
            closeGap()
        } else {
            cutPiece()
        }
        piece = ""
        pieceWidth = 0
    }

    /// Fills lines with the clusters of a piece that is wider than a line. The current line is blank.
    private mutating func cutPiece() {
        for cluster in piece {
            let columns = displayWidth(of: cluster)
            if column + columns > width && !lineIsBlank {
                finishLine()
                startLine()
            }
            if column + columns > width {
                // The first cluster does not fit after the indentation.
                line = ""
                column = 0
            }
            append(String(cluster), columns: columns)
        }
    }

    private mutating func append(_ text: String, columns: Int) {
        line += text
        column += columns
        lineIsBlank = false
    }
}

extension Character {
    /// Whether a line may break at the character and drop it: white space except no-break spaces (UAX #14, class GL). A
    /// space with a combining mark is visible and stays.
    fileprivate var isBreakingSpace: Bool {
        isWhitespace && unicodeScalars.count == 1 && self != "\u{A0}" && self != "\u{2007}" && self != "\u{202F}"
    }

    /// Whether the character must not begin a line: closing punctuation, and small kana and length marks of Japanese
    /// (UAX #14, classes CL, CP, EX, IS, NS, CJ; JIS X 4051, section 4.3).
    fileprivate var isBarredFromLineStart: Bool {
        switch unicodeScalars.first {
        case "!", ")", ",", ".", ":", ";", "?", "]", "}", "%", "\"", "'", "’", "”", "…", "‥", "»", "›", "、", "。", "，",
            "．", "・", "：", "；", "？", "！", "）", "］", "｝", "｠", "」", "』", "】", "〉", "》", "〕", "〗", "〙", "〛", "〟", "～",
            "〜", "ー", "々", "〻", "ゝ", "ゞ", "ヽ", "ヾ", "％", "｡", "｣", "､", "･", "ぁ", "ぃ", "ぅ", "ぇ", "ぉ", "っ", "ゃ", "ゅ",
            "ょ", "ゎ", "ゕ", "ゖ", "ァ", "ィ", "ゥ", "ェ", "ォ", "ッ", "ャ", "ュ", "ョ", "ヮ", "ヵ", "ヶ":
            true
        default: false
        }
    }

    /// Whether the character must not end a line: opening punctuation (UAX #14, class OP).
    fileprivate var isBarredFromLineEnd: Bool {
        switch unicodeScalars.first {
        case "(", "[", "{", "‘", "“", "«", "‹", "（", "［", "｛", "｟", "「", "『", "【", "〈", "《", "〔", "〖", "〘",
            "〚", "〝", "｢":
            true
        default: false
        }
    }
}
