import NorrisText

/// The end of a line.
struct LineBreak: Equatable {
    /// The index after the last character of the line.
    let end: Int
    /// The index of the first character of the next line.
    let next: Int
    /// Whether the line ends with an added hyphen.
    var addsHyphen = false
}

/// Chooses the line breaks of a text together instead of line after line: the choice with the smallest sum of costs
/// (Donald Knuth and Michael Plass, "Breaking Paragraphs into Lines", 1981).
///
/// The cost of a line grows with the square of its distance from the intended width. A penalty is added for a break
/// inside a name or between a number and its unit, and subtracted after a sentence or a comma. All widths are in em.
struct LineBreaker {
    /// A character with its width and the possible line break before it.
    struct Character {
        let scalar: Unicode.Scalar
        var width: Double
        /// Whether a line may begin here (UAX #14).
        var mayBegin = false
        /// Whether a grapheme begins here (UAX #29).
        var beginsGrapheme = true
        var isCode = false
    }

    private struct Candidate {
        let lineBreak: LineBreak
        let cost: Double
        /// Whether a sentence ends here.
        let endsSentence: Bool
    }

    /// The intended width of lines that are not balanced, as a part of the maximum width.
    private static let fullness = 0.94

    private let characters: [Character]
    /// The sum of the widths of the first characters.
    private let sums: [Double]
    private let hyphen: Double
    private let paragraphs: [Range<Int>]
    private let penalties: BreakPenalties

