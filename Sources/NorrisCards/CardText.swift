import NorrisProtocol
import NorrisText

/// The text of a fact as it is drawn: sanitized, with single spaces, no white space around a line, no empty line at an
/// end, and no two of them in a row. Lines that were broken for a terminal are joined, and quotes and dashes are those
/// of a printed text.
struct CardText {
    let text: String
    /// Whose words they are, behind a dash; nil where the text does not say so at its end.
    let attribution: String?

    init(_ source: String) throws(CardError) {
        let clean = sanitizedText(source)
        // In code points, as the protocol counts them.
        guard clean.unicodeScalars.count <= Fact.maximumLength else { throw .tooLong }
        guard clean.unicodeScalars.contains(where: \.isVisible) else { throw .nothingToDraw }
        var lines: [String] = []
        var columnsBefore = 0
        for source in clean.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = source.split { $0 == " " || $0 == "\t" }
            let line = sanitizedLine(words.joined(separator: " "))
            if let word = words.first, CardText.isContinued(columnsBefore, by: word), let last = lines.popLast() {
                lines.append("\(last) \(line)")
            } else if !line.isEmpty || lines.last?.isEmpty == false {
                lines.append(line)
            }
            columnsBefore = displayWidth(of: String(source)) + 8 * source.count { $0 == "\t" }
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        attribution = CardText.removeAttribution(from: &lines).map(typographic)
        text = typographic(lines.joined(separator: "\n"))
    }

    /// All its words on one line.
    var line: String { sanitizedLine(attribution.map { "\(text) \($0)" } ?? text) }

    /// Takes `-- Name` away from the end: lines of its own, or what follows the last sentence.
    private static func removeAttribution(from lines: inout [String]) -> String? {
        func name(_ text: some StringProtocol) -> String? {
            let name = text.drop { $0 == " " || dashes.contains($0) }
            // A number behind a dash may be a negative one.
            let isName = name.first.map { $0.isLetter || $0.isPunctuation } == true
            return isName && displayWidth(of: String(name)) <= 120 ? "— \(name)" : nil
        }
        func beginsWithDash(_ line: String) -> Bool {
            let dash = line.prefix(while: dashes.contains)
            guard dash == "--" || !dash.isEmpty && !dash.hasPrefix("-"), let next = line[dash.endIndex...].first
            else { return false }
            return next == " " || next.isLetter && !next.isLowercase
        }
        if let start = lines.lastIndex(where: beginsWithDash), start > 0, lines.count - start <= 3,
            !beginsWithDash(lines[start - 1]), let name = name(lines[start...].joined(separator: " "))
        {
            lines.removeSubrange(start...)
            if lines.last?.isEmpty == true { lines.removeLast() }
            return name
        }
        guard let line = lines.last,
            let space = line.indices.last(where: { index in
                guard line[index] == " " else { return false }
                let rest = line[index...].dropFirst()
                let dash = rest.prefix(while: dashes.contains)
                return (dash == "--" || dash.count == 1 && dash != "-") && rest[dash.endIndex...].first == " "
            }), ".!?…\"”'’)".contains(line[..<space].last ?? " ")
        else { return nil }
        let rest = line[space...]
        // What ends as a sentence does is one.
        guard let name = name(rest), name.dropFirst(2).first?.isLowercase == false, !".!?".contains(rest.last ?? "."),
            displayWidth(of: name) <= 62
        else { return nil }
        lines[lines.count - 1] = String(line[..<space])
        return name
    }

    private static let dashes: [Character] = ["-", "–", "—", "―"]

    /// Whether a line was broken because a terminal has no more room, as those of fortunes are: with the next word it
    /// would have been wider than verse ever is.
    private static func isContinued(_ columns: Int, by word: Substring) -> Bool {
        let beginsItem = word.hasPrefix("-") || word.hasPrefix("—") || word.hasPrefix("*")
        return columns > 0 && columns + 1 + displayWidth(of: String(word)) > 64 && !beginsItem
    }

    /// How many lines the writer has made of it.
    var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } + 1 }

    /// Whether all of it is emoji.
    var isEmoji: Bool { text.allSatisfy { $0.isWhitespace || $0.isEmoji } }
}

extension Character {
    /// Whether it is shown as a picture (UTS #51): by itself, or by U+FE0F behind it.
    var isEmoji: Bool {
        guard let first = unicodeScalars.first else { return false }
        let properties = first.properties
        return properties.isEmojiPresentation || properties.isEmoji && unicodeScalars.dropFirst().contains("\u{FE0F}")
    }
}

extension Unicode.Scalar {
    /// Whether it shows something by itself: no white space, joiner, filler or mark that needs a letter.
    fileprivate var isVisible: Bool {
        // Braille without a dot is a symbol to Unicode.
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint || self == "\u{2800}" {
            return false
        }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return false
        default: return true
        }
    }
}
