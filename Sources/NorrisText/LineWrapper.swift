/// Breaks hard lines into lines of a width, piece by piece; the rules are in `wrapped(_:width:)`.
///
/// A piece is what no line break may divide: a word, or part of one between two wide characters.
struct LineWrapper {
    private static let tabStop = 8

    /// The columns of a line, at least 1.
    let width: Int
    /// The finished lines.
    private(set) var lines: [String] = []

    private var indentation = 0
    private var line = ""
    private var column = 0
    private var lineIsBlank = true
    private var gap = ""
    private var gapWidth = 0
    private var piece = ""
    private var pieceWidth = 0

    init(width: Int) {
        self.width = width
    }

    /// Appends the lines of a text without newlines; at least one line, be it empty.
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

    /// The column at which a text ends that starts at a column, tabs counted to the next stop.
    private func columns(of text: Substring, from start: Int) -> Int {
        text.reduce(start) { column, cluster in
            cluster == "\t" ? nextTabStop(after: column) : column + displayWidth(of: cluster)
        }
    }

    private func nextTabStop(after column: Int) -> Int {
        (column / Self.tabStop + 1) * Self.tabStop
    }

    private mutating func startLine() {
        line = String(repeating: " ", count: indentation)
        column = indentation
        lineIsBlank = true
        closeGap()
    }

    private mutating func finishLine() {
        lines.append(lineIsBlank ? "" : line)
    }

    private mutating func closeGap() {
        gap = ""
        gapWidth = 0
    }

    /// Adds white space that stands in the line only if a piece follows on the same line.
    private mutating func widenGap(by space: Character) {
        let columns =
            space == "\t" ? nextTabStop(after: column + gapWidth) - column - gapWidth : displayWidth(of: space)
        gap += space == "\t" ? String(repeating: " ", count: columns) : String(space)
        gapWidth += columns
    }

    /// Moves the piece into the line, or into further lines if it does not fit.
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

    /// Fills lines with the clusters of a piece that is wider than a line; the current line is blank.
    private mutating func cutPiece() {
        for cluster in piece {
            let columns = displayWidth(of: cluster)
            if column + columns > width && !lineIsBlank {
                finishLine()
                startLine()
            }
            if column + columns > width {
                // Not even the first cluster fits behind the indentation.
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
