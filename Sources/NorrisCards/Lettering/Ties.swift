/// Returns a text with invisible characters that prevent line breaks in unsuitable positions.
///
/// - A no-break space ties a short last word to the previous word, so that no short word is alone on the last line. In
///   text without spaces, word joiners (U+2060) tie the last three characters.
/// - Short words with a hyphen and the signs of C++ are not divided.
/// - Korean lines break only at spaces.
/// - Japanese lines break between phrases: between hiragana (endings and small words) and the next kanji or
///   katakana, and after particles. Two consecutive particles count as one.
/// - An emoji and a dash stay on the line of the previous word.
///
/// - Parameter language: the result of `language(of:)`.
func withTies(_ text: String, language: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { tied($0, isJapanese: language == "ja") }.joined(separator: "\n")
}

private func tied(_ line: Substring, isJapanese: Bool) -> String {
    var characters = Array(line)
    let last = characters.suffix(3)
    if characters.count > 6, last.first?.script.map({ $0 != .hangul }) == true, last.allSatisfy({ $0 != " " }) {
        characters.replaceSubrange(last.indices, with: last.flatMap { [$0, joiner] }.dropLast())
    } else if let space = characters.lastIndex(of: " "), characters.count - space <= 10,
        let before = characters[..<space].lastIndex(of: " "), characters.count - before <= longestTie
    {
        characters[space] = "\u{A0}"
    }
    let words = characters.split(separator: " ", omittingEmptySubsequences: false)
    var result = ""
    for (index, word) in words.enumerated() {
        if index > 0 {
            let isEmoji = word.first?.isEmoji == true && words[index - 1].last?.isEmoji == false
            result += isEmoji || word == ["—"] ? "\u{A0}" : " "
        }
        result += tied(word: word, isJapanese: isJapanese)
    }
    return result
}

private func tied(word: ArraySlice<Character>, isJapanese: Bool) -> String {
    var result = ""
    var before: Character?
    var isParticle = false
    var length = 0
    for character in word {
        let isHyphenated = before == "-" && character.isLetter && word.count <= longestTie
        let isSecond = isParticle && before.map("にとへの".contains) == true && "はがをのも".contains(character)
        if let before, !isParticle || isSecond,
            isHyphenated || length < longestPhrase && areTied(before, character, isJapanese)
        {
            result.append(joiner)
            length += 1
        } else {
            length = 0
        }
        result.append(character)
        isParticle =
            isJapanese
            && (character == "を"
                || "はがにとものへ".contains(character) && (before?.script == .han || before?.script == .katakana)
                || isSecond && "はが".contains(character))
        before = character
    }
    return result
}

/// The longest tie, in characters, including the space before the word. Longer ties would make lines uneven.
private let longestTie = 14

private let joiner: Character = "\u{2060}"

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
