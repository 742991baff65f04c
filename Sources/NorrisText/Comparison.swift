/// Folds the case of a text for substring search, so that texts that differ only in case become equal. Accents stay,
/// and the text is not normalized: compare results by scalars or bytes. Folding is idempotent.
///
/// Each scalar passes through Unicode's full case mappings (including SpecialCasing.txt, without a locale) to lower,
/// upper and lower case. In upper case, `ß` equals `SS`, and `ς` equals `σ`. The first step is for `ẞ`, the only
/// upper-case letter that its lower case does not map to. Dotless `ı` becomes `i`; `İ` becomes `i` and U+0307.
package func caseFolded(_ text: String) -> String { text.lowercased().uppercased().lowercased() }

/// The form of a text for search: case-folded, with each run of white space as one space.
package func searchable(_ text: String) -> String {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { _ = appendSearchable(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Appends ``searchable(_:)`` of a text in UTF-8. A text of ASCII without runs of white space is many times faster than
/// any other.
///
/// - Returns: the length of the text in code points.
package func appendSearchable(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Int {
    // Two loops without branches, so that the compiler uses vector instructions. `others` is 0 if no byte is special.
    var others: UInt8 = 0
    for index in text.indices.dropFirst() { others |= text[index] | text[index &- 1] == 0x20 ? 1 : 0 }
    let start = bytes.count
    bytes.append(contentsOf: text)
    bytes.withUnsafeMutableBufferPointer { bytes in
        for index in start..<bytes.count {
            let byte = bytes[index]
            others |= byte &- 0x20 < 0x5F ? 0 : 1
            bytes[index] = byte &+ (byte &- 0x41 < 26 ? 0x20 : 0)
        }
    }
    if others == 0 { return text.count }
    bytes.removeLast(text.count)
    return appendSearchableScalars(of: String(decoding: text, as: UTF8.self), to: &bytes)
}

private func appendSearchableScalars(of text: String, to bytes: inout [UInt8]) -> Int {
    var (isAfterSpace, count) = (false, 0)
    for scalar in text.unicodeScalars {
        count += 1
        let value = scalar.value
        let isSpace = value < 0x80 ? value == 0x20 || 0x9...0xD ~= value : scalar.properties.isWhitespace
        if isSpace {
            if !isAfterSpace { bytes.append(UInt8(ascii: " ")) }
        } else if value < 0x80 {
            let byte = UInt8(value)
            bytes.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
        } else if foldedLetters.indices.contains(Int(value)) {
            bytes.append(contentsOf: foldedLetters[Int(value)])
        } else if scalar.properties.changesWhenCaseMapped {
            bytes.append(contentsOf: caseFolded(String(scalar)).utf8)
        } else {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
        isAfterSpace = isSpace
    }
    return count
}

/// The folded characters of Latin, Greek, Cyrillic and Armenian by their numbers, because the mappings of a character
/// take a microsecond.
private let foldedLetters: [[UInt8]] = (0..<0x590).map { value in
    Unicode.Scalar(UInt32(value)).map { Array(caseFolded(String($0)).utf8) } ?? []
}

/// The words of a query in the form of ``searchable(_:)``. White space separates words, except between two double
/// quotes. An unpaired quote is an ordinary character.
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

/// Whether each character of a text belongs to a match of one of the ``searchWords(of:)``.
package func searchMatches(of words: [String], in text: String) -> [Bool] {
    var scalars: [Unicode.Scalar] = []
    // The index of the character to which each scalar belongs.
    var owners: [Int] = []
    for (index, character) in text.enumerated() {
        for scalar in searchable(String(character)).unicodeScalars where scalar != " " || scalars.last != " " {
            scalars.append(scalar)
            owners.append(index)
        }
    }
    var result = Array(repeating: false, count: text.count)
    for word in words {
        for range in scalars.places(of: word.unicodeScalars) {
            for owner in owners[range] { result[owner] = true }
        }
    }
    return result
}

/// Whether a word may be a mistyped command: a prefix of at least two letters, or a word at most two typing errors from
/// the command, one if either has at most four letters.
package func isNear(_ word: String, _ command: String) -> Bool {
    let word = Array(word.utf8)
    let command = Array(command.utf8)
    // Limits the time, because a longer word cannot resemble the command.
    guard word.count <= 2 * command.count else { return false }
    if word.count >= 2, command.starts(with: word) { return true }
    return editDistance(word, command) <= (min(word.count, command.count) > 4 ? 2 : 1)
}

/// The number of typing errors between two words: an extra, missing, wrong or swapped letter. The optimal string
/// alignment distance, which edits no letter twice. The time is proportional to the product of the lengths.
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
