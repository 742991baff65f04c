/// The indexes of characters before which no line may begin, although Unicode allows a break there.
///
/// - Text without spaces: the last two characters.
/// - The parts of short words with a hyphen, and the signs of C++.
/// - Korean: lines break only at spaces.
/// - Japanese: lines break between phrases, that is between hiragana (endings and small words) and the next kanji or
///   katakana, and after particles. Two consecutive particles count as one.
/// - An emoji stays on the line of the previous word.
///
/// - Parameter language: the result of `language(of:)`.
/// - Returns: indexes of Unicode scalars.
func ties(in text: String, language: String) -> Set<Int> {
    var result: Set<Int> = []
    var start = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        addTies(in: line, startingAt: start, isJapanese: language == "ja", to: &result)
        start += line.unicodeScalars.count + 1
    }
    return result
}

private func addTies(in line: Substring, startingAt start: Int, isJapanese: Bool, to result: inout Set<Int>) {
    let characters = Array(line)
    let last = characters.suffix(3)
    let isUndividedEnd =
        characters.count > 6 && last.first?.script.map { $0 != .hangul } == true && last.allSatisfy { $0 != " " }
    var position = start
    var (wordLength, length) = (0, 0)
    var isParticle = false
    for (index, character) in characters.enumerated() {
        defer { position += character.unicodeScalars.count }
        guard character != " " else {
            (wordLength, length, isParticle) = (0, 0, false)
            continue
        }
        if wordLength == 0 { wordLength = characters[index...].prefix { $0 != " " }.count }
        let before = index > 0 ? characters[index - 1] : " "
        let isHyphenated = before == "-" && character.isLetter && wordLength <= longestTie
        let isSecond = isParticle && "にとへの".contains(before) && "はがをのも".contains(character)
        if before == " " {
            let isEmoji = index > 1 && character.isEmoji && !characters[index - 2].isEmoji
            if isEmoji { result.insert(position) }
            length = 0
        } else if isUndividedEnd && index >= characters.count - 2
            || (!isParticle || isSecond)
                && (isHyphenated || length < longestPhrase && areTied(before, character, isJapanese))
        {
            result.insert(position)
            length += 1
        } else {
            length = 0
        }
        isParticle =
            isJapanese
            && (character == "を"
                || "はがにとものへ".contains(character) && (before.script == .han || before.script == .katakana)
                || isSecond && "はが".contains(character))
    }
}

/// The longest word whose parts are tied, in characters. Longer ties would make lines uneven.
private let longestTie = 14

/// The longest undivided phrase, in characters. A longer phrase is rare and breaks anywhere.
private let longestPhrase = 9

private func areTied(_ character: Character, _ next: Character, _ isJapanese: Bool) -> Bool {
    switch (character.script, next.script) {
    case (nil, nil) where character == "+": next == "+"
    case (.hangul, .hangul): true
    case (.han, .han), (.katakana, .katakana), (_?, .hiragana): isJapanese
    case (nil, .han) where character.isNumber: isJapanese
    default: next.isEmoji && !character.isEmoji && !character.isWhitespace
    }
}

/// The scripts in which lines may break between any characters.
private enum Script { case han, hangul, hiragana, katakana }

extension Character {
    fileprivate var script: Script? {
        guard let scalar = unicodeScalars.first else { return nil }
        switch scalar.value {
        case 0x3041...0x309F: return .hiragana
        // Includes the middle dot between the parts of a name.
        case 0x30A1...0x30FF: return .katakana
        case 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: return .han
        case 0xAC00...0xD7A3: return .hangul
        default: return nil
        }
    }
}
