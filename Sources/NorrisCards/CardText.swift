import NorrisProtocol
import NorrisText

/// The text of a fact for drawing: sanitized, with single spaces, without white space around lines, without empty lines
/// at the ends, and without consecutive empty lines. Lines that were wrapped for a terminal are joined, quotes and
/// dashes are typographic, and the backquotes around code are removed.
struct CardText {
    let text: String
    /// The parts of ``text`` that are code, as indexes of Unicode scalars.
    let code: [Range<Int>]
    /// The names in the text, which line breaks leave whole.
    let names: [String]
    /// The author after a dash; nil if the text does not end with one.
    let attribution: String?

    /// - Parameter name: the name that replaces Chuck Norris.
    init(_ source: String, name: String? = nil) throws(CardError) {
        let clean = sanitizedText(source)
        // In code points, as in the protocol.
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
        names = ["Chuck Norris"] + (name.map { [sanitizedLine($0)] } ?? [])
        (text, code) = CardText.withoutBackquotes(Array(lines.joined(separator: "\n")))
    }

    /// Typographic marks are for the text beside code only.
    private static func withoutBackquotes(_ characters: [Character]) -> (String, [Range<Int>]) {
        var result = ""
        var code: [Range<Int>] = []
        var start = 0
        for span in codeSpans(in: characters) {
            result += typographic(String(characters[start..<span.lowerBound]))
            let first = result.unicodeScalars.count
            result += String(characters[span.dropFirst().dropLast()])
            code.append(first..<result.unicodeScalars.count)
            start = span.upperBound
        }
        return (result + typographic(String(characters[start...])), code)
    }

    /// All words on one line.
    var line: String { sanitizedLine(attribution.map { "\(text) \($0)" } ?? text) }

    /// Whether the text consists of emoji.
    var isEmoji: Bool { text.allSatisfy { $0.isWhitespace || $0.isEmoji } }

    /// Removes `-- Name` from the end: on separate lines, or after the last sentence.
    private static func removeAttribution(from lines: inout [String]) -> String? {
        func name(_ text: some StringProtocol) -> String? {
            let name = text.drop { $0 == " " || dashes.contains($0) }
            // A number after a dash may be negative.
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
        // A text that ends like a sentence is no name.
        guard let name = name(rest), name.dropFirst(2).first?.isLowercase == false, !".!?".contains(rest.last ?? "."),
            displayWidth(of: name) <= 62
        else { return nil }
        lines[lines.count - 1] = String(line[..<space])
        return name
    }

    private static let dashes: [Character] = ["-", "–", "—", "―"]

    /// Whether a line was wrapped for a terminal, as in fortunes: with the next word the line would be wider than
    /// verse.
    private static func isContinued(_ columns: Int, by word: Substring) -> Bool {
        let beginsItem = word.hasPrefix("-") || word.hasPrefix("—") || word.hasPrefix("*")
        return columns > 0 && columns + 1 + displayWidth(of: String(word)) > 64 && !beginsItem
    }

    /// The number of lines of ``text``, before line breaking.
    var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } + 1 }
}

extension Character {
    /// Whether a character is shown as a picture (UTS #51): by default, or because of U+FE0F after it.
    var isEmoji: Bool {
        guard let first = unicodeScalars.first else { return false }
        let properties = first.properties
        return properties.isEmojiPresentation || properties.isEmoji && unicodeScalars.dropFirst().contains("\u{FE0F}")
    }
}

extension Unicode.Scalar {
    /// Whether a character is visible: not white space, a joiner, a filler or a combining mark.
    fileprivate var isVisible: Bool {
        // Unicode classifies the empty Braille pattern as a symbol.
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint || self == "\u{2800}" {
            return false
        }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return false
        default: return true
        }
    }
}
