/// The title of a post in one line, unless it is empty or the text begins with it, because many feeds use the first words
/// as a title.
package func visibleTitle(_ title: String, above text: String?) -> String? {
    let title = sanitizedLine(title)
    // Only the beginning of a long text is compared.
    let beginning = text.map { String($0.unicodeScalars.prefix(2 * title.unicodeScalars.count + 100)) }
    guard !title.isEmpty, let words = beginning.map(sanitizedLine), !words.isEmpty else {
        return title.isEmpty ? nil : title
    }
    let isCut = title.hasSuffix("…")
    let start = isCut ? title.dropLast() : title[...]
    guard words.utf8.starts(with: start.utf8) else { return title }
    let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
    // For example, the title Go stays above a text that begins with Google.
    let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
    return endsInWord && !isCut ? title : nil
}

/// The length of the marker of a list item: `- `, or a number with a point and a space; 0 for other lines.
package func itemMarkerLength(_ line: Substring) -> Int {
    if line.hasPrefix("- ") { return 2 }
    let digits = line.utf8.prefix { 0x30...0x39 ~= $0 }.count
    return 1...9 ~= digits && line.dropFirst(digits).hasPrefix(". ") ? digits + 2 : 0
}

/// Divides a text at its link numbers.
package func linkNumbers(in text: String, links: [String]) -> [(text: String, link: String?)] {
    guard !links.isEmpty else { return [(text, nil)] }
    var pieces: [(text: String, link: String?)] = []
    var rest = text[...]
    var searched = text.startIndex
    while let start = rest[searched...].utf8.firstIndex(of: UInt8(ascii: "[")) {
        let digits = rest[start...].utf8.dropFirst().prefix { 0x30...0x39 ~= $0 }
        searched = digits.endIndex
        guard 1...3 ~= digits.count, digits.endIndex < rest.endIndex,
            rest.utf8[digits.endIndex] == UInt8(ascii: "]"), let number = Int(Substring(digits)),
            links.indices.contains(number - 1)
        else { continue }
        let end = rest.utf8.index(after: digits.endIndex)
        if start > rest.startIndex { pieces.append((String(rest[..<start]), nil)) }
        pieces.append((String(rest[start..<end]), links[number - 1]))
        rest = rest[end...]
        searched = end
    }
    return rest.isEmpty ? pieces : pieces + [(String(rest), nil)]
}
