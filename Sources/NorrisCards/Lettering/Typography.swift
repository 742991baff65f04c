/// A text with typographic quotes, apostrophes and dashes.
///
/// Ambiguous characters are unchanged: marks after digits, which may be feet and inches, quotes between letters,
/// addresses, file names, and texts that resemble code.
func typographic(_ text: String) -> String {
    let characters = Array(text)
    guard !isCode(characters) else { return text }
    let addresses = addresses(characters)
    // The last mark that may close a single quote.
    let lastClosing =
        characters.indices.dropFirst().last {
            characters[$0] == "'" && !characters[$0 - 1].isWhitespace && !Mark(characters, $0).after.isWordPart
        } ?? 0
    var result = ""
    var (isOpen, hasOpened) = (false, false)
    var index = 0
    while index < characters.count {
        let mark = Mark(characters, index)
        var (shown, count) = (String(characters[index]), 1)
        switch characters[index] {
        case _ where addresses.contains(index): break
        case "\"":
            if let quote = mark.quote(isOpen: isOpen) {
                isOpen = quote == "“"
                shown = quote
            }
        // Quotes of TeX, which many fortunes contain.
        case "`" where mark.after == "`": (shown, count) = ("“", 2)
        case "'" where mark.after == "'" && hasOpened: (shown, count) = ("”", 2)
        case "'": shown = mark.apostrophe(isClosed: index + 1 < lastClosing)
        case "-" where mark.after == "-" && mark.before != "-":
            let next = index + 2 < characters.count ? characters[index + 2] : " "
            let isDash = mark.before == " " && next == " " || mark.before.isLetter && next.isLetter
            (shown, count) = (isDash ? "—" : "--", 2)
        default: break
        }
        hasOpened = hasOpened || shown == "“"
        result += shown
        index += count
    }
    return result
}

/// A mark between two characters, which are spaces at the ends of the text.
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

    /// - Parameter isOpen: whether an earlier quote is not closed.
    func quote(isOpen: Bool) -> String? {
        if isBetweenWords || before.isWhitespace && after.isWhitespace { return nil }
        if opens { return "“" }
        return before.isNumber && !isOpen ? nil : "”"
    }

    /// - Parameter isClosed: whether a single quote ends after the mark.
    func apostrophe(isClosed: Bool) -> String {
        if before.isWordPart && after.isLetter { return "’" }
        if opens {
            let word = String(rest.prefix { $0.isLetter }).lowercased()
            return after.isNumber || Mark.shortened.contains(word) || !isClosed ? "’" : "‘"
        }
        return before.isNumber || before.isWhitespace ? "'" : "’"
    }

    /// Words without their first letters.
    private static let shortened: Set = [
        "tis", "twas", "twere", "twill", "twould", "til", "till", "em", "cause", "bout", "round", "n", "neath", "nuff",
    ]
}

/// The indexes of words with a character of an address or a file name, without surrounding marks.
private func addresses(_ characters: [Character]) -> Set<Int> {
    var indices: Set<Int> = []
    for word in characters.split(whereSeparator: { $0.isWhitespace || $0 == "\"" }) {
        func isEdge(_ character: Character) -> Bool { character.isWordPart || character == "/" }
        guard let first = word.firstIndex(where: isEdge), let last = word.lastIndex(where: isEdge) else { continue }
        let isAddress = (first...last).contains { index in
            "/_@:".contains(word[index])
                || word[index] == "." && word[index - 1].isWordPart && word[index + 1].isWordPart
        }
        if isAddress { indices.formUnion(first...last) }
    }
    return indices
}

/// Commands that rarely begin a sentence in lower case.
private let commands: Set = [
    "$", "apt", "awk", "cd", "chmod", "cp", "curl", "docker", "echo", "git", "grep", "ls", "mkdir", "mv", "npm", "pip",
    "rm", "sed", "ssh", "sudo", "tar", "vim",
]

/// Whether quotes may belong to a program: in a command that does not end like a sentence, beside other characters of
/// programs, or after the name of a function.
private func isCode(_ characters: [Character]) -> Bool {
    let isCommand = commands.contains(String(characters.prefix { !$0.isWhitespace }))
    return isCommand && !".!?…".contains(characters.last ?? ".")
        || characters.indices.contains { index in
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

extension Character { fileprivate var isWordPart: Bool { isLetter || isNumber } }
