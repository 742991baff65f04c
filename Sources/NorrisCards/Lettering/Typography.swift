/// A text with the quotes, apostrophes and dashes of print in place of those of a keyboard.
///
/// What is ambiguous stays: marks behind digits, which may be feet and inches, quotes between letters, and all of a text
/// that looks like code.
func typographic(_ text: String) -> String {
    let characters = Array(text)
    guard !isCode(characters) else { return text }
    var result = ""
    var isOpen = false
    var index = 0
    while index < characters.count {
        let mark = Mark(characters, index)
        var (shown, count) = (String(characters[index]), 1)
        switch characters[index] {
        case "\"":
            if let quote = mark.quote(isOpen: isOpen) {
                isOpen = quote == "“"
                shown = quote
            }
        // Quotes as TeX has them, and many fortunes do.
        case "`" where mark.after == "`": (shown, count) = ("“", 2)
        case "'" where mark.after == "'" && result.contains("“"): (shown, count) = ("”", 2)
        case "'": shown = mark.apostrophe
        case "-" where mark.after == "-" && mark.before != "-":
            let next = index + 2 < characters.count ? characters[index + 2] : " "
            let isDash = mark.before == " " && next == " " || mark.before.isLetter && next.isLetter
            (shown, count) = (isDash ? "—" : "--", 2)
        default: break
        }
        result += shown
        index += count
    }
    return result
}

/// A mark between two characters, which are spaces where the text begins and ends.
private struct Mark {
    let before: Character
    let after: Character
    private let rest: ArraySlice<Character>

    init(_ characters: [Character], _ index: Int) {
        before = index > 0 ? characters[index - 1] : " "
        rest = characters[(index + 1)...]
        after = rest.first ?? " "
    }

    private var isBetweenWords: Bool { before.isWordPart && after.isWordPart }
    private var opens: Bool {
        if "“‘\"'".contains(before) { return after.isWordPart }
        return !after.isWhitespace && (before.isWhitespace || "([—–-/".contains(before))
    }

    /// - Parameter isOpen: whether a quote before it was not closed.
    func quote(isOpen: Bool) -> String? {
        if isBetweenWords || before.isWhitespace && after.isWhitespace { return nil }
        if opens { return "“" }
        return before.isNumber && !isOpen ? nil : "”"
    }

    var apostrophe: String {
        if before.isWordPart && after.isLetter { return "’" }
        if opens {
            let word = String(rest.prefix { $0.isLetter }).lowercased()
            return after.isNumber || Mark.shortened.contains(word) || !isClosed ? "’" : "‘"
        }
        return before.isNumber || before.isWhitespace ? "'" : "’"
    }

    /// Whether a quote of one mark ends behind it.
    private var isClosed: Bool {
        rest.indices.dropFirst().contains { index in
            rest[index] == "'" && !rest[index - 1].isWhitespace
                && (index + 1 == rest.endIndex || !rest[index + 1].isWordPart)
        }
    }

    /// Words that have lost their first letters.
    private static let shortened: Set = [
        "tis", "twas", "twere", "twill", "twould", "til", "till", "em", "cause", "bout", "round", "n", "neath", "nuff",
    ]
}

/// Whether quotes may be those of a program: beside its other signs, or behind the name of a function.
private func isCode(_ characters: [Character]) -> Bool {
    characters.indices.contains { index in
        let before = index > 0 ? characters[index - 1] : " "
        let after = index + 1 < characters.count ? characters[index + 1] : " "
        switch characters[index] {
        case "{", "}", "\\", "=", "<", ">": return true
        case "`": return before != "`" && after != "`"
        case "(": return before.isWordPart && "\"'".contains(after)
        default: return false
        }
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber }
}
