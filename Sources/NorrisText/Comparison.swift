/// The form of a text in which two texts that differ in case alone are the same, for substring search.
///
/// Each scalar goes through Unicode's full case mappings (SpecialCasing.txt included, no locale): to upper case, in
/// which `ß` meets `SS` and `ς` meets `σ`, and on to lower case. `ẞ`, the only letter that is upper case and not what
/// its lower case maps to, needs a lower-casing before. Dotless `ı` folds to `i`; `İ` folds to `i` and U+0307, in which
/// a search by scalars or bytes finds `i`. Folding twice changes nothing more.
///
/// Accents stay, and the text is not normalized: compare results by scalars or bytes.
package func caseFolded(_ text: String) -> String { text.lowercased().uppercased().lowercased() }

/// A text as it is searched: without regard to case, and with one space for any run of white space.
package func searchable(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    var isAfterSpace = false
    for scalar in caseFolded(text).unicodeScalars {
        let isSpace = scalar.properties.isWhitespace
        if !isSpace { result.unicodeScalars.append(scalar) } else if !isAfterSpace { result.unicodeScalars.append(" ") }
        isAfterSpace = isSpace
    }
    return result
}

/// The words of a query, each searchable: cut at white space, but not between two double quotes; a quote without
/// another is a character like any other.
package func searchWords(of text: String) -> [String] {
    var words: [String] = []
    var word = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    func end() {
        if !word.isEmpty { words.append(searchable(String(word))) }
        word.removeAll()
    }
    while let scalar = rest.popFirst() {
        if scalar == "\"", let quote = rest.firstIndex(of: "\"") {
            end()
            let phrase = rest[..<quote]
            if phrase.contains(where: { !$0.properties.isWhitespace }) { words.append(searchable(String(phrase))) }
            rest = rest[rest.index(after: quote)...]
        } else if scalar.properties.isWhitespace {
            end()
        } else {
            word.append(scalar)
        }
    }
    end()
    return words
}

/// Which characters of a text belong to a match of one of the words of ``searchWords(of:)``.
package func searchMatches(of words: [String], in text: String) -> [Bool] {
    var scalars: [Unicode.Scalar] = []
    // The character that each of the scalars comes from.
    var owners: [Int] = []
    for (index, character) in text.enumerated() {
        for scalar in searchable(String(character)).unicodeScalars where scalar != " " || scalars.last != " " {
            scalars.append(scalar)
            owners.append(index)
        }
    }
    var result = Array(repeating: false, count: text.count)
    for word in words {
        for range in scalars.ranges(of: Array(word.unicodeScalars)) {
            for owner in owners[range] { result[owner] = true }
        }
    }
    return result
}

/// Whether a word may have been meant to be a command: the command begins with it, or two slips of the finger lie
/// between them, one in words of four letters or fewer.
package func isNear(_ word: String, _ command: String) -> Bool {
    let word = Array(word.utf8)
    let command = Array(command.utf8)
    // Longer words are nothing like a command, and would only take time.
    guard word.count <= 2 * command.count else { return false }
    if word.count >= 2, command.starts(with: word) { return true }
    return editDistance(word, command) <= (min(word.count, command.count) > 4 ? 2 : 1)
}

/// How many slips lie between two words: a letter too much, too few, wrong, or swapped with the next one.
///
/// The optimal string alignment distance: nothing is edited twice. Costs the product of the lengths.
package func editDistance<Letter: Equatable>(_ first: [Letter], _ second: [Letter]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for i in first.indices {
        var row = [i + 1]
        for j in second.indices {
            let replaced = last[j] + (first[i] == second[j] ? 0 : 1)
            var cost = min(replaced, last[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                cost = min(cost, beforeLast[j - 1] + 1)
            }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[second.count]
}