    /// - Parameters:
    ///   - hyphen: the width of a hyphen.
    ///   - names: texts that stay on one line, such as `Chuck Norris`.
    init(_ characters: [Character], hyphen: Double, names: [String]) {
        self.characters = characters
        self.hyphen = hyphen
        sums = characters.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.width) }
        paragraphs = characters.indices.split { characters[$0].scalar == "\n" }.map { $0.startIndex..<$0.endIndex }
        penalties = BreakPenalties(characters.map(\.scalar), names: names)
    }

    /// The width of the widest paragraph without line breaks.
    var widestParagraph: Double { paragraphs.reduce(0) { max($0, width($1.lowerBound, $1.upperBound)) } }

    /// The width of the widest part that should stay on one line.
    var widestWord: Double {
        paragraphs.reduce(0) { widest, paragraph in
            var start = paragraph.lowerBound
            var widest = widest
            for candidate in candidates(paragraph, measure: .infinity) where candidate.cost < BreakPenalties.name {
                widest = max(widest, width(start, candidate.lineBreak.end))
                start = candidate.lineBreak.next
            }
            return widest
        }
    }

    /// Returns the ends of all lines except the last lines of paragraphs.
    ///
    /// - Parameters:
    ///   - measure: the maximum width of a line. A part that cannot be divided may be wider.
    ///   - isBalanced: whether lines have similar widths; otherwise lines are as wide as possible.
    ///   - surplus: the number of lines beyond the necessary lines, if lines are balanced.
    /// - Returns: the breaks and their cost, which is comparable for equal texts.
    func breaks(measure: Double, isBalanced: Bool, surplus: Int = 0) -> (breaks: [LineBreak], cost: Double) {
        var result: [LineBreak] = []
        var cost = 0.0
        for paragraph in paragraphs {
            let candidates = candidates(paragraph, measure: measure)
            var wanted = Self.fullness * measure
            if isBalanced {
                let lines = choose(candidates, from: paragraph.lowerBound, measure, wanted: measure, isGreedy: true)
                let count = lines.breaks.count + surplus
                guard count > 1 else { continue }
                wanted = min(width(paragraph.lowerBound, paragraph.upperBound) / Double(count), measure)
            }
            let chosen = choose(candidates, from: paragraph.lowerBound, measure, wanted: wanted, isGreedy: false)
            result += chosen.breaks.dropLast()
            cost += chosen.cost
        }
        return (result, cost)
    }

    private func width(_ start: Int, _ end: Int) -> Double { sums[end] - sums[start] }

    /// The possible line breaks of a paragraph; the last is its end.
    private func candidates(_ paragraph: Range<Int>, measure: Double) -> [Candidate] {
        var result: [Candidate] = []
        var start = paragraph.lowerBound
        for next in paragraph.dropFirst() where characters[next].mayBegin {
            let end = penalties.trimmedEnd(next, after: start)
            // White space alone is no line.
            guard end > start else { continue }
            divide(start..<end, measure, into: &result)
            result.append(
                Candidate(
                    lineBreak: LineBreak(end: end, next: next),
                    cost: penalties.penalty(end: end, next: next, paragraph),
                    endsSentence: penalties.endsSentence(end)))
            start = next
        }
        divide(start..<paragraph.upperBound, measure, into: &result)
        let last = LineBreak(end: paragraph.upperBound, next: paragraph.upperBound)
        result.append(Candidate(lineBreak: last, cost: 0, endsSentence: true))
        return result
    }

    /// Adds breaks inside a word that is wider than a line: after separators of identifiers, else between any
    /// graphemes. Only a word of letters gets a hyphen.
    private func divide(_ word: Range<Int>, _ measure: Double, into candidates: inout [Candidate]) {
        guard width(word.lowerBound, word.upperBound) > measure else { return }
        let isIdentifier = word.contains { characters[$0].isCode || penalties.isSeparator($0) }
        for next in word.dropFirst() where characters[next].beginsGrapheme {
            let isSeparated =
                penalties.isSeparator(next - 1) && !penalties.isSeparator(next)
                || isIdentifier && penalties.beginsCapital(next)
            let addsHyphen = !isIdentifier && penalties.isLetter(next - 1) && penalties.isLetter(next)
            candidates.append(
                Candidate(
                    lineBreak: LineBreak(end: next, next: next, addsHyphen: addsHyphen),
                    cost: isSeparated ? BreakPenalties.separator : BreakPenalties.division, endsSentence: false))
        }
    }

    /// Returns the best breaks from a start to the last candidate.
    ///
    /// - Parameter isGreedy: whether only the number of lines counts.
    private func choose(
        _ candidates: [Candidate], from start: Int, _ measure: Double, wanted: Double, isGreedy: Bool
    ) -> (breaks: [LineBreak], cost: Double) {
        let full = Self.fullness * measure
        // Indexed by candidate plus 1; 0 is the start.
        var costs = [0.0]
        var previous = [0]
        for (index, candidate) in candidates.enumerated() {
            let isLast = index == candidates.count - 1
            var best = (cost: Double.infinity, before: index)
            for before in stride(from: index, through: 0, by: -1) {
                let begin = before == 0 ? start : candidates[before - 1].lineBreak.next
                let width = width(begin, candidate.lineBreak.end) + (candidate.lineBreak.addsHyphen ? hyphen : 0)
                // A part that cannot be divided is a separate line.
                guard width <= measure * 1.000_001 || before == index else { break }
                var cost = costs[before] + 1_000_000 * max(width / measure - 1, 0)
                if isGreedy {
                    cost += 1
                } else {
                    let followsSentence = before > 0 && candidates[before - 1].endsSentence
                    let distance = (wanted - width) / measure
                    let isFree = isLast && before > 0 && (wanted == full || followsSentence)
                    // In a long text, even lines matter more than the end of a sentence.
                    let isSlight = wanted == full && candidate.cost < BreakPenalties.separator
                    cost += candidate.cost * (isSlight ? 0.3 : 1)
                    if distance < 0 || !isFree {
                        cost += 140 * distance * distance * (candidate.endsSentence && distance > 0 ? 0.5 : 1)
                    }
                    if before > 0, !followsSentence, isLast || !candidate.endsSentence {
                        cost += penalties.orphan(begin..<candidate.lineBreak.end) * (isLast ? 1 : 0.3)
                    }
                }
                if cost < best.cost { best = (cost, before) }
            }
            costs.append(best.cost)
            previous.append(best.before)
        }
        var result: [LineBreak] = []
        var index = candidates.count
        while index > 0 {
            result.append(candidates[index - 1].lineBreak)
            index = previous[index]
        }
        return (result.reversed(), costs[candidates.count])
    }
}

/// The penalties of line breaks, in the unit of ``LineBreaker``: a line that differs from the intended width by a tenth
/// of the maximum width costs 1.4.
struct BreakPenalties {
    /// Inside a name, at a separator of an identifier, and inside a word.
    static let name = 60.0
    static let separator = 20.0
    static let division = 200.0

    /// The characters of a word that are read. Text without spaces may have thousands, and a break after each.
    private static let longestWord = 32

    private let scalars: [Unicode.Scalar]
    private let letters: [Bool]
    /// The number of spaces before a character.
    private let spaces: [Int]
    /// Whether a name continues at a character.
    private let continuesName: [Bool]

    init(_ scalars: [Unicode.Scalar], names: [String]) {
        self.scalars = scalars
        letters = scalars.map(\.properties.isAlphabetic)
        spaces = scalars.reduce(into: [0]) { $0.append($0[$0.count - 1] + ($1.properties.isWhitespace ? 1 : 0)) }
        var continues = [Bool](repeating: false, count: scalars.count + 1)
        for name in names.map({ Array($0.unicodeScalars) }) where name.count > 1 && name.count <= scalars.count {
            for start in 0...scalars.count - name.count where scalars[start...].starts(with: name) {
                for index in start + 1..<start + name.count { continues[index] = true }
            }
        }
        continuesName = continues
    }

    func isLetter(_ index: Int) -> Bool { letters[index] }

    func isSpace(_ index: Int) -> Bool { spaces[index + 1] > spaces[index] }

    /// The end of the characters between two indexes without the spaces at their end.
    func trimmedEnd(_ index: Int, after start: Int) -> Int {
        var end = index
        while end > start, isSpace(end - 1) { end -= 1 }
        return end
    }

    /// Whether a character separates the parts of an identifier.
    func isSeparator(_ index: Int) -> Bool { "_./-:".unicodeScalars.contains(scalars[index]) }

    /// Whether a capital follows a small letter, as in names of programs.
    func beginsCapital(_ index: Int) -> Bool {
        scalars[index].properties.isUppercase && scalars[index - 1].properties.isLowercase
    }

    /// Whether a sentence ends before a character.
    func endsSentence(_ end: Int) -> Bool {
        var index = end - 1
        while index > 0, "\"”’'»)]".unicodeScalars.contains(scalars[index]) { index -= 1 }
        return index > 0 && ".!?…。！？।؟".unicodeScalars.contains(scalars[index])
    }

    /// - Parameters:
    ///   - end: the index after the last character of the line.
    ///   - next: the index of the first character of the next line.
    func penalty(end: Int, next: Int, _ paragraph: Range<Int>) -> Double {
        if continuesName[next] || end > paragraph.lowerBound && continuesName[end] { return Self.name }
        if endsSentence(end) { return -12 }
        // A dash at the beginning of a line looks like a new speaker.
        if "—–".unicodeScalars.contains(scalars[next]) { return 30 }
        switch scalars[end - 1] {
        case ",", "、", "，", "،": return -6
        case ";", ":", "—", "–": return -8
        case "-", "/": return end == next ? 10 : 0
        default: break
        }
        let before = word(endingAt: end, paragraph)
        let after = word(beginningAt: next, paragraph)
        var penalty = 0.0
        if scalars[end - 1].properties.numericType != nil, isLetter(next) { penalty += 15 }
        if isCapitalized(before), isCapitalized(after) { penalty += 15 }
        // The first word of a sentence belongs to the next words.
        if before.lowerBound > paragraph.lowerBound, endsSentence(trimmedEnd(before.lowerBound, after: 0)) {
            penalty += 12
        }
        if Self.leading.contains(text(before)) {
            penalty += 8
        } else if before.count <= 2, isLetter(before.lowerBound) {
            penalty += 5
        }
        if Self.leading.contains(text(after)) { penalty -= 1 }
        return penalty
    }

    /// The penalty of a last line that consists of one or two short words. Other lines have a part of it.
    func orphan(_ line: Range<Int>) -> Double {
        spaces[line.upperBound] > spaces[line.lowerBound] + 1 ? 0 : max(24 - 2 * Double(line.count), 0)
    }

    private func word(endingAt end: Int, _ paragraph: Range<Int>) -> Range<Int> {
        var start = end
        while start > paragraph.lowerBound, end - start < Self.longestWord, !isSpace(start - 1) { start -= 1 }
        return start..<end
    }

    private func word(beginningAt start: Int, _ paragraph: Range<Int>) -> Range<Int> {
        var end = start
        while end < paragraph.upperBound, end - start < Self.longestWord, !isSpace(end) { end += 1 }
        return start..<end
    }

    private func isCapitalized(_ word: Range<Int>) -> Bool {
        word.first.map { scalars[$0].properties.isUppercase } == true
    }

    private func text(_ word: Range<Int>) -> String {
        // Longer words are not in the list.
        word.count > 8 ? "" : String(String.UnicodeScalarView(scalars[word])).lowercased()
    }

    /// Articles, prepositions, conjunctions and others that belong to the next word.
    private static let leading: Set = [
        "a", "about", "after", "an", "and", "as", "at", "because", "before", "but", "by", "for", "from", "her", "his",
        "if", "in", "into", "its", "my", "no", "not", "of", "on", "or", "our", "so", "than", "that", "the", "their",
        "to", "until", "when", "which", "while", "who", "with", "without", "your",
    ]
}
